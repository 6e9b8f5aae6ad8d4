"""Loads checkpoints and makes a prediction with each, and prints what that did, as a JSON list.

    python measure.py WARM_UP [CHECKPOINT PRECISION] …

WARM_UP is a small checkpoint of the same kind; loading it first brings in every module. `growth` is what the resident
set grew by at its peak, `weights` the size of the weights in the precision, both in bytes. `rng_untouched` tells
whether any random number was drawn.
"""

from __future__ import annotations

import gc
import json
import random
import sys
import warnings
from itertools import chain
from pathlib import Path

import torch

from laya_core import Agent

QUESTION = {"refund": {"type": "noul", "instructions": "Does the user ask for a refund?"}}


def resident(field: str) -> int:
    """VmRSS (now) or VmHWM (the peak), in bytes."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(f"{field}:")]
    return int(line.split()[1]) * 1024


def measure(checkpoint: str, precision: str) -> dict[str, object]:
    gc.collect()
    before = torch.get_rng_state(), random.getstate()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    start = resident("VmRSS")
    with Agent(checkpoint, device="cpu", precision=precision) as agent:
        agent.predict("Please refund me.", QUESTION)
        growth = resident("VmHWM") - start
        model = agent.engine._runner.model
        weights = sum(tensor.nbytes for tensor in chain(model.parameters(), model.buffers()))
    untouched = torch.equal(torch.get_rng_state(), before[0]) and random.getstate() == before[1]
    return {"growth": growth, "weights": weights, "rng_untouched": untouched}


def main(warm_up: str, *loads: str) -> None:
    for precision in ("float32", "bfloat16"):
        measure(warm_up, precision)
    measured = [measure(*load) for load in zip(loads[::2], loads[1::2], strict=True)]
    print(json.dumps(measured))


if __name__ == "__main__":
    warnings.simplefilter("ignore", RuntimeWarning)  # the warm-up holds a temperature that is clamped
    torch.set_num_threads(1)
    main(*sys.argv[1:])
