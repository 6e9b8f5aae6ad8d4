"""Hooks around text generation: the prompts are the states, the outputs are the results."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

import pytest

from laya_core.text import TextAgent, TextOutput
from laya_hooks import BaseHook, PredictContext, RequestCancelled

Running = Callable[..., Any]
SETTINGS: dict[str, Any] = {"do_sample": False, "max_new_tokens": 4}
GENERATED = [56, 51, 83, 51]  # after [1, 5, 6, 7]


class Recorder(BaseHook):
    """Notes every event with what the context held then."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []
        self.contexts: list[PredictContext] = []

    def on_predict_start(self, ctx: PredictContext) -> None:
        self.contexts.append(ctx)
        self.events.append(("start", list(ctx.states)))

    def on_predict_end(self, ctx: PredictContext) -> None:
        results = (
            None if ctx.results is None else [getattr(result, "generated_tokens", result) for result in ctx.results]
        )
        self.events.append(("end", results))

    def on_error(self, ctx: PredictContext) -> None:
        self.events.append(("error", ctx.error))


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def test_one_context_holds_the_whole_batch(text_agent: TextAgent, recorder: Recorder) -> None:
    text_agent.generate_batch([[1, 5, 6, 7], "word5 word6 word7"], hooks=recorder, **SETTINGS)
    assert recorder.events == [("start", [[1, 5, 6, 7], "word5 word6 word7"]), ("end", [GENERATED, GENERATED])]
    (ctx,) = recorder.contexts
    assert (ctx.questions, ctx.agent, ctx.model) == ({}, text_agent, text_agent.model_id)
    assert ctx.usage == {"input_tokens": 8, "output_tokens": 8}
    assert ctx.elapsed_ms is not None and ctx.timings["tokenize"] >= 0


def test_a_start_hook_rewrites_prompts_before_they_are_tokenised(text_agent: TextAgent) -> None:
    def rewrite(ctx: PredictContext) -> None:
        ctx.states[:] = [state.replace("secret", "word6") for state in ctx.states]

    (output,) = text_agent.generate_batch(["word5 secret word7"], on_predict_start=rewrite, **SETTINGS).values()
    assert (output.prompt_ids, output.generated_tokens) == ([1, 5, 6, 7], GENERATED)


def test_a_start_hook_may_add_and_drop_prompts(text_agent: TextAgent) -> None:
    def double(ctx: PredictContext) -> None:
        ctx.states = ctx.states * 2

    outputs = text_agent.generate_batch([[1, 5, 6, 7]], on_predict_start=double, **SETTINGS)
    assert {key: output.generated_tokens for key, output in outputs.items()} == {"req_0": GENERATED, "req_1": GENERATED}
    assert text_agent.generate_batch([[1, 5]], on_predict_start=lambda ctx: ctx.states.clear()) == {}


@pytest.mark.parametrize("answer", [["word8"], [[8]]])
def test_a_skip_answers_with_text_or_tokens(
    text_agent: TextAgent, recorder: Recorder, answer: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_agent.managers, "using", None)  # no engine is asked
    outputs = text_agent.generate_batch(
        ["word5"], on_predict_start=lambda ctx: ctx.skip(answer), hooks=recorder, **SETTINGS
    )
    (output,) = outputs.values()
    assert (output.request_id, output.text, output.generated_tokens) == ("req_0", "word8", [8])
    assert output.prompt_ids == [1, 5] and output.is_finished()
    assert recorder.events[-1] == ("end", [[8]])


def test_a_cached_output_is_handed_out_under_every_id(text_agent: TextAgent) -> None:
    (cached,) = text_agent.generate_batch([[1, 5, 6, 7]], **SETTINGS).values()
    outputs = text_agent.generate_batch([[1, 8], [1, 9]], on_predict_start=lambda ctx: ctx.skip([cached, cached]))
    assert {key: output.request_id for key, output in outputs.items()} == {"req_0": "req_0", "req_1": "req_1"}
    assert [output.generated_tokens for output in outputs.values()] == [GENERATED, GENERATED]
    assert cached.request_id == "req_0"


def test_a_skip_needs_one_result_per_prompt(text_agent: TextAgent, recorder: Recorder) -> None:
    with pytest.raises(ValueError, match="1 results for 2 states"):
        text_agent.generate_batch([[1], [1]], on_predict_start=lambda ctx: ctx.skip(["word5"]), hooks=recorder)
    assert [event for event, _ in recorder.events] == ["start", "error", "end"]
    with pytest.raises(TypeError, match="a hook supplied a result of type dict"):
        text_agent.generate_batch([[1]], on_predict_start=lambda ctx: ctx.skip([{"answers": {}}]))


def test_an_end_hook_rewrites_outputs(text_agent: TextAgent) -> None:
    def shout(ctx: PredictContext) -> None:
        assert ctx.results is not None
        ctx.results[0].text = ctx.results[0].text.upper()  # type: ignore[attr-defined]
        ctx.results[1] = "word9"  # type: ignore[call-overload]

    outputs = text_agent.generate_batch([[1, 5, 6, 7]] * 2, on_predict_end=shout, **SETTINGS)
    assert [output.text for output in outputs.values()] == ["WORD56 WORD51 WORD83 WORD51", "word9"]


