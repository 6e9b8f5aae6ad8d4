"""Checkpoints that compute NaN or infinite numbers: an error instead of an answer, whichever way they are asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from laya_core import Agent
from laya_core.batching import ContinuousBatchingManager
from laya_core.decoding import RowScores
from laya_core.finite import FiniteCheck, InferenceFailed
from laya_core.passes import PassRunner
from laya_core.prompt import Row, TokenBudget
from laya_core.questions import Choice
from laya_hooks import LayaError

QUESTIONS: dict[str, Any] = {
    "team": {"type": "choice", "instructions": "Which?", "criteria": ["billing", "support", "sales"]},
    "urgent": {"type": "noul", "instructions": "Is it urgent?"},
}
FLOAT32 = "its weights are damaged or overflow in float32: fetch it anew"
BFLOAT16 = "its weights are damaged or overflow in bfloat16: load it with precision='float32', or fetch it anew"
FAULTS = {
    "NaN in the encoder": ("type_emb.weight", torch.nan),
    "infinity in the encoder": ("type_emb.weight", torch.inf),
    "an infinite logit": ("scorer.3.bias", torch.inf),
    "a logit of minus infinity": ("scorer.3.bias", -torch.inf),
    "act logits of NaN": ("act_head.2.bias", torch.nan),
    "act logits of infinity": ("act_head.2.bias", torch.inf),
}
CALLS: dict[str, Callable[[Agent], object]] = {
    "predict": lambda agent: agent.predict("text", QUESTIONS),
    "system_one": lambda agent: agent.system_one("text", QUESTIONS),
    "predict_batch": lambda agent: agent.predict_batch(["text", "more " * 40], QUESTIONS),
    "predict_batch by size": lambda agent: agent.predict_batch(["text", "more " * 40], QUESTIONS, batch_size=1),
    "predict_long": lambda agent: agent.predict_long("word " * 900, QUESTIONS),
}


def fill(directory: Path, name: str, value: float) -> None:
    path = directory / "model.safetensors"
    stored = load_file(path)
    stored[name] = torch.full_like(stored[name], value)
    path.unlink()  # the old file may be mapped
    save_file(stored, path)


def message(directory: Path, question: str = "team", advice: str = FLOAT32) -> str:
    return f"{directory} computed no finite numbers (NaN or infinite) for question {question!r}; {advice}"


@pytest.fixture
def damaged(checkpoint: Path) -> Path:
    fill(checkpoint, "type_emb.weight", torch.nan)
    return checkpoint


@pytest.fixture
def batched(damaged: Path, load_agent: Callable[..., Agent]) -> Iterator[tuple[Agent, ContinuousBatchingManager]]:
    with load_agent(damaged, continuous_batching={"return_logprobs": True}) as agent:
        assert agent._manager is not None
        yield agent, agent._manager


@pytest.mark.parametrize("fault", FAULTS)
def test_no_answer_is_made_of_numbers_that_are_not_finite(
    fault: str, checkpoint: Path, load_agent: Callable[..., Agent]
) -> None:
    fill(checkpoint, *FAULTS[fault])
    with load_agent(checkpoint) as agent, pytest.raises(LayaError) as failed:
        agent.predict("text", QUESTIONS)
    assert str(failed.value) == message(checkpoint)
    assert not isinstance(failed.value, TypeError | ValueError), "which a server takes for the client's mistake"


@pytest.mark.parametrize("call", CALLS)
def test_every_call_fails(call: str, damaged: Path, load_agent: Callable[..., Agent]) -> None:
    with load_agent(damaged) as agent, pytest.raises(InferenceFailed) as failed:
        CALLS[call](agent)
    assert str(failed.value) == message(damaged)


@pytest.mark.parametrize("call", CALLS)
def test_every_call_fails_with_continuous_batching(call: str, batched: tuple[Agent, Any], damaged: Path) -> None:
    with pytest.raises(InferenceFailed) as failed:
        CALLS[call](batched[0])
    assert str(failed.value) == message(damaged)


@pytest.mark.parametrize("streaming", [False, True])
def test_a_request_fails_and_streams_no_answer(
    streaming: bool, batched: tuple[Agent, Any], damaged: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _, manager = batched
    outputs = list(manager.request_id_iter(manager.add_request("text", QUESTIONS, streaming=streaming)))
    assert [(output.status, output.result, output.log_probs) for output in outputs] == [("failed", None, None)]
    assert str(outputs[0].error) == message(damaged)
    assert caplog.records == [], "the caller is told; nothing of it belongs into a log"


def test_hooks_hear_of_it(damaged: Path, load_agent: Callable[..., Agent]) -> None:
    heard: list[Any] = []
    agent = load_agent(damaged, on_predict_end=lambda ctx: heard.append(ctx.error))
    with agent, pytest.raises(InferenceFailed) as failed:
        agent.predict("text", QUESTIONS)
    assert heard == [failed.value]


def test_float32_is_advised_where_it_may_help(damaged: Path, load_agent: Callable[..., Agent]) -> None:
    with load_agent(damaged, precision="bfloat16") as agent, pytest.raises(InferenceFailed) as failed:
        agent.predict("text", QUESTIONS)
    assert str(failed.value) == message(damaged, advice=BFLOAT16)


def test_the_question_that_failed_is_named(checkpoint: Path, load_agent: Callable[..., Agent]) -> None:
    path = checkpoint / "model.safetensors"
    stored = load_file(path)
    types = stored["type_emb.weight"].clone()
    types[2] = torch.nan  # yes/no questions
    path.unlink()
    save_file({**stored, "type_emb.weight": types}, path)
    with load_agent(checkpoint) as agent:
        assert (
            agent.predict("text", {"team": QUESTIONS["team"]})["answers"]["team"]["choice"]
            in (QUESTIONS["team"]["criteria"])
        )
        with pytest.raises(InferenceFailed) as failed:
            agent.predict_batch(["text", "other"], QUESTIONS)
    assert str(failed.value) == message(checkpoint, "urgent")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_single_number_is_enough(value: float) -> None:
    check = FiniteCheck("m", torch.float32)
    fine = RowScores((-3e38, 3e38, 3e38), 1.0)
    check.check([fine], str)
    for bad in (RowScores((0.0, value), 0.5), RowScores((value, 0.0), 0.5), RowScores((0.0, 0.0), value)):
        with pytest.raises(InferenceFailed, match="for question '1'"):
            check.check([fine, bad, fine], str)


def test_padding_need_not_be_finite(agent: Agent) -> None:
    rows = [_row(agent, 3), _row(agent, 2)]

    def model(**_: Any) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, -torch.inf]]), torch.zeros(2, 2)

    runner = PassRunner(model, torch.device("cpu"), 0, None)  # type: ignore[arg-type]
    scores = runner.run(rows)
    assert scores == [RowScores((1.0, 2.0, 3.0), 0.5), RowScores((1.0, 2.0), 0.5)]
    FiniteCheck("m", torch.float32).check(scores, str)


def test_an_act_logit_that_softmax_hides_is_no_probability(agent: Agent) -> None:
    def model(**_: Any) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.zeros(2, 2), torch.tensor([[0.0, -torch.inf], [0.0, 0.0]])

    runner = PassRunner(model, torch.device("cpu"), 0, None)  # type: ignore[arg-type]
    hidden, fine = runner.run([_row(agent, 2), _row(agent, 2)])
    assert math.isnan(hidden.act_probability)
    assert fine.act_probability == 0.5


def _row(agent: Agent, options: int) -> Row:
    encoder = agent.engine.encoder
    prefix = encoder.prefix(Choice("Which?", list("abc"[:options])), TokenBudget(64, 32))
    return encoder.row(prefix, encoder.encode_states(["text"])[0])
