"""Many prompts at once: submit all, wait for all, outputs in the order of the prompts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from queue import SimpleQueue
from time import perf_counter
from typing import Any

from tqdm import tqdm

from laya_hooks import QueueFull

from .manager import TextBatchingManager
from .output import TextOutput, failed
from .prompts import Prompts
from .requests import TextRequest


def run_batch(
    manager: TextBatchingManager,
    prompts: Prompts,
    encoded: Sequence[list[int] | Exception],
    max_new_tokens: int | None,
    options: dict[str, Any],
    progress_bar: bool,
) -> list[TextOutput]:
    """Generate for every prompt; those that cannot be read or do not fit become failed outputs.

    Args:
        encoded: tokens of each prompt, or why there are none.
        options: arguments of every request.
        progress_bar: show one on standard error.
    """
    arrived: SimpleQueue[TextOutput] = SimpleQueue()
    requests: list[TextRequest] = []
    try:
        for index, tokens in enumerate(encoded):
            ids = tokens if isinstance(tokens, list) else []
            requests.append(TextRequest(batch_id(index), ids, arrived.put, prompts))
            try:
                if isinstance(tokens, Exception):
                    raise tokens
                _submit(manager, requests[-1], max_new_tokens, options)
            except (TypeError, ValueError) as error:
                message = f"inputs[{index}]: {error}"
                arrived.put(failed(batch_id(index), ids, message, created=perf_counter(), prompts=prompts))
        outputs = _collect(arrived, len(requests), progress_bar)
    except BaseException:
        for request in requests:
            manager.loop.cancel(request)
        raise
    return [outputs[request.request_id] for request in requests]


def batch_id(index: int) -> str:
    """The request id of a prompt of a batch."""
    return f"req_{index}"


def _submit(
    manager: TextBatchingManager, request: TextRequest, max_new_tokens: int | None, options: dict[str, Any]
) -> None:
    while True:
        try:
            return manager.submit(request, max_new_tokens, options)
        except QueueFull:
            # The caller waits for the whole batch anyway, so a queue shorter than the batch is no failure.
            if not manager.is_running():
                raise


def _collect(arrived: SimpleQueue[TextOutput], expected: int, progress_bar: bool) -> dict[str, TextOutput]:
    outputs: dict[str, TextOutput] = {}
    # Even a disabled bar would leave tqdm's monitor thread behind.
    with tqdm(total=expected, unit="prompt") if progress_bar else nullcontext() as bar:
        while len(outputs) < expected:
            output = arrived.get()
            outputs[output.request_id] = output
            if bar is not None:
                bar.update()
    return outputs
