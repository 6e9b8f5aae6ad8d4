"""The agent's calls: signatures, what is refused, budgets, batches."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from laya_core import Agent, Choice, Noul, Score, load

QUESTIONS: dict[Any, Any] = {
    "department": Choice("Which department?", {"billing": "invoices, refunds", "technical": "bugs", "other": None}),
    "urgency": {"type": "score", "instructions": "How urgent is this?", "criteria": ["not", "soon", "now"]},
    "churn": {"type": "noul", "instructions": "Does the user threaten to leave?"},
}
EMPTY = {"model": "laya-rl-agent", "answers": {}, "usage": {"input_tokens": 0, "output_tokens": 0}}
CALL_HOOKS = "hooks=None, on_predict_start=None, on_predict_end=None, hooks_raise=None, hooks_timeout=None"
CONSTRUCTOR = (
    "model_id_or_path='convaiinnovations/laya', device=None, token=None, subfolder=None, fast=False, compile=False, "
    "hooks=None, on_predict_start=None, on_predict_end=None, hooks_raise=True, hooks_concurrent=True, "
    "hooks_timeout=None"
)


@pytest.mark.parametrize(
    ("call", "published", "added"),
    [
        (
            Agent,
            CONSTRUCTOR,
            {"revision", "expected_sha256", "lang_temperatures", "backend", "precision"},
        ),
        (
            load,
            CONSTRUCTOR,
            {"revision", "expected_sha256", "lang_temperatures", "backend", "precision"},
        ),
        (
            Agent.predict_batch,
            f"states, questions, batch_size=None, {CALL_HOOKS}, max_len=None, head_max_len=None, sort_by_length=False",
            {"min_confidence", "lang"},
        ),
        (
            Agent.system_one,
            f"state, questions, {CALL_HOOKS}, max_len=None, head_max_len=None",
            {"min_confidence", "lang"},
        ),
        (
            Agent.predict_long,
            "state, questions, window=None, stride=None, aggregate='auto', batch_size=None, lang=None, " + CALL_HOOKS,
            {"min_confidence"},
        ),
    ],
)
def test_signatures_are_the_published_ones_and_more(call: Callable[..., Any], published: str, added: set[str]) -> None:
    parameters = list(inspect.signature(call).parameters.values())
    if parameters[0].name == "self":
        parameters = parameters[1:]
    count = published.count(", ") + 1
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    assert ", ".join(map(str, plain[:count])) == published
    assert all(parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for parameter in parameters[:count])
    assert added <= {parameter.name for parameter in parameters[count:]}
    assert all(parameter.default is None for parameter in parameters[count:])


def test_predict_is_system_one_is_a_batch_of_one(agent: Agent) -> None:
    assert Agent.predict is Agent.system_one
    assert agent.predict("text", QUESTIONS) == agent.predict_batch(["text"], QUESTIONS)[0]


def test_a_forgotten_argument_is_reported_for_predict(agent: Agent) -> None:
    with pytest.raises(TypeError, match=r"^Agent\.predict\(\) missing 1 required positional argument: 'questions'$"):
        agent.predict("text")  # type: ignore[call-arg]


def test_an_object_that_has_questions_is_told_by_type_and_what_to_pass(agent: Agent) -> None:
    preset = SimpleNamespace(name="triage", questions=QUESTIONS)
    with pytest.raises(TypeError, match=r"question id to question, not SimpleNamespace; pass its \.questions$"):
        agent.predict("text", preset)  # type: ignore[arg-type]


def test_a_result_has_answers_in_the_order_asked_and_usage(agent: Agent) -> None:
    result = agent.predict("Please refund me.", QUESTIONS)
    assert list(result) == ["model", "answers", "usage"]
    assert result["model"] == "laya-rl-agent"
    assert list(result["answers"]) == list(QUESTIONS)
    assert result["usage"].keys() == {
        "input_tokens",
        "output_tokens",
        "state_tokens",
        "state_tokens_dropped",
        "truncated",
        "truncated_questions",
    }
    assert result["usage"]["output_tokens"] == 0
    assert result["usage"]["truncated"] is False


def test_integer_ids_and_labels_come_back_as_they_are(agent: Agent) -> None:
    result = agent.predict("text", {7: {"type": "choice", "instructions": "Which?", "criteria": [1, 2, 3]}})
    [(qid, answer)] = result["answers"].items()
    assert qid == 7 and type(qid) is int
    assert answer["choice"] in (1, 2, 3) and type(answer["choice"]) is int
    assert list(answer["probabilities"]) == [1, 2, 3]


@pytest.mark.parametrize("states", ["text", {"text": 1}, ("a", "b"), None, 5, iter(["a"])])
def test_states_are_a_list(agent: Agent, states: Any) -> None:
    with pytest.raises(TypeError, match=r"states must be a list, .* wrap a single state"):
        agent.predict_batch(states, QUESTIONS)


@pytest.mark.parametrize(("states", "place"), [([None], 0), (["a", None, None], 1)])
def test_a_state_that_is_none_is_named_by_its_place(agent: Agent, states: list[Any], place: int) -> None:
    with pytest.raises(TypeError, match=rf"states\[{place}\] is None"):
        agent.predict_batch(states, QUESTIONS)
    with pytest.raises(TypeError, match="is None"):
        agent.predict(None, QUESTIONS)


@pytest.mark.parametrize("state", ["", 0, False, [], {}, 1.5, ["a", {"b": None}], {"deep": {"er": [1]}}])
def test_any_json_value_is_a_state(agent: Agent, state: Any) -> None:
    assert agent.predict(state, QUESTIONS)["answers"].keys() == QUESTIONS.keys()


def test_nothing_asked_or_nothing_to_ask_about_runs_no_pass(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(agent.engine), "score", None)
    monkeypatch.setattr(type(agent.engine.encoder), "encode_states", None)
    assert agent.predict_batch([], QUESTIONS) == []
    assert agent.predict_batch([], {}) == []
    assert agent.predict_batch(["a", "b"], {}) == [EMPTY, EMPTY]
    assert agent.predict("a", {}) == EMPTY
    assert agent.predict_long("a " * 3000, {})["answers"] == {}


def test_empty_results_are_not_shared(agent: Agent) -> None:
    first, second = agent.predict_batch(["a", "b"], {})
    first["answers"]["x"] = 1
    assert second == EMPTY


def test_questions_are_checked_even_when_there_is_no_state(agent: Agent) -> None:
    with pytest.raises(ValueError, match="question 'q'"):
        agent.predict_batch([], {"q": {"type": "noul"}})
    with pytest.raises(TypeError, match="mapping"):
        agent.predict_batch([], [])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options", [{}, {"batch_size": 1}, {"batch_size": 3}, {"batch_size": 2, "sort_by_length": True}]
)
def test_results_come_in_the_order_of_the_states_however_they_are_batched(
    agent: Agent, options: dict[str, Any]
) -> None:
    states = ["short", "a longer text about billing " * 20, ["talk", "talk"], {"k": "v " * 50}, "short"]
    batch = agent.predict_batch(states, QUESTIONS, **options)
    single = [agent.predict(state, QUESTIONS) for state in states]
    assert [result["usage"] for result in batch] == [result["usage"] for result in single]
    for ours, theirs in zip(batch, single, strict=True):
        for qid, answer in ours["answers"].items():
            assert answer["answer_confidence"] == pytest.approx(theirs["answers"][qid]["answer_confidence"], abs=2e-4)


@pytest.mark.parametrize("batch_size", [0, -1, 1.5, "4", True])
def test_a_batch_size_is_a_positive_whole_number(agent: Agent, batch_size: Any) -> None:
    with pytest.raises(ValueError, match="batch_size must be a positive whole number"):
        agent.predict_batch(["a"], QUESTIONS, batch_size=batch_size)
    with pytest.raises(ValueError, match="batch_size must be a positive whole number"):
        agent.predict_long("a", QUESTIONS, batch_size=batch_size)


@pytest.mark.parametrize("name", ["max_len", "head_max_len"])
@pytest.mark.parametrize("value", [0, -5, 64.0, "64", True])
def test_budgets_are_positive_whole_numbers(agent: Agent, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a positive whole number"):
        agent.predict("a", QUESTIONS, **{name: value})


def test_a_budget_beyond_the_positions_of_the_encoder_is_refused(agent_on: Callable[[str], Agent]) -> None:
    bert = agent_on("bert")
    bert.predict("word " * 600, QUESTIONS, max_len=512)
    with pytest.raises(ValueError, match="max_len=513 is beyond the 512 positions"):
        bert.predict("a", QUESTIONS, max_len=513)


def test_a_smaller_budget_cuts_the_state_and_says_so(agent: Agent) -> None:
    usage = agent.predict("word " * 100, QUESTIONS, max_len=64)["usage"]
    assert usage["truncated"] is True
    assert usage["truncated_questions"] == list(QUESTIONS)
    assert usage["state_tokens_dropped"] > 0
    assert usage["input_tokens"] == 3 * 64


def test_options_that_do_not_fit_name_the_question_and_the_budget(agent: Agent) -> None:
    many = {"type": "choice", "instructions": "?", "criteria": [f"label number {number}" for number in range(60)]}
    with pytest.raises(ValueError, match="question 'many': 60 options do not fit") as refused:
        agent.predict("a", {"fine": QUESTIONS["churn"], "many": many}, max_len=100, head_max_len=48)
    assert str(refused.value).endswith("within max_len=100; give fewer options or a larger max_len")


def test_a_larger_max_len_is_not_advised_beyond_the_positions_of_the_encoder(agent_on: Callable[[str], Agent]) -> None:
    many = {"type": "choice", "instructions": "?", "criteria": [f"label number {number}" for number in range(300)]}
    with pytest.raises(ValueError, match="question 'many': 300 options do not fit") as refused:
        agent_on("bert").predict("a", {"many": many})
    assert str(refused.value).endswith(
        "within max_len=512, the most this checkpoint's encoder reads; give fewer options"
    )


def test_options_that_were_cut_to_the_same_text_are_reported_for_their_question(agent: Agent) -> None:
    levels = [f"the very same beginning of a long level {number}" for number in range(12)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # which tells the same
        usage = agent.predict("a", {**QUESTIONS, "s": Score("How much?", levels)}, head_max_len=72)["usage"]
    assert usage["options"] == {
        "s": {"total": 12, "distinct": usage["options"]["s"]["distinct"], "tokens_per_option": 4}
    }
    assert 0 < usage["options"]["s"]["distinct"] < 12


@pytest.mark.parametrize("state", ["\ud800", {"key": ["\udfff"]}])
def test_a_text_that_is_no_text_is_refused(agent: Agent, state: Any) -> None:
    with pytest.raises(ValueError, match="unpaired surrogate"):
        agent.predict(state, QUESTIONS)
    with pytest.raises(ValueError, match=r"question 'q': .*unpaired surrogate"):
        agent.predict("fine", {"q": Noul("\udc00?")})


def test_arguments_are_left_alone(agent: Agent) -> None:
    states, questions = [{"a": [1]}, "b"], {"q": {"type": "choice", "instructions": "?", "criteria": ["a", "b"]}}
    agent.predict_batch(states, questions)
    assert states == [{"a": [1]}, "b"]
    assert questions == {"q": {"type": "choice", "instructions": "?", "criteria": ["a", "b"]}}


def test_an_agent_tells_what_it_is(agent: Agent, checkpoints: Path) -> None:
    assert agent.model_id == str(checkpoints / "modernbert")
    assert (agent.device, str(agent.dtype), agent.backend) == ("cpu", "torch.float32", "eager")
    assert (agent.revision, agent.cpu_fallback_count, agent.last_fallback_reason) == (None, 0, None)
    assert repr(agent) == f"<Agent {agent.model_id} (cpu, torch.float32)>"


def test_a_call_warns_about_nothing(agent: Agent) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.predict("text", QUESTIONS)


@pytest.mark.parametrize("argument", [{"hooks": object()}, {"hooks": print}, {"on_predict_start": "text"}])
def test_what_is_no_hook_is_refused_when_the_agent_is_made_and_when_it_is_called(
    agent: Agent, checkpoint: Path, argument: dict[str, Any]
) -> None:
    with pytest.raises(TypeError):
        Agent(checkpoint, device="cpu", **argument)
    with pytest.raises(TypeError):
        agent.predict("text", QUESTIONS, **argument)


def _nested() -> Any:
    nested: Any = []
    for _ in range(100_000):
        nested = [nested]
    return nested


def _circular() -> Any:
    circular: dict[str, Any] = {}
    circular["self"] = circular
    return circular


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (_circular, "this dict cannot be written as JSON: Circular reference"),
        (_nested, "this list cannot be written as JSON: it is nested too deeply"),
        (lambda: {(1, 2): 3}, "this dict cannot be written as JSON: keys must be str"),
        (lambda: 10**5000, "this int cannot be written as JSON: Exceeds the limit"),
    ],
)
def test_what_json_cannot_hold_is_named(agent: Agent, value: Callable[[], Any], message: str) -> None:
    question = {"type": "noul", "instructions": "Is it so?"}
    with pytest.raises(ValueError, match=r"^states\[1\]: " + message):
        agent.predict_batch(["text", value()], {"q": question})
    with pytest.raises(ValueError, match=message):
        agent.predict_long(value(), {"q": question})
    with pytest.raises(ValueError, match="^question 'q': " + message):
        agent.predict("text", {"q": {**question, "instructions": value()}})


def test_a_language_that_is_no_text_is_refused(agent: Agent) -> None:
    wrong: Any = 5
    with pytest.raises(TypeError, match="lang must be a language code such as 'de', not 5"):
        agent.predict("text", {"q": {"type": "noul", "instructions": "Is it so?"}}, lang=wrong)
