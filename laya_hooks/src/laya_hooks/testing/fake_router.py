"""A router without models: the real registry and lifecycle around fake agents."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..chain import HookChain
from ..context import PredictContext, new_run_id
from ..defaults import defaults_already_run
from ..failures import Failures
from ..lifecycle import HookedCall, fail_all, run_call, succeed_all
from ..registry import HookRegistry
from .fake_agent import FakeAgent


class FakeRouter(HookRegistry):
    """A `RouterLike` over fake agents: the chosen model is `model=`, else the default.

    Args:
        build: makes the agent of a name; a `FakeAgent` by default.
        names: the names it knows; the first is the default.
        max_loaded: how many agents stay.
        hook_arguments: `hooks=`, `on_predict_start=`, … of every router.
    """

    def __init__(
        self,
        build: Callable[[str], Any] = FakeAgent,
        names: Sequence[str] = ("english", "multilingual"),
        max_loaded: int = 2,
        **hook_arguments: Any,
    ) -> None:
        self._build = build
        self._names = tuple(names)
        self.default = self._names[0]
        self.max_loaded = max_loaded
        self._agents: dict[str, Any] = {}  # oldest use first
        self._lock = threading.RLock()
        self._init_hooks(**hook_arguments)

    @property
    def loaded(self) -> list[str]:
        """The names of the agents in memory, the least recently used first."""
        with self._lock:
            return list(self._agents)

    def agents(self) -> dict[str, Any]:
        """Return the agents in memory by name."""
        with self._lock:
            return dict(self._agents)

    def registered(self) -> dict[str, Any]:
        """Return the known names."""
        return {name: name for name in self._names}

    def describe(self, name: str) -> str | None:
        """No name has a description."""
        return None

    def attach(self, name: str, agent: Any) -> None:
        """Take in an agent that exists; no event."""
        with self._lock:
            self._agents[name] = agent

    def load(self, name: str) -> Any:
        """Return the agent of `name`, built on first use; `on_evict` and `on_load` follow a build."""
        return self._load(name, self.hook_chain())

    def preload(self, names: Sequence[str] | None = None) -> None:
        """Load several."""
        for name in names or self._names:
            self.load(name)

    def unload(self, name: str | None = None) -> None:
        """Free one agent or all of them; `on_evict` follows each."""
        chain = self.hook_chain()
        with self._lock:
            freed = [known for known in self._agents if name in (None, known)]
            for known in freed:
                del self._agents[known]
        failures = Failures()
        for known in freed:
            failures.attempt(chain.dispatch, "on_evict", PredictContext([], {}, model=known, router=self))
        failures.raise_if_any()

    def route(
        self,
        state: Any,
        questions: Mapping[str, Any] | None = None,
        model: str | None = None,
        task: str | None = None,
        lang: str | None = None,
        lang_guess: Any = None,
        hooks: object = None,
        hooks_raise: bool | None = None,
    ) -> dict[str, Any]:
        """Decide, and let `on_route` replace the decision; nothing is loaded."""
        chain = self.hook_chain(hooks, hooks_raise=hooks_raise)
        return self._routed(chain, state, questions, model, new_run_id())

    def route_batch(
        self,
        requests: Sequence[Mapping[str, Any]],
        hooks: object = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
    ) -> list[dict[str, Any]]:
        """Decide for each request."""
        chain = self.hook_chain(hooks, hooks_raise=hooks_raise, hooks_timeout=hooks_timeout)
        return [self._routed_request(chain, request, new_run_id()) for request in requests]

    def predict(
        self,
        state: Any,
        questions: Mapping[str, Any],
        model: str | None = None,
        task: str | None = None,
        lang: str | None = None,
        lang_guess: Any = None,
        hooks: object = None,
        on_predict_start: Any = None,
        on_predict_end: Any = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
        max_len: int | None = None,
        head_max_len: int | None = None,
        min_confidence: Any = None,
    ) -> dict[str, Any]:
        """Route, load, and answer about one state."""
        chain = self.hook_chain(hooks, on_predict_start, on_predict_end, hooks_raise, hooks_timeout)
        run_id = new_run_id()
        decision = self._routed(chain, state, questions, model, run_id)
        agent = self._load(decision["model"], chain)
        ctx = self._context(state, questions, run_id, decision, agent, max_len, head_max_len)

        def infer(ctx: PredictContext) -> list[dict[str, Any]]:
            with defaults_already_run():
                result = agent.system_one(
                    ctx.states[0], ctx.questions, max_len=ctx.max_len, head_max_len=ctx.head_max_len
                )
            return [{**result, "routing": ctx.decision}]

        return run_call(chain, ctx, infer, settle_skipped=_add_routing)[0]

    system_one = predict

    def predict_long(
        self, state: Any, questions: Mapping[str, Any], model: str | None = None, **arguments: Any
    ) -> dict[str, Any]:
        """Route, load, and answer about a document."""
        scan = {key: arguments.pop(key) for key in ("window", "stride", "aggregate") if key in arguments}
        chain = self.hook_chain(**arguments)
        run_id = new_run_id()
        decision = self._routed(chain, state, questions, model, run_id)
        agent = self._load(decision["model"], chain)
        ctx = self._context(state, questions, run_id, decision, agent)

        def infer(ctx: PredictContext) -> list[dict[str, Any]]:
            with defaults_already_run():
                return [{**agent.predict_long(ctx.states[0], ctx.questions, **scan), "routing": ctx.decision}]

        return run_call(chain, ctx, infer, settle_skipped=_add_routing)[0]

    def predict_batch(
        self,
        requests: Sequence[Mapping[str, Any]],
        batch_size: int | None = None,
        hooks_timeout: float | None = None,
        min_confidence: Any = None,
        sort_by_length: bool = False,
        hooks: object = None,
        on_predict_start: Any = None,
        on_predict_end: Any = None,
        hooks_raise: bool | None = None,
    ) -> list[dict[str, Any]]:
        """Answer each request as `predict` would, one shared pass per checkpoint and equal questions."""
        chain = self.hook_chain(hooks, on_predict_start, on_predict_end, hooks_raise, hooks_timeout)
        run_ids = [new_run_id() for _ in requests]
        decisions = [
            self._routed_request(chain, request, run_id) for request, run_id in zip(requests, run_ids, strict=True)
        ]
        contexts: list[PredictContext | None] = [None] * len(requests)
        for name in dict.fromkeys(decision["model"] for decision in decisions):
            agent = self._load(name, chain)
            group: list[PredictContext] = []
            for index, request in enumerate(requests):
                if decisions[index]["model"] != name:
                    continue
                ctx = self._context(
                    request["state"],
                    request["questions"],
                    run_ids[index],
                    decisions[index],
                    agent,
                    request.get("max_len"),
                    request.get("head_max_len"),
                )
                contexts[index] = ctx
                group.append(ctx)
            _run_group(chain, agent, group)
        return [ctx.results[0] for ctx in contexts if ctx is not None and ctx.results is not None]

    def _routed_request(self, chain: HookChain, request: Mapping[str, Any], run_id: str) -> dict[str, Any]:
        return self._routed(chain, request["state"], request["questions"], request.get("model"), run_id)

    def _routed(
        self,
        chain: HookChain,
        state: Any,
        questions: Mapping[str, Any] | None,
        model: str | None,
        run_id: str,
    ) -> dict[str, Any]:
        decision = {"model": model or self.default, "reason": "asked for" if model else "the default"}
        ctx = PredictContext([state], dict(questions or {}), run_id=run_id, decision=decision, router=self)
        chain.dispatch("on_route", ctx)
        return ctx.decision or decision

    def _load(self, name: str, chain: HookChain) -> Any:
        with self._lock:
            resident = self._agents.pop(name, None)
            agent = self._build(name) if resident is None else resident
            self._agents[name] = agent
            evicted = list(self._agents)[: -self.max_loaded] if resident is None else []
            for old in evicted:
                del self._agents[old]
        failures = Failures()
        for old in evicted:
            failures.attempt(chain.dispatch, "on_evict", PredictContext([], {}, model=old, router=self))
        if resident is None:
            built = PredictContext([], {}, model=name, agent=agent, router=self)
            failures.attempt(chain.dispatch, "on_load", built)
        failures.raise_if_any()
        return agent

    def _context(
        self,
        state: Any,
        questions: Mapping[str, Any],
        run_id: str,
        decision: dict[str, Any],
        agent: Any,
        max_len: int | None = None,
        head_max_len: int | None = None,
    ) -> PredictContext:
        return PredictContext(
            [state],
            dict(questions),
            run_id=run_id,
            decision=decision,
            model=decision["model"],
            agent=agent,
            router=self,
            max_len=max_len,
            head_max_len=head_max_len,
        )


def _run_group(chain: HookChain, agent: Any, group: list[PredictContext]) -> None:
    """Run the requests of one checkpoint: all starts, the shared passes, all ends in reverse."""
    calls: list[HookedCall] = []
    failure: BaseException | None = None
    try:
        for ctx in group:
            call = HookedCall(chain, ctx)
            calls.append(call)
            call.start()
        for call in calls:
            if call.skipped:
                _add_routing(call.ctx)
        _infer_group(agent, [call.ctx for call in calls if not call.skipped])
    except BaseException as error:
        failure = fail_all(calls, error)
        if failure is error:
            raise
    if failure is not None:
        raise failure
    succeed_all(calls)


def _infer_group(agent: Any, contexts: list[PredictContext]) -> None:
    passes: dict[object, list[PredictContext]] = {}
    for ctx in contexts:
        key = (json.dumps(ctx.questions, default=repr), ctx.max_len, ctx.head_max_len)
        passes.setdefault(key, []).append(ctx)
    for members in passes.values():
        first = members[0]
        with defaults_already_run():
            results = agent.predict_batch(
                [ctx.states[0] for ctx in members],
                first.questions,
                max_len=first.max_len,
                head_max_len=first.head_max_len,
            )
        for ctx, result in zip(members, results, strict=True):
            ctx.results = [{**result, "routing": ctx.decision}]


def _add_routing(ctx: PredictContext) -> None:
    if ctx.results is None or len(ctx.results) != 1:
        raise ValueError("a start hook of a router skips with one result, for its one state")
    for result in ctx.results:
        result.setdefault("routing", ctx.decision)
