"""What every test of the workspace shares: thread counts, seeds, no network."""

from __future__ import annotations

import os
import random
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

# Read when torch, tokenizers and huggingface_hub are imported, so set before any test module is.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["HF_HUB_OFFLINE"] = "1"
for name in [name for name in os.environ if name.startswith("LAYA_")]:
    del os.environ[name]

# The folders of the packages are called as the packages are; pytest must not take the one for the other.
for name in ("laya", "laya_core", "laya_hooks", "laya_mini", "laya_router", "laya_serve"):
    if find_spec(name) is not None:
        import_module(name)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    random.seed(0)
    if "torch" in sys.modules:
        import torch

        torch.manual_seed(0)


@pytest.fixture(scope="session")
def parity_checkpoints() -> Path:
    """The folder of small checkpoints with random weights."""
    return Path(__file__).parent / "tests" / "parity" / "checkpoints"
