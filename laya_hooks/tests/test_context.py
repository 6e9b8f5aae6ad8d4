"""The context of a call."""

from __future__ import annotations

import uuid

import pytest

from laya_hooks import PredictContext, aggregate_usage


def test_a_context_has_the_documented_fields_and_defaults():
    ctx = PredictContext(["a"], {"q": {}})
    unset = [
        "results",
        "decision",
        "model",
        "agent",
        "router",
        "max_len",
        "head_max_len",
        "usage",
        "elapsed_ms",
        "error",
    ]
    assert (ctx.states, ctx.questions) == (["a"], {"q": {}})
    assert [getattr(ctx, name) for name in unset] == [None] * len(unset)
    assert ctx.timings == {}
    assert ctx.started_at > 0


def test_run_ids_are_distinct_random_uuids():
    ids = {PredictContext([], {}).run_id for _ in range(100)}
    assert len(ids) == 100
    assert all(uuid.UUID(hex=run_id).version == 4 and uuid.UUID(hex=run_id).hex == run_id for run_id in ids)


def test_contexts_are_compared_by_identity_and_hashable():
    first, second = PredictContext(["a"], {}, run_id="x"), PredictContext(["a"], {}, run_id="x")
    assert first != second
    assert len({first, second, first}) == 2


def test_a_hook_may_keep_its_own_attributes_on_a_context():
    ctx = PredictContext([], {})
    ctx.span = "mine"
    assert ctx.span == "mine"


@pytest.mark.parametrize("results", [[{"a": 1}, {"a": 2}], ({"a": 1}, {"a": 2}), [{"whole": "document"}]])
def test_skip_takes_one_result_per_state_or_one_for_the_document(results):
    ctx = PredictContext(["x", "y"], {})
    ctx.skip(results)
    assert ctx.results == list(results)


def test_skip_copies_the_list_it_is_given():
    ctx, results = PredictContext(["x"], {}), [{}]
    ctx.skip(results)
    results.append({})
    assert ctx.results == [{}]


@pytest.mark.parametrize("count", [0, 3])
def test_skip_refuses_another_count(count):
    with pytest.raises(ValueError, match=f"{count} results for 2 states"):
        PredictContext(["x", "y"], {}).skip([{}] * count)


def test_skip_of_nothing_answers_no_states():
    ctx = PredictContext([], {})
    ctx.skip([])
    assert ctx.results == []


def test_skip_counts_the_states_a_hook_put_there():
    ctx = PredictContext(["x"], {})
    ctx.states = ["x", "y"]
    ctx.skip([{}, {}])
    assert ctx.results == [{}, {}]


@pytest.mark.parametrize("results", [{"answers": {}}, "text", None, iter([{}])])
def test_skip_refuses_what_is_no_list(results):
    with pytest.raises(TypeError, match=r"skip\(\[result\]\)"):
        PredictContext(["x"], {}).skip(results)


def test_usage_is_summed_and_results_without_usage_count_as_zero():
    results = [
        {"usage": {"input_tokens": 3, "output_tokens": 1, "truncated": 0}},
        {"answers": {}},
        {"usage": {"input_tokens": 4}},
    ]
    assert aggregate_usage(results) == {"input_tokens": 7, "output_tokens": 1}
    assert aggregate_usage([]) == aggregate_usage(None) == {"input_tokens": 0, "output_tokens": 0}
