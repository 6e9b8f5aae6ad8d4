"""`predict_long`: windows, attribution, and what hooks change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from laya_core import Agent
from laya_core.questions import parse_questions
from laya_hooks import PredictContext

QUESTIONS: dict[str, Any] = {
    "c": {"type": "choice", "instructions": "Which department?", "criteria": ["billing", "technical", "other"]},
    "n": {"type": "noul", "instructions": "Does the user threaten to leave?"},
}
DOCUMENT = "Please refund the duplicate charge of March, or we will cancel our plan today. " * 30


def scan(agent: Agent, start: Callable[[PredictContext], Any] | None = None, **options: Any) -> tuple[Any, list[Any]]:
    """The result, and the contexts that end hooks saw."""
    ended: list[PredictContext] = []
    state = options.pop("state", DOCUMENT)
    return agent.predict_long(state, QUESTIONS, on_predict_start=start, on_predict_end=ended.append, **options), ended


def attributed(result: Any) -> list[bool]:
    return ["window" in answer for answer in result["answers"].values()]


def windows_of(agent: Agent) -> list[str]:
    _, [context] = scan(agent)
    return list(context.states)


def test_an_untouched_scan_is_attributed(agent: Agent) -> None:
    result, [context] = scan(agent)
    count = len(context.states)
    assert count > 2
    assert result["usage"]["windows"] == count
    tokens = len(agent.engine.encoder.tokenizer.encode([DOCUMENT])[0])
    for qid, answer in result["answers"].items():
        window = answer["window"]
        assert window.keys() == {"index", "token_start", "token_end", "count"}
        assert window["count"] == count
        assert 0 <= window["token_start"] < window["token_end"] <= tokens
        [deciding] = [agent.predict(context.states[window["index"]], {qid: QUESTIONS[qid]})]
        assert answer["answer_confidence"] == pytest.approx(deciding["answers"][qid]["answer_confidence"], abs=2e-4)


def test_the_deciding_window_is_the_one_that_a_batch_over_the_windows_names(agent: Agent) -> None:
    result, [context] = scan(agent, window=100, stride=40)
    single = agent.predict_batch(list(context.states), QUESTIONS)
    nouls = [one["answers"]["n"]["noul"] for one in single]
    confidences = [one["answers"]["c"]["answer_confidence"] for one in single]
    assert result["answers"]["n"]["noul"] == max(nouls)
    assert result["answers"]["n"]["window"]["index"] == nouls.index(max(nouls))
    assert result["answers"]["c"]["answer_confidence"] == max(confidences)
    assert result["answers"]["c"]["window"]["index"] == confidences.index(max(confidences))
    assert result["usage"]["input_tokens"] == sum(one["usage"]["input_tokens"] for one in single)
    starts = [answer["window"]["token_start"] for answer in result["answers"].values()]
    assert [start % 40 for start in starts] == [0, 0]


def test_a_short_document_is_one_plain_call(agent: Agent) -> None:
    plain = agent.predict("Please refund me.", QUESTIONS)
    result, [context] = scan(agent, state="Please refund me.")
    assert context.states == ["Please refund me."]
    assert result == {**plain, "usage": {**plain["usage"], "windows": 1}}


def test_hooks_run_once_around_the_scan_and_see_the_windows(agent: Agent) -> None:
    seen: list[Any] = []
    result, ended = scan(agent, lambda ctx: seen.append((ctx.agent, ctx.model, list(ctx.states), ctx.results)))
    assert seen == [(agent, agent.model_id, windows_of(agent), None)]
    assert len(ended) == 1
    assert len(ended[0].results) == len(ended[0].states) == result["usage"]["windows"]
    assert ended[0].usage["input_tokens"] == result["usage"]["input_tokens"]


def test_skipping_with_one_result_counts_no_window(agent: Agent) -> None:
    cached = {"model": "m", "answers": {"n": {"type": "noul", "noul": 0.5}}, "usage": {"input_tokens": 7}}
    result, [context] = scan(agent, lambda ctx: ctx.skip([cached]))
    assert result == {**cached, "usage": {"input_tokens": 7, "windows": 0}}
    assert context.results == [cached]
    assert "windows" not in cached["usage"]  # type: ignore[operator]


def test_skipping_with_one_result_for_each_window_is_aggregated_without_attribution(agent: Agent) -> None:
    singles = agent.predict_batch(windows_of(agent), QUESTIONS)
    scanned, _ = scan(agent)
    result, _ = scan(agent, lambda ctx: ctx.skip(singles))
    assert result["usage"] == {**scanned["usage"], "windows": 0}
    assert attributed(result) == [False, False]
    for qid, answer in result["answers"].items():
        assert answer["answer_confidence"] == scanned["answers"][qid]["answer_confidence"]


def test_skipping_with_another_number_of_results_is_refused(agent: Agent) -> None:
    with pytest.raises(ValueError, match="results"):
        scan(agent, lambda ctx: ctx.skip([{"answers": {}}] * 2))


@pytest.mark.parametrize(
    ("replace", "windows"),
    [
        (lambda states: [state.replace("refund", "pay back") for state in states], None),
        (lambda states: states[:2], 2),
        (lambda states: [*states, "one more"], None),
        (lambda states: states[::-1], None),
        (lambda states: ["something else entirely"], 1),
    ],
)
def test_replacing_the_scan_counts_what_was_scored_and_drops_the_attribution(
    agent: Agent, replace: Callable[[list[str]], list[str]], windows: int | None
) -> None:
    def rewrite(ctx: PredictContext) -> None:
        ctx.states = replace(ctx.states)

    planned = len(windows_of(agent))
    result, [context] = scan(agent, rewrite)
    assert result["usage"]["windows"] == len(context.states) == (windows or len(replace(["x"] * planned)))
    assert attributed(result) == [False, False]


def test_replacing_a_window_in_place_is_noticed(agent: Agent) -> None:
    def redact(ctx: PredictContext) -> None:
        ctx.states[0] = "[redacted]"

    result, _ = scan(agent, redact)
    assert attributed(result) == [False, False]


def test_putting_equal_windows_there_keeps_the_attribution(agent: Agent) -> None:
    def copy(ctx: PredictContext) -> None:
        ctx.states = ["".join(state) for state in ctx.states]

    result, _ = scan(agent, copy)
    assert attributed(result) == [True, True]


def test_what_an_end_hook_does_to_the_states_changes_nothing(agent: Agent) -> None:
    scanned, _ = scan(agent)

    def forget(ctx: PredictContext) -> None:
        ctx.states = []

    assert agent.predict_long(DOCUMENT, QUESTIONS, on_predict_end=forget) == scanned


def test_results_that_an_end_hook_replaced_are_what_is_merged(agent: Agent) -> None:
    def sure(ctx: PredictContext) -> None:
        assert ctx.results is not None
        ctx.results[1]["answers"]["n"]["noul"] = 1.0

    result = agent.predict_long(DOCUMENT, QUESTIONS, on_predict_end=sure)
    assert (result["answers"]["n"]["noul"], result["answers"]["n"]["window"]["index"]) == (1.0, 1)


@pytest.mark.filterwarnings("ignore:.*not read whole:RuntimeWarning")
def test_a_hook_that_leaves_the_windows_too_little_room_is_refused(agent: Agent) -> None:
    def narrow(ctx: PredictContext) -> None:
        ctx.max_len = 100

    def more_options(ctx: PredictContext) -> None:
        ctx.questions = {"c": {**QUESTIONS["c"], "criteria": [f"department number {number}" for number in range(70)]}}

    for hook in (narrow, more_options):
        with pytest.raises(ValueError, match="a start hook changed the questions or token budgets"):
            scan(agent, hook)


def test_a_hook_may_ask_less(agent: Agent) -> None:
    def only_one(ctx: PredictContext) -> None:
        ctx.questions = {"n": QUESTIONS["n"]}

    result, _ = scan(agent, only_one)
    assert list(result["answers"]) == ["n"]
    assert attributed(result) == [True]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"aggregate": "mean"}, ValueError),
        ({"window": 64, "stride": 65}, ValueError),
        ({"window": 0}, ValueError),
        ({"state": None}, TypeError),
    ],
)
def test_what_is_refused_is_seen_by_hooks_like_any_failure(
    agent: Agent, options: dict[str, Any], error: type[Exception]
) -> None:
    events: list[Any] = []

    class Watch:
        def on_predict_start(self, ctx: PredictContext) -> None:
            events.append("start")

        def on_error(self, ctx: PredictContext) -> None:
            events.append(type(ctx.error))

        def on_predict_end(self, ctx: PredictContext) -> None:
            events.append(("end", ctx.results))

    state = options.pop("state", DOCUMENT)
    with pytest.raises(error):
        agent.predict_long(state, QUESTIONS, hooks=Watch(), **options)
    assert events == ["start", error, ("end", None)]


def test_conversations_and_json_are_scanned_as_their_text(agent: Agent) -> None:
    talk = [{"role": "user", "text": DOCUMENT}]
    result, [context] = scan(agent, state=talk)
    assert all(isinstance(state, str) for state in context.states)
    assert context.states[0].startswith("[")
    assert result["usage"]["windows"] == len(context.states) > 1


@pytest.mark.filterwarnings("ignore:.*not read whole:RuntimeWarning")
def test_the_window_shrinks_to_the_room_of_the_widest_question(agent: Agent) -> None:
    wide = {"q": {"type": "score", "instructions": "word " * 150, "criteria": [f"level {n} " * 9 for n in range(20)]}}
    [prefix] = agent.engine.prefixes(parse_questions(wide), PredictContext(states=[], questions=wide))
    window = agent.predict_long(DOCUMENT, {**QUESTIONS, **wide})["answers"]["n"]["window"]
    assert window["token_end"] - window["token_start"] == min(prefix.state_room, 512 - 192 - 8)
