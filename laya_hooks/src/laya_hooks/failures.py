"""Several errors of one call: which one the caller sees, and how the others hang on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


class Failures:
    """Collects the errors of steps that must all run; `error` is the one to raise in the end.

    The first error wins. One that is not an `Exception` (KeyboardInterrupt, SystemExit, CancelledError)
    outranks those that are. The others hang at the end of the winner's `__context__` chain.
    """

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error

    def add(self, error: BaseException) -> None:
        """Take in one more error."""
        if self.error is None:
            self.error = error
        elif isinstance(self.error, Exception) and not isinstance(error, Exception):
            chain_context(error, self.error)
            self.error = error
        else:
            chain_context(self.error, error)

    def attempt(self, step: Callable[..., object], *args: Any) -> None:
        """Call `step`, and take in what it raises."""
        try:
            step(*args)
        except BaseException as error:
            self.add(error)

    def raise_if_any(self) -> None:
        """Raise the error that won, if there was one."""
        error, self.error = self.error, None
        if error is None:
            return
        try:
            raise error
        finally:
            del error  # it refers to this frame through its traceback


def chain_context(error: BaseException, later: BaseException) -> None:
    """Hang `later` at the end of the `__context__` chain of `error`, without making a cycle."""
    chain = list(_contexts(error))
    known = {id(link) for link in chain}
    if id(later) in known:
        return
    for link in _contexts(later):
        if link.__context__ is not None and id(link.__context__) in known:
            # Raised while `error` was being handled, so Python chained it the other way round.
            link.__context__ = None
    chain[-1].__context__ = later


def _contexts(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__context__
