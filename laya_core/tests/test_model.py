"""The model against plain references: attention masks, the head, the act head, and how rows share a pass."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from laya_core import Agent
from laya_core.encoders import EncoderShape
from laya_core.model import DecisionModel, parallel_masks
from laya_core.passes import collate
from laya_core.prompt import Row, TokenBudget
from laya_core.questions import Choice, parse_questions

CHECKPOINTS = ["bert", "modernbert", "modernbert-parallel"]


@given(
    st.lists(
        st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 30)), min_size=1, max_size=12), min_size=1, max_size=3
    ),
    st.none() | st.integers(0, 8),
)
def test_parallel_masks_say_who_may_look_at_whom(places: list[list[tuple[int, int]]], half_window: int | None) -> None:
    width = max(map(len, places))
    padded = [[*row, *[(-1, 0)] * (width - len(row))] for row in places]
    segments = torch.tensor([[segment for segment, _ in row] for row in padded])
    positions = torch.tensor([[position for _, position in row] for row in padded])
    masks = parallel_masks(segments, positions, half_window)
    full = masks if half_window is None else masks["full_attention"]  # type: ignore[call-overload]
    assert full.shape == (len(padded), 1, width, width)
    for number, row in enumerate(padded):
        for query, (own, position) in enumerate(row):
            for key, (other, place) in enumerate(row):
                options_differ = own > 0 and other > 0 and own != other
                visible = other != -1 and not options_differ
                assert bool(full[number, 0, query, key]) == visible
                if half_window is not None:
                    near = abs(position - place) <= half_window
                    local = masks["sliding_attention"]  # type: ignore[call-overload]
                    assert bool(local[number, 0, query, key]) == (visible and near)


class FixedStates(nn.Module):
    """An encoder whose hidden states depend on the token and its place alone."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(50, width)
        self.places = nn.Embedding(50, width)

    def forward(self, input_ids: Any, attention_mask: Any, **_: Any) -> SimpleNamespace:
        places = self.places(torch.arange(input_ids.shape[1]))
        return SimpleNamespace(last_hidden_state=self.tokens(input_ids) + places)


def test_the_head_is_a_pre_norm_transformer_with_scorer_and_act_head() -> None:
    width, lengths, markers = 128, [9, 6], [[2, 4, 5], [3, 0, 0]]
    model = DecisionModel(FixedStates(width), EncoderShape(width), head_layers=2, actions=3).eval()
    ids = torch.randint(0, 50, (2, 9))
    padding_mask = torch.arange(9) < torch.tensor(lengths)[:, None]
    marker_mask = torch.tensor([[True, True, True], [True, False, False]])
    type_ids = torch.tensor([0, 2])
    with torch.no_grad():
        logits, act = model(ids, padding_mask, type_ids, torch.tensor(markers), marker_mask)
        for row, length in enumerate(lengths):
            hidden = model.encoder(ids[row : row + 1, :length], None).last_hidden_state
            hidden = hidden + model.type_emb.weight[type_ids[row]]
            for layer in model.head.layers:
                reference = nn.TransformerEncoderLayer(
                    width, 2, 4 * width, dropout=0.0, activation="relu", batch_first=True, norm_first=True
                ).eval()
                reference.load_state_dict(layer.state_dict())
                hidden = reference(hidden)
            options = int(marker_mask[row].sum())
            scored = model.scorer(hidden[0, markers[row][:options]]).squeeze(-1)
            assert logits[row, :options].tolist() == pytest.approx(scored.tolist(), abs=1e-5)
            assert logits[row, options:].tolist() == [-1e4] * (3 - options)
            features = torch.tensor(plain_features(scored.tolist()))
            expected = model.act_head(torch.cat([hidden[0, 0], features]))
            assert act[row].tolist() == pytest.approx(expected.tolist(), abs=1e-5)


