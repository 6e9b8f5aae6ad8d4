"""Runs in a process of its own, because the Hub client reads its environment once, when it is imported.

Reads calls from standard input, one JSON object a line, for example

    {"call": "find", "source": "owner/name", "options": {"revision": "main"}}

and answers each with one JSON object: what was found, or the error.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any


def find(source: Any, options: dict[str, Any]) -> dict[str, Any]:
    from laya_core.sources import find_checkpoint

    found = find_checkpoint(source, **options)
    return {"directory": str(found.directory), "model_id": found.model_id, "revision": found.revision}


def predict(source: Any, options: dict[str, Any]) -> dict[str, Any]:
    from laya_core import Agent

    warnings.simplefilter("ignore", RuntimeWarning)  # one of the temperatures of the small checkpoints is clamped
    with Agent(source, device="cpu", precision="float32", **options) as agent:
        result = agent.predict("Please refund me.", {"refund": {"type": "noul", "instructions": "A refund?"}})
        return {"model_id": agent.model_id, "revision": agent.revision, "answers": result["answers"]}


def outcome(job: dict[str, Any]) -> dict[str, Any]:
    source = tuple(job["source"]) if isinstance(job["source"], list) else job["source"]
    try:
        return {"find": find, "predict": predict}[job["call"]](source, job["options"])
    except Exception as error:
        return {"error": [kind.__name__ for kind in type(error).__mro__], "message": str(error)}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(outcome(json.loads(line))), flush=True)
