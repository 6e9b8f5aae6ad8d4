"""Real hooks on real runtimes, doing and reporting what the reference model describes."""

from __future__ import annotations

import asyncio
import re
import threading
import warnings
from asyncio import CancelledError
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

import attrs

from laya_hooks import AsyncHook, PredictContext, hookimpl
from laya_hooks.dispatch import _BoundedCall
from laya_hooks.testing import made_up_answer

from . import reference

T = TypeVar("T")

FATAL: Final[dict[str, type[BaseException]]] = {
    "KeyboardInterrupt": KeyboardInterrupt,
    "SystemExit": SystemExit,
    "CancelledError": CancelledError,
}
QUESTIONS: Final[dict[str, dict[str, Any]]] = {
    "one": {"urgent": {"type": "noul", "instructions": "Is it urgent?"}},
    "two": {"angry": {"type": "noul", "instructions": "Is the writer angry?"}},
}
NEVER_NEEDED_SECONDS: Final = 600.0


_caller: Final[ContextVar[int]] = ContextVar("caller")


class HookError(Exception):
    """Raised by a scripted hook."""


@attrs.frozen
class Outcome:
    """What the caller of a call got: the error and all that hangs on it, or where each result came from."""

    error: str | None
    chained: frozenset[str]
    results: tuple[str, ...]


def answer_or_fail(state: Any, questions: Mapping[str, Any]) -> dict[str, Any]:
    """Answer as a fake agent does, except for states that ask for a failure."""
    if isinstance(state, str) and state.startswith("fail"):
        raise HookError("inference")
    return made_up_answer(state, questions)


class Stage:
    """Real runtimes with scripted hooks, and the record of what the hooks saw."""

    def __init__(self, world: reference.World, agent: Any, failing_state: Any) -> None:
        self.world = world
        self.agent = agent
        self.failing_state = failing_state
        self.trace: list[tuple[Any, ...]] = []
        self.warnings: list[str] = []
        self._calls = 0
        self.loose_threads = threading.Event()  # set at the end, lets hooks that overran end too
        self._hooks: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._blocks: defaultdict[int, list[AbstractContextManager[Any]]] = defaultdict(list)

    def real(self, hook: reference.Hook) -> Any:
        """The real hook of a scripted one, always the same object."""
        if hook.name not in self._hooks:
            made: Any = ScriptedHook(self, hook)
            if any(act.asynchronous for act in hook.acts.values()) and hook.name.endswith("0"):
                made = AsyncHook(made)
            self._hooks[hook.name] = made
            self._names[id(made)] = hook.name
        return self._hooks[hook.name]

    def reals(self, hooks: Iterable[reference.Hook]) -> list[Any]:
        """The real hooks of several."""
        return [self.real(hook) for hook in hooks]

    def names(self, hooks: Iterable[Any]) -> list[str]:
        """The names of real hooks."""
        return [self._names[id(hook)] for hook in hooks]

    def outcome(self, level: str, call: Callable[[], Sequence[Mapping[str, Any]]], in_loop: bool) -> Outcome:
        """Run `call`, inside a running event loop if asked to, and say what came of it."""

        def attempt() -> Outcome:
            try:
                results = call()
            except (Exception, *FATAL.values()) as error:
                return Outcome(label(error), frozenset(label(link) for link in context_chain(error)), ())
            return Outcome(None, frozenset(), tuple(origin(result, level) for result in results))

        async def attempt_in_loop() -> Outcome:
            return attempt()

        self._calls += 1
        _caller.set(self._calls)

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcome = asyncio.run(attempt_in_loop()) if in_loop else attempt()
        self.warnings += [label_of_warning(str(warning.message)) for warning in caught]
        return outcome

    def open_block(self, runtime: Any, hooks: Sequence[Any]) -> None:
        """Enter `hooks_installed` in a thread of its own."""
        block = runtime.hooks_installed(*hooks)
        self._blocks[id(runtime)].append(block)
        in_another_thread(block.__enter__)

    def close_block(self, runtime: Any) -> None:
        """Leave the oldest block of a runtime in yet another thread."""
        if self._blocks[id(runtime)]:
            block = self._blocks[id(runtime)].pop(0)
            in_another_thread(lambda: block.__exit__(None, None, None))

    def saw(self, name: str, event: str, ctx: PredictContext) -> None:
        """Write down what a hook can read, in the words of the model."""
        level = level_of(ctx)
        subject = tuple(ctx.states) if ctx.states else (ctx.model,)
        results = None if ctx.results is None else origin(ctx.results[0], level)
        error = None if ctx.error is None else label(ctx.error)
        timed = ctx.elapsed_ms is not None
        assert _caller.get() == self._calls, "the hook runs outside of its caller's context"
        self.trace.append((name, event, level, subject, results, error, ctx.usage is not None, timed))

    def perform(self, name: str, event: str, act: reference.Act, ctx: PredictContext) -> None:
        """Do what the script says; see the model's `_perform`."""
        if "nested" in ctx.questions:
            return
        runtime = ctx.agent if ctx.router is None else ctx.router
        match act.kind:
            case "raise":
                raise FATAL.get(act.fatal or "", HookError)(f"{name}.{event}")
            case "overrun":
                overrun(self.loose_threads)
            case "skip" if event == "on_predict_start":
                ctx.skip([{"skipped by": level_of(ctx), "usage": {"input_tokens": 1}} for _ in ctx.states])
            case "ask":
                self._ask(act.failing)
            case "install" if len(runtime.hooks) < reference.MOST_INSTALLED:
                in_another_thread(lambda: runtime.add_hook(self.real(self.world.spare)))
            case "remove":
                in_another_thread(lambda: runtime.remove_hook(self.real(self.world.spare)))
            case "open" if len(runtime.hooks) < reference.MOST_INSTALLED:
                self.open_block(runtime, [self.real(self.world.spare), self._hooks[name]])
            case "close":
                self.close_block(runtime)

    def _ask(self, failing: bool) -> None:
        nested = {"nested": QUESTIONS["one"]["urgent"]}
        self.agent.predict_batch([self.failing_state if failing else "nested"], nested)


