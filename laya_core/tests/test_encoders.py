"""The encoders of our own compute what transformers' do, and leave to transformers what they do not know."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from laya_core.encoders import EncoderShape, build_encoder
from laya_core.encoders.bert import BertEncoder
from laya_core.encoders.from_transformers import build_encoder_of_transformers
from laya_core.encoders.modernbert import ModernBertEncoder
from laya_core.model import parallel_masks

CPU = torch.device("cpu")
VOCABULARY = 50
BERT: dict[str, Any] = {
    "model_type": "bert",
    "vocab_size": VOCABULARY,
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 40,
    "max_position_embeddings": 48,
}
MODERNBERT: dict[str, Any] = {
    "model_type": "modernbert",
    "vocab_size": VOCABULARY,
    "hidden_size": 24,
    "num_hidden_layers": 4,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "local_attention": 8,
    "pad_token_id": 0,
}
ACTIVATION = st.sampled_from(["gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu"])
BERTS = st.fixed_dictionaries(
    {},
    optional={
        "hidden_act": ACTIVATION,
        "layer_norm_eps": st.sampled_from([1e-12, 1e-5, 0.1]),
        "type_vocab_size": st.integers(1, 3),
        "position_embedding_type": st.just("absolute"),
        "hidden_dropout_prob": st.just(0.3),
    },
)
MODERNBERTS = st.fixed_dictionaries(
    {},
    optional={
        "hidden_activation": ACTIVATION,
        "norm_eps": st.sampled_from([1e-5, 0.1]),
        "norm_bias": st.booleans(),
        "attention_bias": st.booleans(),
        "mlp_bias": st.booleans(),
        "local_attention": st.sampled_from([2, 6, 128]),
        "global_attn_every_n_layers": st.integers(1, 5),
        "global_rope_theta": st.sampled_from([500.0, 160_000.0]),
        "local_rope_theta": st.sampled_from([50.0, 10_000.0]),
        "layer_types": st.lists(st.sampled_from(["full_attention", "sliding_attention"]), min_size=4, max_size=4),
        "attention_dropout": st.just(0.3),
    },
)


def both(config: dict[str, Any]) -> tuple[nn.Module, nn.Module]:
    """Our encoder and transformers', with the same random weights."""
    own, shape = build_encoder(config, CPU)
    reference, reference_shape = build_encoder_of_transformers(config)
    assert type(own) is (BertEncoder if config["model_type"] == "bert" else ModernBertEncoder)
    assert shape == reference_shape
    generator = torch.Generator().manual_seed(3)
    weights = {name: torch.randn(tensor.shape, generator=generator) / 4 for name, tensor in own.state_dict().items()}
    own.load_state_dict(weights)
    found = reference.load_state_dict(weights, strict=False)
    assert not found.unexpected_keys
    assert all(name.startswith("pooler.") or "position_ids" in name for name in found.missing_keys)
    return own.eval(), reference.eval()


def hidden_states(encoder: nn.Module, **inputs: Any) -> Tensor:
    with torch.inference_mode():
        states: Tensor = encoder(**inputs).last_hidden_state
    return states


def rows() -> tuple[Tensor, Tensor]:
    """Token ids and the mask of three rows of 40, 40 and 17 tokens."""
    lengths = torch.tensor([40, 40, 17])
    ids = torch.randint(1, VOCABULARY, (3, 40), generator=torch.Generator().manual_seed(5))
    mask = torch.arange(40) < lengths[:, None]
    return ids * mask, mask


