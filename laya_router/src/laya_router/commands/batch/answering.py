"""From lines to results: requests share passes, and one that fails does so alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from laya_hooks.errors import LayaError
from laya_hooks.protocols import Result, RouterLike
from laya_router.commands.batch.lines import Line, without_index

# Trouble of this machine and not of a request: the run ends, and can be resumed.
_TROUBLE = (OSError, LayaError, MemoryError)


def answer(router: RouterLike, lines: Sequence[Line], controls: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The output of each line, with the line's own `id`: its result, or its number and what is wrong with it.

    Raises:
        OSError, LayaError, MemoryError: a checkpoint cannot be loaded, or the machine is in trouble.
    """
    good = [line.request for line in lines if line.request is not None]
    results = iter(_together(router, good, controls))
    for line in lines:
        outcome = line.error if line.request is None else next(results)
        if isinstance(outcome, dict):
            yield {**line.label, **outcome, **line.label}
        else:
            yield {"line": line.number, **line.label, "error": " ".join(str(outcome).split())}


def is_failure(output: Mapping[str, Any]) -> bool:
    """Whether an output tells of a failed line."""
    return output.keys() - {"id"} == {"line", "error"}


def _together(
    router: RouterLike, requests: Sequence[Mapping[str, Any]], controls: Mapping[str, Any]
) -> list[Result | str]:
    """Answer requests in shared passes; if that fails, each half by itself."""
    if not requests:
        return []
    try:
        return list(router.predict_batch(requests, **controls))
    except _TROUBLE:
        raise
    except Exception as error:
        if len(requests) == 1:
            return [without_index(error)]
        half = len(requests) // 2
        return _together(router, requests[:half], controls) + _together(router, requests[half:], controls)
