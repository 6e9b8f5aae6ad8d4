"""The order of hooks as plain Python: the rules without threads, locks or contexts.

A hook is a name and what it does in each event it implements. Running a call writes what each hook sees into
`World.trace`, the ignored errors into `World.warnings`, and raises `Failed` if the caller gets an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import attrs

Event: TypeAlias = str
Kind: TypeAlias = Literal["pass", "raise", "skip", "ask", "install", "remove", "open", "close", "overrun"]

MOST_INSTALLED = 12
"""A script installs nothing beyond this: a hook that installs itself would double the list with every event."""


@attrs.frozen
class Act:
    """What a hook does in one event. `fatal` names the error class of a `raise` that is no Exception."""

    kind: Kind = "pass"
    fatal: str | None = None
    failing: bool = False  # of an `ask`
    asynchronous: bool = False
    marker: Literal["tryfirst", "trylast"] | None = None  # counts for plugins alone


@attrs.frozen(eq=False)
class Hook:
    """A hook by name and script."""

    name: str
    acts: dict[Event, Act]


class Failed(Exception):
    """An error by its label, and those that hang on it."""

    def __init__(self, label: str, fatal: bool = False) -> None:
        super().__init__(label)
        self.label = label
        self.fatal = fatal
        self.others: list[Failed] = []

    def labels(self) -> set[str]:
        """The label of this error and of everything that hangs on it."""
        found: dict[int, Failed] = {}
        waiting = [self]
        while waiting:
            error = waiting.pop()
            if found.setdefault(id(error), error) is error:
                waiting += [other for other in error.others if id(other) not in found]
        return {error.label for error in found.values()}


def worse(first: Failed | None, later: Failed) -> Failed:
    """The first error is what the caller sees, unless a later one is fatal; the other hangs on it."""
    if first is None:
        return later
    seen, hung = (later, first) if later.fatal and not first.fatal else (first, later)
    seen.others.append(hung)
    return seen


class Request(NamedTuple):
    """One request to the router."""

    state: Any
    model: str
    questions: str = "one"
    failing: bool = False


@attrs.define(eq=False)
class Call:
    """What the context of a call says."""

    level: Literal["agent", "router"]
    subject: tuple[Any, ...]
    nested: bool = False
    results: Literal["skipped", "inferred"] | None = None
    error: str | None = None
    ended: bool = False

    def seen(self) -> tuple[Any, ...]:
        """What a hook can read at this moment; usage and elapsed time are there from the end event on."""
        has_usage = self.ended and self.results is not None
        return self.level, self.subject, self.results, self.error, has_usage, self.ended


@attrs.frozen(eq=False)
class Chain:
    """The snapshot of one call: plugins, code-added defaults, installed, per-call."""

    plugins: Sequence[Hook]
    others: Sequence[Hook]
    raise_errors: bool = True
    timeout: bool = False

    def order(self, event: Event) -> list[Hook]:
        """Markers reorder plugins among themselves, per event; everything else runs as listed."""
        rank = {"tryfirst": 0, None: 1, "trylast": 2}
        plugins = [hook for hook in self.plugins if event in hook.acts]
        return [*sorted(plugins, key=lambda hook: rank[hook.acts[event].marker]), *self.others]


@attrs.define(eq=False)
class Installed:
    """The hooks of one runtime, and the blocks open on it."""

    hooks: list[Hook] = attrs.field(factory=list)
    blocks: list[list[Hook]] = attrs.field(factory=list)
    raise_errors: bool = True

    def remove(self, hook: Hook) -> None:
        """The newest occurrence goes."""
        for place in reversed(range(len(self.hooks))):
            if self.hooks[place] is hook:
                del self.hooks[place]
                return

    def open(self, hooks: list[Hook]) -> None:
        self.hooks.extend(hooks)
        self.blocks.append(hooks)

    def close(self) -> None:
        """Blocks of several threads end in any order; here the oldest ends first."""
        if self.blocks:
            for hook in reversed(self.blocks.pop(0)):
                self.remove(hook)


@attrs.define(eq=False)
class World:
    """An agent, and a router over two checkpoints of which one stays in memory."""

    plugins: list[Hook]
    inner: dict[str, list[Hook]]  # the hooks each checkpoint's agent is built with
    spare: Hook  # what hooks install and remove in mid-call
    failing_state: Any = "fail"  # what makes the agent's inference fail
    agent: Installed = attrs.field(factory=Installed)
    router: Installed = attrs.field(factory=Installed)
    plugins_on: bool = True
    added: list[Hook] = attrs.field(factory=list)
    loaded: dict[str, Installed] = attrs.field(factory=dict)
    trace: list[tuple[Any, ...]] = attrs.field(factory=list)
    warnings: list[str] = attrs.field(factory=list)

    def chain(
        self,
        runtime: Installed,
        per_call: Iterable[Hook] = (),
        raise_errors: bool | None = None,
        timeout: bool = False,
    ) -> Chain:
        """Defaults, then installed, then per-call, as they are at this moment."""
        return Chain(
            list(self.plugins) if self.plugins_on else [],
            [*self.added, *runtime.hooks, *per_call],
            runtime.raise_errors if raise_errors is None else raise_errors,
            timeout,
        )

    def predict(self, states: Sequence[Any], chain: Chain, failing: bool = False, nested: bool = False) -> Call:
        """A call of the agent."""
        call = Call("agent", tuple(states), nested)
        self._run(chain, self.agent, call, lambda: self._infer(failing))
        return call

    def route_and_predict(self, request: Request, chain: Chain) -> Call:
        """A call of the router: its chain is around that of the checkpoint's agent, which has no defaults."""
        self._route(request.state, chain)
        self._load(request.model, chain)
        call = Call("router", (request.state,))
        self._run(chain, self.router, call, lambda: self._ask_checkpoint([request]))
        return call

    def route_and_predict_batch(self, requests: Sequence[Request], chain: Chain) -> list[Call]:
        """A batch of requests: all starts of a checkpoint, the shared passes, all ends in reverse."""
        for request in requests:
            self._route(request.state, chain)
        answered = []
        for model in dict.fromkeys(request.model for request in requests):
            self._load(model, chain)
            answered += self._run_group([request for request in requests if request.model == model], chain)
        return answered

    def unload(self, model: str) -> None:
        """Free a checkpoint."""
        if model in self.loaded:
            del self.loaded[model]
            self._dispatch("on_evict", Call("router", (model,)), self.chain(self.router), self.router)

    def _dispatch(self, event: Event, call: Call, chain: Chain, runtime: Installed) -> None:
        """Every hook that implements the event, until one raises; an ignored error is a warning."""
        for hook in chain.order(event):
            if event not in hook.acts:
                continue
            self.trace.append((hook.name, event, *call.seen()))
            try:
                self._perform(hook, event, call, chain, runtime)
            except Failed as error:
                if chain.raise_errors or error.fatal:
                    raise
                self.warnings.append(error.label)

    def _run(self, chain: Chain, runtime: Installed, call: Call, infer: Callable[[], None]) -> None:
        error: Failed | None = None
        try:
            self._dispatch("on_predict_start", call, chain, runtime)
            if call.results is None:
                infer()
                call.results = "inferred"
        except Failed as raised:
            error = raised
        self._end(chain, runtime, call, error)

    def _end(self, chain: Chain, runtime: Installed, call: Call, error: Failed | None) -> None:
        """The error event if the call failed, then the end event, whatever happens."""
        if error is not None:
            call.error = error.label
            if call.results == "inferred":
                call.results = None
            error = self._also("on_error", call, chain, runtime, error)
        call.ended = True
        error = self._also("on_predict_end", call, chain, runtime, error)
        if error is not None:
            raise error

    def _also(self, event: Event, call: Call, chain: Chain, runtime: Installed, error: Failed | None) -> Failed | None:
        try:
            self._dispatch(event, call, chain, runtime)
        except Failed as later:
            return worse(error, later)
        return error

    def _run_group(self, requests: Sequence[Request], chain: Chain) -> list[Call]:
        started: list[Call] = []
        error: Failed | None = None
        try:
            for request in requests:
                started.append(Call("router", (request.state,)))
                self._dispatch("on_predict_start", started[-1], chain, self.router)
            self._share_passes(list(zip(started, requests, strict=True)))
        except Failed as raised:
            error = raised
        outcome = error
        for call in reversed(started):
            try:
                self._end(chain, self.router, call, error)
            except Failed as later:
                if later is not error:
                    outcome = worse(outcome, later)
        if outcome is not None:
            raise outcome
        return started

    def _share_passes(self, group: Sequence[tuple[Call, Request]]) -> None:
        """One pass for requests that ask the same questions and are not answered yet."""
        waiting = [(call, request) for call, request in group if call.results is None]
        for questions in dict.fromkeys(request.questions for _, request in waiting):
            members = [(call, request) for call, request in waiting if request.questions == questions]
            self._ask_checkpoint([request for _, request in members])
            for call, _ in members:
                call.results = "inferred"

    def _ask_checkpoint(self, requests: Sequence[Request]) -> None:
        runtime = self.loaded[requests[0].model]
        call = Call("agent", tuple(request.state for request in requests))
        failing = any(request.failing for request in requests)
        self._run(Chain([], list(runtime.hooks)), runtime, call, lambda: self._infer(failing))

    def _infer(self, failing: bool) -> None:
        if failing:
            raise Failed("inference")

    def _route(self, state: Any, chain: Chain) -> None:
        self._dispatch("on_route", Call("router", (state,)), chain, self.router)

    def _load(self, model: str, chain: Chain) -> None:
        """Build what is not in memory, in the place of what is; evictions are told before the build."""
        if model in self.loaded:
            return
        evicted, self.loaded = list(self.loaded), {model: Installed(list(self.inner[model]))}
        error: Failed | None = None
        for event, name in [*(("on_evict", old) for old in evicted), ("on_load", model)]:
            error = self._also(event, Call("router", (name,)), chain, self.router, error)
        if error is not None:
            raise error

    def _perform(self, hook: Hook, event: Event, call: Call, chain: Chain, runtime: Installed) -> None:
        """What a scripted hook does; inside a call that a hook made it does nothing more."""
        act = hook.acts[event]
        if call.nested:
            return
        match act.kind:
            case "raise":
                raise Failed(f"{hook.name}.{event}", act.fatal is not None)
            case "overrun" if chain.timeout:
                raise Failed(f"timeout of {hook.name}.{event}")
            case "skip" if event == "on_predict_start":
                call.results = "skipped"
            case "ask":
                state = self.failing_state if act.failing else "nested"
                self.predict([state], self.chain(self.agent), act.failing, nested=True)
            case "install" if len(runtime.hooks) < MOST_INSTALLED:
                runtime.hooks.append(self.spare)
            case "remove":
                runtime.remove(self.spare)
            case "open" if len(runtime.hooks) < MOST_INSTALLED:
                runtime.open([self.spare, hook])
            case "close":
                runtime.close()
