"""A small Llama-style model with random weights and a word tokenizer, built once, and agents on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from laya_core.batching.config import ContinuousBatchingConfig
from laya_core.text import TextAgent, TextBatchingManager

WORDS = ["<pad>", "<s>", "</s>", "<unk>", *(f"word{number}" for number in range(4, 97))]
SMALL = ContinuousBatchingConfig(page_size=16, num_blocks=64, max_batch_tokens=64)


@pytest.fixture(scope="session")
def text_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("text") / "llama"
    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
        initializer_range=0.6,  # far apart logits, so that rounding decides no token
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        LlamaForCausalLM(config).save_pretrained(directory)
    words = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = Whitespace()
    words.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    PreTrainedTokenizerFast(
        tokenizer_object=words, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    ).save_pretrained(directory)
    return directory


@pytest.fixture(scope="session")
def shared_agent(text_checkpoint: Path) -> Iterator[TextAgent]:
    with TextAgent(text_checkpoint, device="cpu", precision="float32") as agent:
        yield agent


@pytest.fixture
def text_agent(shared_agent: TextAgent, no_default_hooks: None) -> Iterator[TextAgent]:
    """The shared agent; what a test leaves running is stopped."""
    yield shared_agent
    assert not shared_agent.hooks
    shared_agent.managers.destroy_all()


@pytest.fixture
def running(text_agent: TextAgent) -> Callable[..., Any]:
    """A running manager with a small cache, for a block."""

    @contextmanager
    def run(**changes: Any) -> Iterator[TextBatchingManager]:
        fields = {"page_size": 16, "num_blocks": 64, "max_batch_tokens": 64, **changes}
        manager = text_agent.init_continuous_batching(
            continuous_batching_config=ContinuousBatchingConfig(**fields), do_sample=False, max_new_tokens=8
        )
        manager.start()
        try:
            yield manager
        finally:
            manager.destroy()

    return run


@pytest.fixture
def greedy(text_agent: TextAgent) -> Callable[..., list[int]]:
    """What `model.generate` makes of a prompt."""

    def generate(prompt: list[int], **settings: Any) -> list[int]:
        settings = {"do_sample": False, **settings}
        tokens = text_agent.model.generate(torch.tensor([prompt]), **settings)
        return list(tokens[0, len(prompt) :].tolist())

    return generate
