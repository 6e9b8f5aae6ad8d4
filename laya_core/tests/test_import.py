"""What importing the package brings along."""

from __future__ import annotations

import subprocess
import sys

import pytest

import laya_core

HEAVY = ("torch", "transformers", "tokenizers", "numpy", "huggingface_hub")


@pytest.mark.parametrize("module", ["laya_core", "laya_core.plugin", "laya_core.loading", "laya_core.questions"])
def test_importing_it_brings_no_torch(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert printed.stdout.strip() == "[]"


def test_every_public_name_is_there_and_listed() -> None:
    for name in laya_core.__all__:
        assert getattr(laya_core, name).__name__ == name
        assert name in dir(laya_core)


def test_other_names_are_missed_like_any_attribute() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Agnet'"):
        _ = laya_core.Agnet
