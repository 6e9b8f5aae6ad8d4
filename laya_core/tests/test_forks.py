"""A forked child answers as its parent does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ANSWERS_IN_A_CHILD = """
import os, signal, sys
import torch
torch.set_num_threads(2)
from laya_core import Agent
question = {"q": {"type": "choice", "instructions": "Which?", "criteria": ["a", "b", "c"]}}
with Agent(sys.argv[1], device="cpu", precision="float32", continuous_batching=sys.argv[2] == "batched") as agent:
    ask = lambda: agent.predict("please refund me " * 60, question)["answers"]["q"]["choice"]
    expected = ask()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if ask() == expected else 3)
    assert os.waitpid(child, 0)[1] == 0
    assert ask() == expected and torch.get_num_threads() == 2
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("how", ["batched", "alone"])
def test_a_child_of_a_process_that_computed_on_two_cores_answers(how: str, checkpoints: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ANSWERS_IN_A_CHILD, str(checkpoints / "modernbert"), how],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"},
    )
    assert (run.returncode, run.stderr) == (0, "")
