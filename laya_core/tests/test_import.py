"""What importing the package brings along."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import laya_core

HEAVY = ("torch", "transformers", "tokenizers", "numpy", "huggingface_hub")


@pytest.mark.parametrize("module", ["laya_core", "laya_core.plugin", "laya_core.loading", "laya_core.questions"])
def test_importing_it_brings_no_torch(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert printed.stdout.strip() == "[]"


def test_a_source_that_cannot_be_a_checkpoint_is_refused_without_torch(tmp_path: Path) -> None:
    code = f"""
import sys, laya_core
for source in ("./nowhere", {str(tmp_path)!r}, ({str(tmp_path)!r}, "inside"), "no-such-name", ("a", "b", "c"), 5):
    try:
        laya_core.load(source)
    except (OSError, TypeError, ValueError) as error:
        print(type(error).__name__, error)
print([name for name in {HEAVY} if name in sys.modules])
"""
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    tuple_or_five = "a checkpoint is a directory, a Hub id, a name or (repository, subfolder), not"
    assert printed.stdout.splitlines() == [
        "FileNotFoundError there is no checkpoint directory ./nowhere; check the path",
        f"FileNotFoundError {tmp_path / 'rl_agent_config.json'} is missing; a checkpoint directory must contain it",
        f"FileNotFoundError {tmp_path / 'inside'} is missing; check the subfolder 'inside'",
        "ValueError unknown checkpoint 'no-such-name': not a directory, not a Hub id (owner/name), "
        "and not one of the names that are known: english, mini, multilingual, typed-decisions",
        f"TypeError {tuple_or_five} ('a', 'b', 'c')",
        f"TypeError {tuple_or_five} 5",
        "[]",
    ]


def test_every_public_name_is_there_and_listed() -> None:
    for name in laya_core.__all__:
        assert getattr(laya_core, name).__name__ == name
        assert name in dir(laya_core)


def test_other_names_are_missed_like_any_attribute() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Agnet'"):
        _ = laya_core.Agnet
