"""`predict_long`: what a start hook did decides what the answer may claim."""

from __future__ import annotations

from typing import Any

import pytest

import laya

pytestmark = pytest.mark.filterwarnings("ignore:.*temperature_by_options")

DOCUMENT = " ".join(f"In sentence {number} the customer writes about the invoice again." for number in range(50))


def _windows(agent: Any, questions: dict[str, Any]) -> list[str]:
    seen: list[laya.PredictContext] = []
    agent.predict_long(DOCUMENT, questions, window=200, stride=100, on_predict_start=seen.append)
    (ctx,) = seen
    return ctx.states


def test_hooks_run_once_around_all_windows_and_see_their_texts_in_scan_order(
    agent: Any, questions: dict[str, Any]
) -> None:
    windows = _windows(agent, questions)
    assert len(windows) > 2
    assert all(text in DOCUMENT for text in (window.strip()[10:-10] for window in windows))
    assert windows[0].startswith("In sentence 0 ")
    assert windows[-1].endswith("about the invoice again.")


def test_a_scan_left_as_it_is_counts_its_windows_and_names_the_deciding_one(
    agent: Any, questions: dict[str, Any]
) -> None:
    count = len(_windows(agent, questions))
    result = agent.predict_long(DOCUMENT, questions, window=200, stride=100)
    window = result["answers"]["team"]["window"]
    assert result["usage"]["windows"] == count
    assert 0 <= window["index"] < count
    assert 0 <= window["token_start"] < window["token_end"] <= window["token_start"] + 200


def test_a_skipped_scan_counts_none_and_names_none(agent: Any, questions: dict[str, Any]) -> None:
    cached = agent.predict("the invoice", questions)
    result = agent.predict_long(
        DOCUMENT, questions, window=200, stride=100, on_predict_start=lambda ctx: ctx.skip([cached])
    )
    assert result["usage"]["windows"] == 0
    assert "window" not in result["answers"]["team"]
    assert result["answers"]["team"]["probabilities"] == cached["answers"]["team"]["probabilities"]


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_a_replaced_scan_counts_what_was_scored_and_names_none(
    agent: Any, questions: dict[str, Any], keep: int
) -> None:
    def replace(ctx: laya.PredictContext) -> None:
        ctx.states = ctx.states[:keep]

    result = agent.predict_long(DOCUMENT, questions, window=200, stride=100, on_predict_start=replace)
    assert result["usage"]["windows"] == keep
    assert "window" not in result["answers"]["team"]


def test_a_scan_rewritten_in_place_names_none_either(agent: Any, questions: dict[str, Any]) -> None:
    def redact(ctx: laya.PredictContext) -> None:
        ctx.states[0] = ctx.states[0].replace("customer", "person")

    count = len(_windows(agent, questions))
    result = agent.predict_long(DOCUMENT, questions, window=200, stride=100, on_predict_start=redact)
    assert result["usage"]["windows"] == count
    assert "window" not in result["answers"]["team"]


def test_a_state_that_fits_one_window_counts_one(agent: Any, questions: dict[str, Any]) -> None:
    assert agent.predict_long("the invoice", questions)["usage"]["windows"] == 1
