"""From rows to scores: collated, run, and split when a pass fails, until the failing row stands alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any, TypeAlias

from attrs import frozen

from laya_core.decoding import RowScores
from laya_core.prompt import Row

from .rows import RowTicket
from .runner import Runner


@frozen(eq=False)
class PreparedPass:
    """Rows that run together; `places` gives each ticket its row, as equal rows are computed once."""

    tickets: list[RowTicket]
    rows: list[Row]
    places: list[int]
    inputs: Any


@frozen(eq=False)
class Scored:
    """A pass that went well."""

    prepared: PreparedPass
    scores: Sequence[RowScores]
    seconds: float


@frozen(eq=False)
class Failed:
    """A pass that did not; `ticket` is the row to blame, or None if the pass is split and tried again."""

    error: Exception | None
    out_of_memory: bool
    ticket: RowTicket | None


Outcome: TypeAlias = Scored | Failed


def prepare(runner: Runner, tickets: list[RowTicket], share: bool) -> PreparedPass:
    """Collate a pass.

    Args:
        share: compute equal rows once.
    """
    rows = [ticket.row for ticket in tickets]
    places = list(range(len(rows)))
    if share:
        rows, places = _distinct(rows)
    try:
        inputs = runner.collate(rows)
    except Exception:
        inputs = None  # the pass will meet the error again, and find the row it belongs to
    return PreparedPass(tickets, rows, places, inputs)


def score(
    runner: Runner, prepared: PreparedPass, share: bool, still_wanted: Callable[[list[RowTicket]], list[RowTicket]]
) -> Iterator[Outcome]:
    """Run a pass, and parts of it if it fails.

    Args:
        still_wanted: the tickets whose requests have not ended; asked before every pass.
    """
    waiting = [prepared]
    while waiting:
        current = waiting.pop()
        tickets = still_wanted(current.tickets)
        if not tickets:
            continue
        if len(tickets) < len(current.tickets):
            current = prepare(runner, tickets, share)
        outcome = _run(runner, current)
        if isinstance(outcome, Failed) and len(tickets) > 1:
            middle = len(tickets) // 2
            if outcome.out_of_memory:
                runner.release_memory()
            waiting += [prepare(runner, tickets[middle:], share), prepare(runner, tickets[:middle], share)]
        yield outcome


def _run(runner: Runner, current: PreparedPass) -> Outcome:
    started = perf_counter()
    try:
        inputs = runner.collate(current.rows) if current.inputs is None else current.inputs
        scores = runner.run(current.rows, inputs)
        if len(scores) != len(current.rows):
            raise RuntimeError(f"a pass gave {len(scores)} scores for {len(current.rows)} rows")
    except Exception as error:
        out_of_memory = runner.is_out_of_memory(error)
        if len(current.tickets) > 1:
            return Failed(None, out_of_memory, None)  # with the traceback go the tensors of the pass
        return Failed(error, out_of_memory, current.tickets[0])
    return Scored(current, scores, perf_counter() - started)


def _distinct(rows: Sequence[Row]) -> tuple[list[Row], list[int]]:
    """The rows without repetitions, and the place of each among them."""
    found: dict[object, int] = {}
    kept: list[Row] = []
    places = []
    for row in rows:
        prefix = row.prefix
        key = (tuple(row.ids), prefix.markers, prefix.type_id, prefix.position_ids)
        place = found.setdefault(key, len(kept))
        if place == len(kept):
            kept.append(row)
        places.append(place)
    return kept, places
