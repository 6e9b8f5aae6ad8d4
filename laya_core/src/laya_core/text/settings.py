"""What a generation is asked for: transformers' generation settings, checked and completed."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from attrs import frozen
from transformers import GenerationConfig

from laya_core.batching.config import ContinuousBatchingConfig

_DEFAULT_NEW_TOKENS: Final = 20  # what model.generate does where nothing is said
# Settings that transformers' engine leaves unread: the answer would not be the one that was asked for.
_UNREAD: Final[Mapping[str, str]] = {
    "num_beams": "continuous batching has no beam search; use 1",
    "num_return_sequences": "submit the prompt several times",
    "stop_strings": "use eos_token_id",
    "max_time": "use cancel_request",
}


@frozen(eq=False)
class Settings:
    """How a manager generates: settings of the model and of the engine."""

    generation: GenerationConfig
    batching: ContinuousBatchingConfig

    def matches(self, other: Settings) -> bool:
        """Whether a manager made with the one can do what the other asks."""
        return self.batching == other.batching and self.generation.to_dict() == other.generation.to_dict()

    def new_tokens(self, prompt_length: int, max_new_tokens: int | None) -> int:
        """How many tokens to generate at most, as `model.generate` counts.

        Raises:
            ValueError: it is not a whole number of at least 1.
        """
        asked = max_new_tokens if max_new_tokens is not None else self.generation.max_new_tokens
        if asked is None:
            if self.generation.max_length is None:
                return _DEFAULT_NEW_TOKENS
            asked = self.generation.max_length - prompt_length
            if asked < 1:
                raise ValueError(
                    f"the prompt has {prompt_length} tokens, and max_length={self.generation.max_length} leaves no "
                    "room for new ones; give max_new_tokens"
                )
        if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
            raise ValueError(f"max_new_tokens={asked!r}: must be a whole number of at least 1")
        return asked


def generation_settings(base: GenerationConfig, given: object, changes: Mapping[str, Any]) -> GenerationConfig:
    """The settings of the model, overridden by those of a call.

    Args:
        base: the model's own.
        given: a GenerationConfig or None; what it leaves unset is the model's.
        changes: single settings.

    Raises:
        TypeError: `given` is not a GenerationConfig, or a setting is unknown.
        ValueError: continuous batching cannot do it.
    """
    if given is not None and not isinstance(given, GenerationConfig):
        raise TypeError(f"generation_config is a transformers.GenerationConfig, not {type(given).__name__}")
    merged = deepcopy(base)
    if given is not None:
        merged.update(**{name: value for name, value in given.to_diff_dict().items() if hasattr(merged, name)})
    unknown = merged.update(**changes)
    if unknown:
        raise TypeError(f"unknown generation setting {next(iter(unknown))!r}")
    for name, advice in _UNREAD.items():
        value = getattr(merged, name, None)
        if value not in (None, 1):
            raise ValueError(f"{name}={value!r} is not available: {advice}")
    return merged
