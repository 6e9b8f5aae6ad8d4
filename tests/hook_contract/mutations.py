"""Ways to get the hook contract wrong, each a patch of the real machinery, for the properties to notice."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Final, TypeAlias
from unittest.mock import patch

from laya_hooks.chain import HookChain
from laya_hooks.failures import Failures, chain_context
from laya_hooks.lifecycle import HookedCall
from laya_hooks.registry import HookRegistry

Mutation: TypeAlias = Callable[[], AbstractContextManager[Any]]

_hook_chain = HookRegistry.hook_chain
_end = HookedCall._end


def _replaced(target: str, replacement: object) -> Mutation:
    return lambda: patch(target, replacement)


def _method(owner: type, name: str) -> Callable[[Callable[..., Any]], Mutation]:
    return lambda replacement: lambda: patch.object(owner, name, replacement)


def _altered_chain(alter: Callable[[HookRegistry, HookChain], None]) -> Mutation:
    def hook_chain(self: HookRegistry, *arguments: Any, **keywords: Any) -> HookChain:
        chain = _hook_chain(self, *arguments, **keywords)
        alter(self, chain)
        chain.is_empty = False
        return chain

    return lambda: patch.object(HookRegistry, "hook_chain", hook_chain)


@_altered_chain
def per_call_before_installed(registry: HookRegistry, chain: HookChain) -> None:
    installed = len(registry.hooks)
    chain._hooks = chain._hooks[installed:] + chain._hooks[:installed]


@_altered_chain
def hooks_raise_ignored(registry: HookRegistry, chain: HookChain) -> None:
    chain._raise_errors = True


@_altered_chain
def errors_never_raised(registry: HookRegistry, chain: HookChain) -> None:
    chain._raise_errors = False


class _LiveHooks(Sequence[Any]):
    """The installed hooks as they are when they are read, then those of the call."""

    def __init__(self, registry: HookRegistry, hooks: tuple[Any, ...]) -> None:
        self._registry = registry
        self._per_call = hooks[len(registry.hooks) :]

    def __getitem__(self, place: Any) -> Any:
        return (*self._registry.hooks, *self._per_call)[place]

    def __len__(self) -> int:
        return len(self._registry.hooks) + len(self._per_call)

    def __radd__(self, defaults: tuple[Any, ...]) -> tuple[Any, ...]:
        return (*defaults, *self)


@_altered_chain
def snapshot_not_taken(registry: HookRegistry, chain: HookChain) -> None:
    chain._hooks = _LiveHooks(registry, chain._hooks)  # type: ignore[assignment]


@_method(HookChain, "hooks_for")
def defaults_last(self: HookChain, event: Any) -> tuple[object, ...]:
    return self._hooks + self._defaults.by_event.get(event, ())


@_method(HookChain, "hooks_for")
def markers_ignored(self: HookChain, event: Any) -> tuple[object, ...]:
    return self._defaults.hooks + self._hooks


@_method(HookedCall, "fail")
def end_skipped_after_a_failure(self: HookedCall, error: BaseException) -> BaseException:
    self.ctx.error = error
    self.ctx.results = self.ctx.results if self.skipped else None
    failures = Failures(error)
    failures.attempt(self._chain.dispatch, "on_error", self.ctx)
    return failures.error or error


@_method(HookedCall, "fail")
def error_event_after_end_event(self: HookedCall, error: BaseException) -> BaseException:
    self.ctx.error = error
    self.ctx.results = self.ctx.results if self.skipped else None
    failures = Failures(error)
    failures.attempt(self._end)
    failures.attempt(self._chain.dispatch, "on_error", self.ctx)
    return failures.error or error


@_method(HookedCall, "fail")
def results_kept_after_a_failure(self: HookedCall, error: BaseException) -> BaseException:
    self.ctx.error = error
    failures = Failures(error)
    failures.attempt(self._chain.dispatch, "on_error", self.ctx)
    failures.attempt(self._end)
    return failures.error or error


@_method(HookedCall, "start")
def skip_ignored(self: HookedCall) -> None:
    self._chain.dispatch("on_predict_start", self.ctx)


@_method(HookedCall, "_end")
def no_usage(self: HookedCall) -> None:
    self.ctx.elapsed_ms = 0.0
    self._chain.dispatch("on_predict_end", self.ctx)


@_method(Failures, "add")
def original_error_masked(self: Failures, error: BaseException) -> None:
    if self.error is not None:
        chain_context(error, self.error)
    self.error = error


@_method(Failures, "add")
def later_errors_forgotten(self: Failures, error: BaseException) -> None:
    if self.error is None or (isinstance(self.error, Exception) and not isinstance(error, Exception)):
        self.error = error


@_method(Failures, "add")
def fatal_errors_outrank_nothing(self: Failures, error: BaseException) -> None:
    if self.error is None:
        self.error = error
    else:
        chain_context(self.error, error)


@contextmanager
def keyboard_interrupt_swallowed() -> Iterator[None]:
    def run_event(hooks: Any, event: Any, ctx: Any, raise_errors: bool, call: Any) -> None:
        for hook in hooks:
            handler = getattr(hook, event, None)
            if handler is not None:
                try:
                    call(handler, ctx)
                except BaseException as error:
                    if raise_errors and isinstance(error, Exception):
                        raise

    with patch("laya_hooks.chain.run_event", run_event):
        yield


@contextmanager
def dispatch_goes_on_after_an_error() -> Iterator[None]:
    def run_event(hooks: Any, event: Any, ctx: Any, raise_errors: bool, call: Any) -> None:
        failures = Failures()
        for hook in hooks:
            handler = getattr(hook, event, None)
            if handler is not None:
                failures.attempt(call, handler, ctx)
        failures.raise_if_any()

    with patch("laya_hooks.chain.run_event", run_event):
        yield


def _in_both_routers(name: str, replacement: object) -> Mutation:
    @contextmanager
    def mutation() -> Iterator[None]:
        with ExitStack() as patches:
            for module in ("laya_hooks.testing.fake_router", "laya_router.calls"):
                patches.enter_context(patch(f"{module}.{name}", replacement))
            yield

    return mutation


def _succeed_in_input_order(calls: Sequence[HookedCall]) -> None:
    failures = Failures()
    for call in calls:
        failures.attempt(call.succeed)
    failures.raise_if_any()


def _succeed_until_one_raises(calls: Sequence[HookedCall]) -> None:
    for call in reversed(calls):
        call.succeed()


def _fail_the_last_alone(calls: Sequence[HookedCall], error: BaseException) -> BaseException:
    return calls[-1].fail(error)


@contextmanager
def defaults_run_twice() -> Iterator[None]:
    from laya_hooks.defaults import current_defaults

    with patch("laya_hooks.registry.defaults_for_call", current_defaults):
        yield


@contextmanager
def nested_calls_without_defaults() -> Iterator[None]:
    from laya_hooks import defaults

    def defaults_for_call() -> Any:
        return defaults.NO_DEFAULTS if defaults._already_run.get() else defaults.current_defaults()

    with patch("laya_hooks.registry.defaults_for_call", defaults_for_call):
        yield


@contextmanager
def clearing_keeps_plugins() -> Iterator[None]:
    from laya_hooks import defaults

    with patch("laya_hooks.clear_default_hooks", lambda: defaults._choose(defaults._Choice(plugins=True))):
        yield


def _without_oldest(installed: tuple[Any, ...], hook: object) -> tuple[Any, ...]:
    for place, candidate in enumerate(installed):
        if candidate is hook:
            return installed[:place] + installed[place + 1 :]
    return installed


def _without_all(installed: tuple[Any, ...], hook: object) -> tuple[Any, ...]:
    kept = tuple(candidate for candidate in installed if candidate is not hook)
    return kept if len(kept) < len(installed) else installed


@_method(HookRegistry, "hooks_installed")
@contextmanager
def block_restores_the_whole_list(self: HookRegistry, *hooks: Any) -> Iterator[HookRegistry]:
    before = self._installed
    for hook in hooks:
        self.add_hook(hook)
    try:
        yield self
    finally:
        self._installed = before


def _empty_context() -> contextvars.Context:
    return contextvars.Context()


MUTATIONS: Final[dict[str, Mutation]] = {
    "per-call hooks before installed ones": per_call_before_installed,
    "defaults after the others": defaults_last,
    "tryfirst and trylast ignored": markers_ignored,
    "defaults run twice in a router's call": defaults_run_twice,
    "no defaults in calls that hooks make": nested_calls_without_defaults,
    "clear_default_hooks keeps those of plugins": clearing_keeps_plugins,
    "no snapshot of the installed hooks": snapshot_not_taken,
    "hooks_raise ignored": hooks_raise_ignored,
    "errors never raised": errors_never_raised,
    "dispatch goes on after an error": dispatch_goes_on_after_an_error,
    "KeyboardInterrupt swallowed": keyboard_interrupt_swallowed,
    "end hooks skipped after a failure": end_skipped_after_a_failure,
    "on_error after on_predict_end": error_event_after_end_event,
    "results kept after a failure": results_kept_after_a_failure,
    "skip ignored": skip_ignored,
    "no usage": no_usage,
    "the original error masked": original_error_masked,
    "errors of error and end hooks forgotten": later_errors_forgotten,
    "KeyboardInterrupt in an end hook hung onto the error": fatal_errors_outrank_nothing,
    "a batch ends in input order": _in_both_routers("succeed_all", _succeed_in_input_order),
    "a batch stops ending at the first error": _in_both_routers("succeed_all", _succeed_until_one_raises),
    "a batch fails its last request alone": _in_both_routers("fail_all", _fail_the_last_alone),
    "the oldest occurrence is removed": _replaced("laya_hooks.registry._without_newest", _without_oldest),
    "every occurrence is removed": _replaced("laya_hooks.registry._without_newest", _without_all),
    "a block restores the whole list": block_restores_the_whole_list,
    "hooks under a timeout without the caller's context": _replaced("laya_hooks.dispatch.copy_context", _empty_context),
    "timeouts ignored": _replaced("laya_hooks.registry.validate_timeout", lambda seconds: None),
    "coroutines left alone": _replaced("laya_hooks.dispatch._complete", lambda returned: returned.close()),
}