def plain_features(logits: list[float]) -> list[float]:
    weights = [math.exp(logit - max(logits)) for logit in logits]
    probabilities = sorted((weight / sum(weights) for weight in weights), reverse=True)
    second = probabilities[1] if len(probabilities) > 1 else 0.0
    entropy = -sum(p * math.log(p) for p in probabilities)
    k = max(len(logits), 2)
    return [probabilities[0], probabilities[0] - second, entropy / math.log(k), k / 255]


QUESTIONS = parse_questions(
    {
        "c": {"type": "choice", "instructions": "Which department?", "criteria": {"billing": "money", "other": None}},
        "s": {"type": "score", "instructions": "How urgent?", "criteria": ["low", "mid", "high", "very high"]},
        "n": {"type": "noul", "instructions": "Is it spam?"},
        "one": {"type": "choice", "instructions": "The only one?", "criteria": ["yes"]},
    }
)
STATES = ["", "ok", "Please refund the duplicate charge. " * 3, ["a", "b"], {"text": "The app crashes. " * 12}]


def rows_of(agent: Agent) -> list[Row]:
    encoder = agent.engine.encoder
    prefixes = [encoder.prefix(question, TokenBudget(160, 96)) for question in QUESTIONS.values()]
    return [encoder.row(prefix, state) for state in encoder.encode_states(STATES) for prefix in prefixes]


@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
@given(data=st.data())
@settings(max_examples=8)
def test_a_row_scores_the_same_whatever_shares_its_pass(
    checkpoint: str, agent_on: Callable[[str], Agent], data: st.DataObject
) -> None:
    agent = agent_on(checkpoint)
    rows = rows_of(agent)
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=2, max_size=12))
    runner = agent.engine._runner
    together = runner.run([rows[number] for number in chosen])
    for number, shared in zip(chosen, together, strict=True):
        [alone] = runner.run([rows[number]])
        assert shared.logits == pytest.approx(alone.logits, abs=1e-5)
        assert shared.act_probability == pytest.approx(alone.act_probability, abs=1e-5)


@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
def test_what_stands_in_padding_does_not_matter(checkpoint: str, agent_on: Callable[[str], Agent]) -> None:
    agent = agent_on(checkpoint)
    runner = agent.engine._runner
    rows = sorted(rows_of(agent), key=len)
    tensors = collate([rows[0], rows[-1]], runner.pad_id, runner.half_window)
    with torch.inference_mode():
        logits, act = runner.model(**tensors)
        padding = ~tensors["padding_mask"]
        tensors["input_ids"] = tensors["input_ids"].masked_fill(padding, 7)
        tensors["markers"] = tensors["markers"].masked_fill(~tensors["marker_mask"], len(rows[-1]) - 1)
        other_logits, other_act = runner.model(**tensors)
    assert padding.any() and not tensors["marker_mask"].all()
    assert torch.allclose(logits, other_logits, atol=1e-5)
    assert torch.allclose(act, other_act, atol=1e-5)


def test_in_the_parallel_layout_the_encoder_reads_an_option_alike_in_every_slot(
    agent_on: Callable[[str], Agent],
) -> None:
    engine = agent_on("modernbert-parallel").engine
    [state] = engine.encoder.encode_states(["Please refund me."])

    def at_markers(order: list[int]) -> dict[int, list[float]]:
        question = Choice("Which?", ["billing", "technical help", "something else"], option_order=order)
        row = engine.encoder.row(engine.encoder.prefix(question, TokenBudget(160, 96)), state)
        tensors = collate([row], engine._runner.pad_id, engine._runner.half_window)
        with torch.inference_mode():
            hidden = engine._runner.model.encoder(
                input_ids=tensors["input_ids"],
                attention_mask=tensors["encoder_mask"],
                position_ids=tensors["position_ids"],
            ).last_hidden_state[0]
        return {option: hidden[row.prefix.markers[slot]].tolist() for slot, option in enumerate(order)}

    straight, turned = at_markers([0, 1, 2]), at_markers([2, 0, 1])
    assert straight[0] != pytest.approx(straight[1], abs=1e-3)
    for option in range(3):
        assert turned[option] == pytest.approx(straight[option], abs=1e-5)