def test_a_failing_start_hook_fails_the_batch_after_error_and_end(text_agent: TextAgent, recorder: Recorder) -> None:
    error = LookupError("no")

    def fail(ctx: PredictContext) -> None:
        raise error

    with pytest.raises(LookupError) as caught:
        text_agent.generate_batch([[1]], on_predict_start=fail, hooks=recorder)
    assert caught.value is error
    assert recorder.events[1:] == [("error", error), ("end", None)]
    with pytest.warns(RuntimeWarning, match="no"):
        assert len(text_agent.generate_batch([[1]], on_predict_start=fail, hooks_raise=False, max_new_tokens=1)) == 1


def test_every_added_request_has_a_call_of_its_own(text_agent: TextAgent, running: Running, recorder: Recorder) -> None:
    with text_agent.hooks_installed(recorder), running() as manager:
        (first, second) = manager.add_requests([[1, 5, 6, 7], "word5 word6 word7"], max_new_tokens=4)
        assert manager.get_result(first).generated_tokens == GENERATED
        assert manager.get_result(second).generated_tokens == GENERATED
    assert sorted(event for event, _ in recorder.events) == ["end", "end", "start", "start"]
    first_context, second_context = recorder.contexts
    assert first_context.run_id != second_context.run_id
    assert first_context.usage == {"input_tokens": 4, "output_tokens": 4}
    assert first_context.timings.keys() == {"tokenize", "queue", "inference"}


def test_end_hooks_run_on_the_delivery_thread_with_the_callers_context(text_agent: TextAgent, running: Running) -> None:
    tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant", default="none")
    seen: list[tuple[str, str]] = []

    class Hook(BaseHook):
        def on_predict_start(self, ctx: PredictContext) -> None:
            tenant.set(tenant.get() + "!")

        def on_predict_end(self, ctx: PredictContext) -> None:
            seen.append((threading.current_thread().name, tenant.get()))

    def add(manager: Any) -> None:
        tenant.set("acme")
        manager.get_result(manager.add_request([1, 5], max_new_tokens=1))

    with text_agent.hooks_installed(Hook()), running() as manager:
        contextvars.copy_context().run(add, manager)
    assert seen == [("laya-text-delivery", "acme!")]


def test_an_added_request_may_be_skipped_and_rewritten(text_agent: TextAgent, running: Running) -> None:
    class Hook(BaseHook):
        def on_predict_start(self, ctx: PredictContext) -> None:
            if ctx.states == ["cached"]:
                ctx.skip(["word8"])  # type: ignore[list-item]
            else:
                ctx.states = [[1, 5, 6, 7]]

        def on_predict_end(self, ctx: PredictContext) -> None:
            assert ctx.results is not None
            ctx.results = [f"{ctx.results[0].text} word4"]  # type: ignore[attr-defined, list-item]

    with text_agent.hooks_installed(Hook()), running() as manager:
        skipped, rewritten = manager.add_request("cached"), manager.add_request("word9", max_new_tokens=1)
        assert manager.get_result(skipped).text == "word8 word4"
        output = manager.get_result(rewritten)
        assert (output.text, output.prompt_ids) == ("word56 word4", [1, 5, 6, 7])


def test_a_failing_start_hook_refuses_the_request(text_agent: TextAgent, running: Running, recorder: Recorder) -> None:
    class Failing(BaseHook):
        def on_predict_start(self, ctx: PredictContext) -> None:
            raise PermissionError("not this one")

    with text_agent.hooks_installed(recorder, Failing()), running() as manager:
        with pytest.raises(PermissionError, match="not this one"):
            manager.add_request([1, 5], request_id="a")
        assert manager.get_result("a") is None
    assert [event for event, _ in recorder.events] == ["start", "error", "end"]


def test_a_prompt_that_cannot_be_read_ends_its_call(
    text_agent: TextAgent, running: Running, recorder: Recorder
) -> None:
    with text_agent.hooks_installed(recorder), running() as manager:
        for prompt, options in [([], {}), ([1, 5], {"max_new_tokens": 5000})]:
            recorder.events.clear()
            with pytest.raises(ValueError, match=r"prompt"):
                manager.add_request(prompt, request_id="a", **options)
            assert [event for event, _ in recorder.events] == ["start", "error", "end"]


def test_a_failing_end_hook_fails_its_request_alone(text_agent: TextAgent, running: Running) -> None:
    class Failing(BaseHook):
        def on_predict_end(self, ctx: PredictContext) -> None:
            if ctx.states == [[1, 5]]:
                raise LookupError("lost")

    with text_agent.hooks_installed(Failing()), running() as manager:
        bad, good = manager.add_requests([[1, 5], [1, 5, 6, 7]], max_new_tokens=4)
        assert manager.get_result(bad).error == "LookupError: lost"
        assert manager.get_result(good).generated_tokens == GENERATED


def test_a_cancelled_request_ends_with_an_error_event(
    text_agent: TextAgent, running: Running, recorder: Recorder
) -> None:
    with text_agent.hooks_installed(recorder), running() as manager, manager.pause():
        manager.add_request([1, 5], request_id="a")
        manager.cancel_request("a")
    assert [event for event, _ in recorder.events] == ["start", "error", "end"]
    assert isinstance(recorder.events[1][1], RequestCancelled)


def test_default_hooks_run_too(text_agent: TextAgent, recorder: Recorder) -> None:
    from laya_hooks import add_default_hook

    add_default_hook(recorder)
    outputs = text_agent.generate_batch([[1, 5, 6, 7]], **SETTINGS)
    assert recorder.events == [("start", [[1, 5, 6, 7]]), ("end", [GENERATED])]
    assert isinstance(outputs["req_0"], TextOutput)
