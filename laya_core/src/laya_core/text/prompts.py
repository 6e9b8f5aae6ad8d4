"""Prompts in, text out: what tokens a model is asked to continue."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from attrs import frozen

from laya_hooks import PredictContext


@frozen(eq=False)
class Prompts:
    """Turns prompts into tokens and tokens into text.

    Args:
        tokenizer: a transformers tokenizer, or None for a model that has none.
        vocabulary: how many tokens the model knows.
    """

    tokenizer: Any
    vocabulary: int

    def encode(self, prompt: Any) -> list[int]:
        """The tokens of a prompt: a text, with the special tokens its tokenizer adds, or token ids.

        Raises:
            TypeError: it is neither a text nor a sequence of token ids.
            ValueError: it is empty, an id is out of range, or it is a text and there is no tokenizer.
        """
        tokens = self._tokens(prompt)
        if not tokens:
            raise ValueError("the prompt is empty; a model needs at least one token to continue")
        for place, token in enumerate(tokens):
            if not 0 <= token < self.vocabulary:
                raise ValueError(f"token {token} at place {place} of the prompt is not in 0 … {self.vocabulary - 1}")
        return tokens

    def encode_leniently(self, prompt: Any) -> list[int]:
        """The tokens of a prompt that no model will see; none if it cannot be read."""
        try:
            return self._tokens(prompt)
        except (TypeError, ValueError):
            return []

    def encode_continuation(self, text: str) -> list[int]:
        """The tokens of a text that stands for generated ones; none without a tokenizer."""
        return [] if self.tokenizer is None else list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def decode(self, tokens: Sequence[int]) -> str | None:
        """The text of generated tokens without special ones; None without a tokenizer."""
        if self.tokenizer is None:
            return None
        text: str = self.tokenizer.decode(list(tokens), skip_special_tokens=True)
        return text

    def _tokens(self, prompt: Any) -> list[int]:
        if isinstance(prompt, str):
            if self.tokenizer is None:
                raise ValueError("this model has no tokenizer, so prompts must be lists of token ids")
            return list(self.tokenizer(prompt)["input_ids"])
        if hasattr(prompt, "tolist"):  # a tensor or an array
            prompt = prompt.tolist()
        if not isinstance(prompt, list | tuple):
            raise TypeError(f"a prompt is a text or a list of token ids, not {type(prompt).__name__}")
        for token in prompt:
            if isinstance(token, bool) or not isinstance(token, int):
                raise TypeError(f"a prompt is a text or a list of token ids, but it contains {token!r}")
        return list(prompt)


def encode_all(prompts: Prompts, states: Sequence[Any], ctx: PredictContext) -> list[list[int] | Exception]:
    """The tokens of each prompt, or why it cannot be read; the time it took goes to `ctx.timings`."""
    started = perf_counter()
    encoded = [_encoded(prompts, state) for state in states]
    ctx.timings["tokenize"] = ctx.timings.get("tokenize", 0.0) + (perf_counter() - started) * 1000.0
    return encoded


def _encoded(prompts: Prompts, state: Any) -> list[int] | Exception:
    try:
        return prompts.encode(state)
    except (TypeError, ValueError) as error:
        return error