@given(config=st.one_of(BERTS.map(lambda extra: BERT | extra), MODERNBERTS.map(lambda extra: MODERNBERT | extra)))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_padded_rows_come_out_as_from_transformers(config: dict[str, Any]) -> None:
    own, reference = both(config)
    ids, mask = rows()
    inputs = {"input_ids": ids, "attention_mask": mask.long()}
    ours, theirs = hidden_states(own, **inputs), hidden_states(reference, **inputs)
    torch.testing.assert_close(ours[mask], theirs[mask], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("config", [BERT, MODERNBERT], ids=lambda config: config["model_type"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_parallel_layout_comes_out_as_from_transformers(config: dict[str, Any], dtype: torch.dtype) -> None:
    own, reference = both(config)
    ids, mask = rows()
    segments = torch.zeros_like(ids)
    segments[:, 4:8], segments[:, 8:13] = 1, 2
    segments[~mask] = -1
    positions = torch.arange(40).expand(3, 40).clone()
    positions[:, 8:13] -= 4
    masks = parallel_masks(segments, positions, build_encoder(config, CPU)[1].half_window)
    inputs = {"input_ids": ids, "attention_mask": masks, "position_ids": positions}
    ours, theirs = hidden_states(own.to(dtype), **inputs), hidden_states(reference.to(dtype), **inputs)
    exact = dtype is torch.float32
    torch.testing.assert_close(ours[mask], theirs[mask], rtol=1e-4 if exact else 0.1, atol=1e-5 if exact else 0.1)


@pytest.mark.parametrize("length", [4, 5, 6, 7])
def test_local_layers_look_half_a_window_to_either_side(length: int) -> None:
    config = MODERNBERT | {"num_hidden_layers": 1, "layer_types": ["sliding_attention"]}
    own, _ = both(config)
    ids = torch.arange(1, length + 1)[None]
    changed = ids.clone()
    changed[0, -1] = 40
    mask = torch.ones_like(ids)
    difference = hidden_states(own, input_ids=ids, attention_mask=mask) - hidden_states(
        own, input_ids=changed, attention_mask=mask
    )
    sees = difference.abs().amax(-1)[0] > 0
    assert sees.tolist() == [length - 1 - place <= 4 for place in range(length)]


@pytest.mark.parametrize(
    "extra",
    [
        {"is_decoder": True},
        {"add_cross_attention": True, "is_decoder": True},
        {"hidden_act": "quick_gelu"},
        {"type_vocab_size": 0},
    ],
)
def test_a_bert_out_of_the_ordinary_is_left_to_transformers(extra: dict[str, Any]) -> None:
    encoder, _ = build_encoder(BERT | extra, CPU)
    assert type(encoder).__name__ == "BertModel"


@pytest.mark.parametrize(
    "extra",
    [
        {"hidden_activation": "quick_gelu"},
        {"rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}}},
    ],
)
def test_a_modernbert_out_of_the_ordinary_is_left_to_transformers(extra: dict[str, Any]) -> None:
    encoder, _ = build_encoder(MODERNBERT | extra, CPU)
    assert type(encoder).__name__ == "ModernBertModel"


@pytest.mark.parametrize("config", [BERT, MODERNBERT], ids=lambda config: config["model_type"])
def test_accelerators_get_the_encoders_of_transformers(config: dict[str, Any]) -> None:
    encoder, _ = build_encoder(config, torch.device("cuda"))
    assert type(encoder).__module__.startswith("transformers.")


def test_other_architectures_come_from_transformers() -> None:
    encoder, shape = build_encoder(BERT | {"model_type": "roberta", "pad_token_id": 1}, CPU)
    assert type(encoder).__name__ == "RobertaModel"
    assert shape == EncoderShape(24, 46)


ANSWERS_ALONE = """
import sys
from laya_core import Agent
agent = Agent(sys.argv[1], device="cpu")
agent.predict("text", {"q": {"type": "choice", "instructions": "Which?", "criteria": ["a", "b"]}})
agent.init_continuous_batching()
agent.predict("text", {"q": {"type": "noul", "instructions": "Is it?"}})
agent.close()
print(sorted(name for name in ("transformers", "sympy", "torch._dynamo") if name in sys.modules))
"""


@pytest.mark.parametrize("name", ["bert", "modernbert", "modernbert-parallel"])
def test_answering_on_the_cpu_imports_no_transformers(name: str, checkpoints: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", ANSWERS_ALONE, str(checkpoints / name)], capture_output=True, text=True, timeout=120
    )
    assert (run.returncode, run.stdout.strip()) == (0, "[]"), run.stderr
