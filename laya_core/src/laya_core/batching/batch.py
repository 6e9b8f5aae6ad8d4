"""Many requests at once: added in order, awaited in order, a refused one among them."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, TypeVar

from .inputs import check_request
from .manager import ContinuousBatchingManager
from .request import DecisionOutput

K = TypeVar("K")
V = TypeVar("V")


def answer_all(
    manager: ContinuousBatchingManager, inputs: Sequence[Any], arguments: Mapping[str, Any], progress_bar: bool
) -> dict[str, DecisionOutput]:
    """Add every request, and wait for all of them.

    Args:
        arguments: of `add_request`, for requests that do not say otherwise.

    Raises:
        RuntimeError: the calling thread holds the manager paused, and would wait for ever.
    """
    manager.refuse_if_paused("generate_batch")
    added: dict[str, DecisionOutput | None] = {}
    fresh = (f"refused-{number}" for number in count())
    try:
        for request in inputs:
            try:
                checked = check_request(request)
                if checked.get("request_id") in added:
                    raise ValueError(
                        f"request id {checked['request_id']!r} is in use by an earlier request of the batch"
                    )
                added[manager.add_request(**{"timeout": None, **arguments, **checked})] = None
            except Exception as error:
                output = _refused(request, error, added, fresh)
                added[output.request_id] = output
        outputs = {}
        for request_id, refused in _shown(added.items()) if progress_bar else added.items():
            outputs[request_id] = refused or _last_output(manager, request_id)
    except BaseException:
        for request_id, refused in added.items():
            if refused is None:
                manager.cancel_request(request_id)
        raise
    return outputs


def _shown(items: ItemsView[K, V]) -> Iterable[tuple[K, V]]:
    from tqdm.auto import tqdm  # here, because making a bar leaves a thread behind

    bar: Iterable[tuple[K, V]] = tqdm(items, unit="request")
    return bar


def _last_output(manager: ContinuousBatchingManager, request_id: str) -> DecisionOutput:
    for output in manager.request_id_iter(request_id):
        if output.is_finished():
            return output
    raise RuntimeError(f"the output of request {request_id!r} was taken by someone else")


def _refused(request: Any, error: Exception, added: Mapping[str, object], fresh: Iterator[str]) -> DecisionOutput:
    wanted = request.get("request_id") if isinstance(request, Mapping) else None
    if not isinstance(wanted, str) or wanted in added:
        wanted = next(name for name in fresh if name not in added)
    return DecisionOutput(wanted, "failed", error=error)
