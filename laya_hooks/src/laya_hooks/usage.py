"""Token counts over several results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def aggregate_usage(results: Iterable[Mapping[str, Any]] | None) -> dict[str, int]:
    """Sum the `usage` (key or attribute) of `results`; a result without one (a cached answer, say) counts as zero."""
    input_tokens = output_tokens = 0
    for result in results or ():
        usage = result.get("usage") if isinstance(result, Mapping) else getattr(result, "usage", None)
        if isinstance(usage, Mapping):
            input_tokens += usage.get("input_tokens") or 0
            output_tokens += usage.get("output_tokens") or 0
    return {"input_tokens": input_tokens, "output_tokens": output_tokens}
