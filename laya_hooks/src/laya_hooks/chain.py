"""The hooks of one call, fixed at its start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import attrs

from .context import PredictContext
from .dispatch import CallPolicy, call_inline, run_event
from .events import HOOK_EVENTS, Event

NO_HOOKS: Final[tuple[object, ...]] = ()


@attrs.frozen(eq=False)
class DefaultHooks:
    """The process-wide hooks at one moment: the plain list, and the order of each event."""

    hooks: tuple[object, ...] = NO_HOOKS
    by_event: dict[Event, tuple[object, ...]] = attrs.field(factory=dict)


NO_DEFAULTS: Final = DefaultHooks()


class HookChain:
    """What one call dispatches to: the defaults, then its own hooks, and how they are called.

    A plain class and not attrs, because one is made per call.

    Args:
        defaults: the process-wide hooks, ordered per event.
        hooks: the installed hooks, then those of the call.
        raise_errors: whether an `Exception` of a hook propagates or becomes a `RuntimeWarning`.
        call: how a single hook is called, from `call_policy`.
    """

    __slots__ = ("_call", "_defaults", "_hooks", "_raise_errors", "is_empty")

    def __init__(
        self,
        defaults: DefaultHooks = NO_DEFAULTS,
        hooks: tuple[object, ...] = NO_HOOKS,
        raise_errors: bool = True,
        call: CallPolicy = call_inline,
    ) -> None:
        self._defaults = defaults
        self._hooks = hooks
        self._raise_errors = raise_errors
        self._call = call
        self.is_empty = not hooks and not defaults.by_event

    def dispatch(self, event: Event, ctx: PredictContext) -> None:
        """Call `event` on every hook of the chain that implements it, in order.

        Raises:
            BaseException: what a hook raised, unless `raise_errors` is off and it is an `Exception`.
        """
        if self.is_empty:
            return
        run_event(self.hooks_for(event), event, ctx, self._raise_errors, self._call)

    def hooks_for(self, event: Event) -> tuple[object, ...]:
        """Return the hooks in the order in which `event` reaches them."""
        defaults = self._defaults.by_event.get(event, NO_HOOKS)
        return defaults + self._hooks if defaults else self._hooks

    def handles(self, event: Event) -> bool:
        """Whether any hook of the chain implements `event`."""
        return not self.is_empty and any(hasattr(hook, event) for hook in self.hooks_for(event))

    def __iter__(self) -> Iterator[object]:
        """Iterate over the hooks as a plain list: defaults, installed, per-call."""
        return iter(self._defaults.hooks + self._hooks)


EMPTY_CHAIN: Final = HookChain()


def by_event(hooks: tuple[object, ...]) -> dict[Event, tuple[object, ...]]:
    """Return for each event the hooks that implement it, in list order; events without any are left out."""
    found = {event: tuple(hook for hook in hooks if hasattr(hook, event)) for event in HOOK_EVENTS}
    return {event: implementing for event, implementing in found.items() if implementing}
