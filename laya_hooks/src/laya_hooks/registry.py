"""The hooks installed on one agent or router."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Self

import attrs

from .chain import HookChain
from .defaults import defaults_for_call
from .dispatch import CallPolicy, call_policy
from .locks import ForkSafeLock, HookLock
from .normalise import normalise_hooks, validate_timeout

# Guards every write of an installed list; reads take one reference to an immutable tuple and no lock.
_writes: Final = ForkSafeLock()


@attrs.frozen
class _Settings:
    raise_errors: bool
    lock: HookLock | None
    timeout: float | None
    call: CallPolicy


class HookRegistry:
    """Mixin: hooks that can be added, removed and scoped while calls run."""

    _installed: tuple[Any, ...]
    _settings: _Settings

    def _init_hooks(
        self,
        hooks: object = None,
        on_predict_start: object = None,
        on_predict_end: object = None,
        hooks_raise: bool = True,
        hooks_concurrent: bool = True,
        hooks_timeout: float | None = None,
    ) -> None:
        """Validate and install the hook arguments of a constructor.

        Raises:
            TypeError: something is not a hook.
            ValueError: `hooks_timeout` is not a positive finite number.
        """
        timeout = validate_timeout(hooks_timeout)
        lock = None if hooks_concurrent else HookLock()
        self._settings = _Settings(bool(hooks_raise), lock, timeout, call_policy(lock, timeout))
        self._installed = tuple(normalise_hooks(hooks, on_predict_start, on_predict_end))

    @property
    def hooks(self) -> list[Any]:
        """A copy of the installed hooks, in the order in which they run."""
        return list(self._installed)

    def add_hook(self, hook: object) -> Self:
        """Install a hook or a sequence of hooks behind the others; calls in flight do not see it.

        Raises:
            TypeError: it is not a hook.
        """
        self._install(normalise_hooks(hook))
        return self

    def remove_hook(self, hook: object) -> bool:
        """Remove `hook`, found by identity, its newest place if it has several; False if it was not there."""
        with _writes:
            kept = _without_newest(self._installed, hook)
            removed = kept is not self._installed
            self._installed = kept
        return removed

    @contextmanager
    def hooks_installed(self, *hooks: object) -> Iterator[Self]:
        """Install hooks, or sequences of hooks, for a block.

        On exit one occurrence of each, the newest, is removed; what others added meanwhile stays.

        Raises:
            TypeError: one of them is not a hook.
        """
        added = [hook for argument in hooks for hook in normalise_hooks(argument)]
        self._install(added)
        try:
            yield self
        finally:
            with _writes:
                for hook in reversed(added):
                    self._installed = _without_newest(self._installed, hook)

    def hook_chain(
        self,
        hooks: object = None,
        on_predict_start: object = None,
        on_predict_end: object = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
    ) -> HookChain:
        """Take the snapshot of hooks for one call, from the arguments of that call.

        Raises:
            TypeError: something is not a hook.
            ValueError: `hooks_timeout` is not a positive finite number.
        """
        defaults = defaults_for_call()
        settings = self._settings
        chained = self._installed
        if hooks is not None or on_predict_start is not None or on_predict_end is not None:
            chained = (*chained, *normalise_hooks(hooks, on_predict_start, on_predict_end))
        raise_errors = settings.raise_errors if hooks_raise is None else bool(hooks_raise)
        call = settings.call
        if hooks_timeout is not None:
            call = call_policy(settings.lock, validate_timeout(hooks_timeout))
        return HookChain(defaults, chained, raise_errors, call)

    def _install(self, hooks: list[Any]) -> None:
        with _writes:
            self._installed = (*self._installed, *hooks)


def _without_newest(installed: tuple[Any, ...], hook: object) -> tuple[Any, ...]:
    """Return `installed` without the last occurrence of `hook`; `installed` itself if there is none."""
    for place in range(len(installed) - 1, -1, -1):
        if installed[place] is hook:
            return installed[:place] + installed[place + 1 :]
    return installed
