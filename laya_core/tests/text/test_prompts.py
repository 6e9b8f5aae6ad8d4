"""Prompts as tokens, generation settings, and what is refused before a model sees it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import GenerationConfig

from laya_core.batching.config import ContinuousBatchingConfig
from laya_core.text import TextAgent
from laya_core.text.prompts import Prompts
from laya_core.text.settings import Settings, generation_settings
from laya_core.text.sizing import cache_sizes, token_bytes


@pytest.mark.parametrize("prompt", [[1, 5, 6], (1, 5, 6), torch.tensor([1, 5, 6]), "word5 word6"])
def test_a_prompt_is_text_or_token_ids(text_agent: TextAgent, prompt: Any) -> None:
    assert text_agent.prompts.encode(prompt) == [1, 5, 6]


@pytest.mark.parametrize(
    ("prompt", "kind", "message"),
    [
        ([], ValueError, "the prompt is empty"),
        ([1, 97], ValueError, "token 97 at place 1 of the prompt is not in 0 … 96"),
        ([-1], ValueError, "token -1 at place 0"),
        ([1.5], TypeError, r"contains 1\.5"),
        ([True], TypeError, "contains True"),
        (["a"], TypeError, "contains 'a'"),
        (7, TypeError, "not int"),
        (None, TypeError, "not NoneType"),
        ({"text": "a"}, TypeError, "not dict"),
    ],
)
def test_what_is_no_prompt_is_refused(text_agent: TextAgent, prompt: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        text_agent.prompts.encode(prompt)


def test_text_needs_a_tokenizer() -> None:
    with pytest.raises(ValueError, match="no tokenizer"):
        Prompts(None, 97).encode("word5")


def test_a_call_overrides_the_settings_of_the_model_and_leaves_the_rest() -> None:
    base = GenerationConfig(eos_token_id=2, temperature=0.5, do_sample=True)
    merged = generation_settings(base, GenerationConfig(temperature=0.9), {"top_k": 3})
    assert (merged.eos_token_id, merged.temperature, merged.top_k, merged.do_sample) == (2, 0.9, 3, True)
    assert base.temperature == 0.5 and base.top_k is None


@pytest.mark.parametrize(
    ("given", "changes", "kind", "message"),
    [
        (None, {"nonsense": 1}, TypeError, "unknown generation setting 'nonsense'"),
        ({"top_k": 3}, {}, TypeError, "GenerationConfig, not dict"),
        (None, {"num_beams": 4}, ValueError, "num_beams=4 is not available: continuous batching has no beam search"),
        (None, {"num_return_sequences": 2, "do_sample": True}, ValueError, "submit the prompt several times"),
        (GenerationConfig(stop_strings=["x"]), {}, ValueError, "stop_strings.*use eos_token_id"),
    ],
)
def test_settings_the_engine_would_not_read_are_refused(
    given: Any, changes: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        generation_settings(GenerationConfig(), given, changes)


def settings(**generation: Any) -> Settings:
    return Settings(GenerationConfig(**generation), ContinuousBatchingConfig())


def test_the_number_of_new_tokens_is_counted_as_generate_counts() -> None:
    assert settings().new_tokens(5, None) == 20
    assert settings(max_new_tokens=7).new_tokens(5, None) == 7
    assert settings(max_length=9).new_tokens(5, None) == 4
    assert settings(max_new_tokens=7, max_length=9).new_tokens(5, 3) == 3


@pytest.mark.parametrize("asked", [0, -1, 1.5, True, "5"])
def test_a_number_of_new_tokens_that_is_none_is_refused(asked: Any) -> None:
    with pytest.raises(ValueError, match=r"max_new_tokens=.*whole number of at least 1"):
        settings().new_tokens(5, asked)


def test_a_prompt_longer_than_max_length_is_refused() -> None:
    with pytest.raises(ValueError, match="has 9 tokens, and max_length=9 leaves no room"):
        settings(max_length=9).new_tokens(9, None)


def test_settings_match_by_value() -> None:
    assert settings(top_k=3).matches(settings(top_k=3))
    assert not settings(top_k=3).matches(settings(top_k=4))
    assert not settings().matches(Settings(GenerationConfig(), ContinuousBatchingConfig(seed=1)))


def test_the_cache_on_the_cpu_is_bounded_by_the_model_and_by_memory(text_agent: TextAgent) -> None:
    model = text_agent.model
    assert token_bytes(model.config, torch.float32) == 2 * 2 * 2 * 8 * 4
    assert cache_sizes(ContinuousBatchingConfig(), model) == {"num_blocks": 64 * 512 // 256, "max_batch_tokens": 256}
    one = cache_sizes(ContinuousBatchingConfig(max_memory_percent=1e-9), model)
    assert one["num_blocks"] == 1
