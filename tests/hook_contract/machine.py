"""The state machine that drives real runtimes and the reference model side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import laya_hooks
from laya_hooks import hookimpl
from laya_hooks.providers import load_agent
from laya_hooks.testing import FakeAgent, FakeRouter, plugged

from .reference import Act, Chain, Failed, Hook, Installed, Request, World
from .scripted import NEVER_NEEDED_SECONDS, QUESTIONS, Outcome, Stage, answer_or_fail, prompted_timeouts

CHECKPOINTS = ("english", "multilingual")
PREDICT_EVENTS = ("on_predict_start", "on_predict_end", "on_error")
ROUTER_EVENTS = (*PREDICT_EVENTS, "on_route", "on_load", "on_evict")

acts = st.one_of(
    st.just(Act()),
    st.builds(
        Act,
        kind=st.sampled_from(
            ["raise", "raise", "raise", "skip", "ask", "install", "remove", "open", "close", "overrun"]
        ),
        fatal=st.sampled_from([None, None, "KeyboardInterrupt", "SystemExit", "CancelledError"]),
        failing=st.booleans(),
        asynchronous=st.sampled_from([False, False, False, True]),
        marker=st.sampled_from([None, None, "tryfirst", "trylast"]),
    ),
)
scripts = st.dictionaries(st.sampled_from(ROUTER_EVENTS), acts, min_size=1, max_size=4)
few_scripts = st.lists(scripts, max_size=2)
requests = st.tuples(
    st.sampled_from(CHECKPOINTS), st.sampled_from(sorted(QUESTIONS)), st.sampled_from([False, False, False, True])
)


class HookContract(RuleBasedStateMachine):
    """Every rule does one thing to both sides; every call is compared in full."""

    make_agent: ClassVar[Callable[..., Any]] = staticmethod(lambda **hooks: FakeAgent(answer=answer_or_fail, **hooks))
    make_router: ClassVar[Callable[..., Any]] = staticmethod(lambda **settings: FakeRouter(load_agent, **settings))
    failing_state: ClassVar[Any] = "fail"

    def __init__(self) -> None:
        super().__init__()
        self._resources = ExitStack()
        self._hooks = 0
        self._states = 0
        self._in_loop = False

    @initialize(plugins=st.lists(scripts, max_size=3), inner=st.tuples(few_scripts, few_scripts), spare=scripts)
    def begin(self, plugins: list[Any], inner: tuple[Any, Any], spare: Any) -> None:
        inner_hooks = {name: self.hooks(scripts) for name, scripts in zip(CHECKPOINTS, inner, strict=True)}
        plugin_hooks, (spare_hook,) = self.hooks(plugins), self.hooks([spare])
        self.world = World(plugin_hooks, inner_hooks, spare_hook, self.failing_state)
        self.stage = Stage(self.world, None, self.failing_state)
        self._resources.callback(self.stage.loose_threads.set)
        self._resources.enter_context(prompted_timeouts())
        self._resources.enter_context(plugged(*self.stage.reals(plugin_hooks), _Provider(self._build)))
        self.stage.agent = self.make_agent()
        self.agent = self.stage.agent
        self.router = self.make_router(max_loaded=1)

    @rule(scripts=few_scripts)
    def set_defaults(self, scripts: list[Any]) -> None:
        added = self.hooks(scripts)
        self.world.plugins_on, self.world.added = False, added
        laya_hooks.set_default_hooks(self.stage.reals(added))

    @rule(script=scripts)
    def add_default(self, script: Any) -> None:
        added = self.hooks([script])
        self.world.added += added
        laya_hooks.add_default_hook(self.stage.real(added[0]))

    @rule()
    def clear_defaults(self) -> None:
        self.world.plugins_on, self.world.added = False, []
        laya_hooks.clear_default_hooks()

    @rule()
    def restore_plugins(self) -> None:
        self.world.plugins_on = True
        laya_hooks.restore_plugin_hooks()

    @rule(on_router=st.booleans(), scripts=few_scripts, twice=st.booleans())
    def install(self, on_router: bool, scripts: list[Any], twice: bool) -> None:
        installed, runtime = self.runtime(on_router)
        hooks = self.hooks(scripts) * (2 if twice else 1)
        installed.hooks += hooks
        runtime.add_hook(self.stage.reals(hooks))

    @rule(on_router=st.booleans(), place=st.integers(0, 9))
    def remove(self, on_router: bool, place: int) -> None:
        installed, runtime = self.runtime(on_router)
        if installed.hooks:
            hook = installed.hooks[place % len(installed.hooks)]
            installed.remove(hook)
            assert runtime.remove_hook(self.stage.real(hook))
        assert not runtime.remove_hook(object())

    @rule(on_router=st.booleans(), scripts=few_scripts, known=st.integers(0, 9))
    def open_block(self, on_router: bool, scripts: list[Any], known: int) -> None:
        installed, runtime = self.runtime(on_router)
        hooks = [*self.hooks(scripts), *installed.hooks[known:][:1]]
        installed.open(hooks)
        self.stage.open_block(runtime, self.stage.reals(hooks))

    @rule(on_router=st.booleans())
    def close_block(self, on_router: bool) -> None:
        installed, runtime = self.runtime(on_router)
        installed.close()
        self.stage.close_block(runtime)

    @rule()
    def enter_or_leave_a_loop(self) -> None:
        self._in_loop = not self._in_loop

    @rule(count=st.integers(1, 3), failing=st.booleans(), scripts=few_scripts, settings=st.data())
    def predict(self, count: int, failing: bool, scripts: list[Any], settings: Any) -> None:
        states = [*(self.state() for _ in range(count)), *([self.failing_state] if failing else [])]
        chain, arguments = self.per_call(self.world.agent, scripts, settings)
        self.compare(
            "agent",
            lambda: [self.world.predict(states, chain, failing)] * len(states),
            lambda: self.agent.predict_batch(states, QUESTIONS["one"], **arguments),
        )

    @rule(request=requests, scripts=few_scripts, settings=st.data())
    def route_and_predict(self, request: Any, scripts: list[Any], settings: Any) -> None:
        asked = self.request(*request)
        chain, arguments = self.per_call(self.world.router, scripts, settings)
        self.compare(
            "router",
            lambda: [self.world.route_and_predict(asked, chain)],
            lambda: [self.router.predict(asked.state, QUESTIONS[asked.questions], asked.model, **arguments)],
        )

    @rule(batch=st.lists(requests, min_size=1, max_size=4), scripts=few_scripts, settings=st.data())
    def route_and_predict_batch(self, batch: list[Any], scripts: list[Any], settings: Any) -> None:
        asked = [self.request(*request) for request in batch]
        chain, arguments = self.per_call(self.world.router, scripts, settings)
        sent = [
            {"state": request.state, "questions": QUESTIONS[request.questions], "model": request.model}
            for request in asked
        ]
        self.compare(
            "router",
            lambda: self.in_request_order(asked, self.world.route_and_predict_batch(asked, chain)),
            lambda: self.router.predict_batch(sent, **arguments),
        )

    @precondition(lambda self: self.world.loaded)
    @rule()
    def unload(self) -> None:
        name = next(iter(self.world.loaded))

        def in_the_model() -> list[Any]:
            self.world.unload(name)
            return []

        self.compare("router", in_the_model, lambda: self.router.unload(name) or [])

    def teardown(self) -> None:
        self._resources.close()

    def hooks(self, scripts: Sequence[Mapping[str, Act]]) -> list[Hook]:
        """New hooks with new names."""
        made = [Hook(f"h{self._hooks + place}", dict(script)) for place, script in enumerate(scripts)]
        self._hooks += len(made)
        return made

    def state(self) -> str:
        self._states += 1
        return f"state {self._states}"

    def request(self, model: str, questions: str, failing: bool) -> Request:
        state = self.state()
        return Request(f"fail {state}" if failing else state, model, questions, failing)

    def runtime(self, on_router: bool) -> tuple[Installed, Any]:
        return (self.world.router, self.router) if on_router else (self.world.agent, self.agent)

    def per_call(self, installed: Installed, scripts: list[Any], settings: Any) -> tuple[Chain, dict[str, Any]]:
        hooks = self.hooks(scripts)
        raise_errors = settings.draw(st.sampled_from([None, True, False]), label="hooks_raise")
        timeout = settings.draw(st.sampled_from([False, False, True]), label="under a timeout")
        arguments = {
            "hooks": self.stage.reals(hooks),
            "hooks_raise": raise_errors,
            "hooks_timeout": NEVER_NEEDED_SECONDS if timeout else None,
        }
        return self.world.chain(installed, hooks, raise_errors, timeout), arguments

    def compare(self, level: str, model: Callable[[], list[Any]], real: Callable[[], Any]) -> None:
        """Run a call on both sides, and compare what hooks saw, what the caller got and what is installed."""
        got = self.stage.outcome(level, real, self._in_loop)
        assert got == _expected(model)
        assert self.stage.trace == self.world.trace
        assert self.stage.warnings == self.world.warnings
        for on_router in (False, True):
            installed, runtime = self.runtime(on_router)
            assert self.stage.names(runtime.hooks) == [hook.name for hook in installed.hooks]
        self._compare_the_agent_in_memory()

    def _compare_the_agent_in_memory(self) -> None:
        assert self.router.loaded == list(self.world.loaded)
        defaults = [*(self.world.plugins if self.world.plugins_on else []), *self.world.added]
        assert self.stage.names(laya_hooks.default_hooks()) == [hook.name for hook in defaults]

    @staticmethod
    def in_request_order(requests: list[Request], calls: list[Any]) -> list[Any]:
        by_state = {call.subject[0]: call for call in calls}
        return [by_state[request.state] for request in requests]

    def _build(self, name: str) -> FakeAgent:
        return FakeAgent(name, answer_or_fail, hooks=self.stage.reals(self.world.inner[name]))


def _expected(model: Callable[[], list[Any]]) -> Outcome:
    try:
        calls = model()
    except Failed as failed:
        return Outcome(failed.label, frozenset(failed.labels()), ())
    return Outcome(None, frozenset(), tuple(call.results for call in calls))


class _Provider:
    """Loads the checkpoints of the router under test as fake agents."""

    def __init__(self, build: Callable[[str], FakeAgent]) -> None:
        self._build = build

    @hookimpl(tryfirst=True)
    def laya_load_agent(self, source: Any) -> FakeAgent:
        return self._build(str(source))