class ScriptedHook:
    """Implements the events of its script: records, then acts."""

    def __init__(self, stage: Stage, hook: reference.Hook) -> None:
        for event, act in hook.acts.items():
            setattr(self, event, _method(stage, hook.name, event, act))

    def __repr__(self) -> str:
        return "ScriptedHook()"


def _method(stage: Stage, name: str, event: str, act: reference.Act) -> Callable[[PredictContext], Any]:
    def method(ctx: PredictContext) -> None:
        stage.saw(name, event, ctx)
        stage.perform(name, event, act, ctx)

    async def coroutine_method(ctx: PredictContext) -> None:
        await asyncio.sleep(0)
        method(ctx)

    made: Any = coroutine_method if act.asynchronous else method
    made.__qualname__ = f"{name}.{event}"
    return hookimpl(tryfirst=act.marker == "tryfirst", trylast=act.marker == "trylast")(made)


def level_of(ctx: PredictContext) -> str:
    """Whether a context belongs to an agent's call or to a router's."""
    return "agent" if ctx.router is None else "router"


def origin(result: Mapping[str, Any], level: str) -> str:
    """Where a result came from, as seen from an agent or from a router."""
    return "skipped" if result.get("skipped by") == level else "inferred"


def label(error: BaseException) -> str:
    """Name an error as the model does."""
    return _label(type(error).__name__, str(error))


def label_of_warning(message: str) -> str:
    """The label of the error that a warning is about."""
    kind, text = re.fullmatch(
        r"hook \S+ failed in \w+ and is ignored \(hooks_raise=False\): (\w+): (.*)", message
    ).groups()
    return _label(kind, text)


def _label(kind: str, text: str) -> str:
    if kind in (HookError.__name__, *FATAL):
        return text
    if kind == "TimeoutError":
        return "timeout of " + re.match(r"hook (\S+) took longer", text)[1]
    if kind == "TypeError" and "state" in text:
        return "inference"  # a real agent refuses a state that is None
    return f"{kind}: {text}"


def context_chain(error: BaseException) -> Iterator[BaseException]:
    """The error and its contexts; a cycle fails the test."""
    seen: list[BaseException] = []
    link: BaseException | None = error
    while link is not None:
        assert all(link is not earlier for earlier in seen), "the context chain has a cycle"
        seen.append(link)
        yield link
        link = link.__context__


def in_another_thread(work: Callable[[], object]) -> None:
    """Run `work` in a new thread and wait for it."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


_bounded: Final = threading.local()


class _PromptedEvent:
    """The `done` of a bounded call: its time is up when the hook says so, and never by the clock."""

    def __init__(self) -> None:
        self._either = threading.Event()
        self._done = False

    def set(self) -> None:
        self._done = True
        self._either.set()

    def wait(self, timeout: float) -> bool:
        self._either.wait(NEVER_NEEDED_SECONDS)
        return self._done

    def time_is_up(self) -> None:
        self._either.set()


@contextmanager
def prompted_timeouts() -> Iterator[None]:
    """Within the block a hook call under a timeout overruns exactly if its hook calls `overrun`."""
    init, run = _BoundedCall.__init__, _BoundedCall.run

    def prompted_init(self: Any, *arguments: Any) -> None:
        init(self, *arguments)
        self._done = _PromptedEvent()

    def prompted_run(self: Any) -> None:
        _bounded.call = self
        run(self)

    _BoundedCall.__init__, _BoundedCall.run = prompted_init, prompted_run  # type: ignore[method-assign]
    try:
        yield
    finally:
        _BoundedCall.__init__, _BoundedCall.run = init, run  # type: ignore[method-assign]


def overrun(until: threading.Event) -> None:
    """In a hook call under a timeout: let its time be up, and go on until `until`. Elsewhere: nothing."""
    call = getattr(_bounded, "call", None)
    if call is not None:
        call._done.time_is_up()
        until.wait(NEVER_NEEDED_SECONDS)
