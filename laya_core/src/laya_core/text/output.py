"""What one prompt produced: transformers' `GenerationOutput`, with its text and its token counts."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from time import perf_counter
from typing import Any

from transformers.generation.continuous_batching import RequestStatus
from transformers.generation.continuous_batching.requests import GenerationOutput

from .prompts import Prompts


@dataclass
class TextOutput(GenerationOutput):  # type: ignore[misc]
    """The output of one request, as transformers gives it, and a little more.

    Args:
        request_id: the id `add_request` returned.
        prompt_ids: tokens of the prompt.
        generated_tokens: tokens generated so far; with streaming each output holds all of them.
        logprobs: their log probabilities, with `return_logprobs`.
        error: why the request failed or was cancelled.
        status: transformers' `RequestStatus`; FAILED for a cancelled request too.
        created_time, lifespan, timestamps: `time.perf_counter()` seconds; `timestamps` with `record_timestamps`.
        cancelled: whether `cancel_request` ended it.
    """

    cancelled: bool = False
    prompts: Prompts | None = field(default=None, repr=False, compare=False)
    _text: str | None = field(default=None, repr=False, compare=False)

    @property
    def text(self) -> str | None:
        """The generated tokens as text, without special tokens; None for a model without a tokenizer."""
        if self._text is None and self.prompts is not None:
            self._text = self.prompts.decode(self.generated_tokens)
        return self._text

    @text.setter
    def text(self, text: str) -> None:
        """Replace the text, for hooks that rewrite it; the tokens stay."""
        self._text = text

    @property
    def usage(self) -> dict[str, int]:
        """Token counts, which `ctx.usage` sums over the outputs of a call."""
        return {"input_tokens": len(self.prompt_ids), "output_tokens": len(self.generated_tokens)}


def from_transformers(output: GenerationOutput, request_id: str, prompts: Prompts) -> TextOutput:
    """An output of transformers' engine under the id its caller knows."""
    values = {item.name: getattr(output, item.name) for item in fields(output)}
    return TextOutput(**{**values, "request_id": request_id}, prompts=prompts)


def failed(
    request_id: str,
    prompt_ids: Sequence[int],
    error: str,
    *,
    created: float,
    generated: Sequence[int] = (),
    cancelled: bool = False,
    prompts: Prompts | None = None,
) -> TextOutput:
    """The output of a request that ends without being finished, with the tokens it had by then."""
    return TextOutput(
        request_id=request_id,
        prompt_ids=list(prompt_ids),
        generated_tokens=list(generated),
        logprobs=[],
        error=error,
        status=RequestStatus.FAILED,
        created_time=created,
        cancelled=cancelled,
        prompts=prompts,
    )


def supplied(value: Any, request_id: str, prompt: Any, prompts: Prompts) -> TextOutput:
    """The output for what a hook put into `ctx.results`: an output, generated text, or generated tokens.

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(value, TextOutput):
        return value if value.request_id == request_id else _renamed(value, request_id)
    if isinstance(value, GenerationOutput):
        return from_transformers(value, request_id, prompts)
    if isinstance(value, str):
        tokens = prompts.encode_continuation(value)
    elif isinstance(value, list | tuple) and all(isinstance(token, int) for token in value):
        tokens = list(value)
    else:
        raise TypeError(
            f"a hook supplied a result of type {type(value).__name__}; for text generation a result is "
            "a GenerationOutput, a text, or a list of token ids"
        )
    output = TextOutput(
        request_id=request_id,
        prompt_ids=prompts.encode_leniently(prompt),
        generated_tokens=tokens,
        logprobs=[],
        status=RequestStatus.FINISHED,
        created_time=perf_counter(),
        prompts=prompts,
    )
    if isinstance(value, str):
        output.text = value
    return output


def _renamed(output: TextOutput, request_id: str) -> TextOutput:
    """A copy under another id: a hook may hand out one cached output for many requests."""
    renamed = copy(output)
    renamed.request_id = request_id
    return renamed
