"""What importing a package loads: the heavy libraries come only when a model is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "torch",
    "transformers",
    "numpy",
    "tokenizers",
    "safetensors",
    "huggingface_hub",
    "rich",
    "starlette",
    "uvicorn",
}
LIST_LOADED = "import json, sys; {statement}; print(json.dumps(sorted(sys.modules)))"


def loaded_after(statement: str) -> set[str]:
    code = LIST_LOADED.format(statement=statement)
    # From the repository root, where the folders of the packages must not shadow the packages themselves.
    root = Path(__file__).parents[2]
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root).stdout
    return {name.partition(".")[0] for name in json.loads(output)}


@pytest.mark.parametrize("package", ["laya", "laya.hooks", "laya_hooks", "laya_core", "laya_router", "laya_mini"])
def test_importing_a_package_loads_nothing_heavy(package: str) -> None:
    assert loaded_after(f"import {package}") & HEAVY == set()


@pytest.mark.parametrize("package", ["laya_serve", "laya.serve"])
def test_importing_the_server_loads_no_model_library(package: str) -> None:
    assert loaded_after(f"import {package}") & {"torch", "transformers", "numpy"} == set()


def test_discovering_the_plugins_loads_no_model_library() -> None:
    statement = "import laya_hooks; laya_hooks.named_checkpoints(); laya_hooks.default_hooks()"
    assert loaded_after(statement) & {"torch", "transformers", "numpy"} == set()


def test_building_a_router_loads_no_model_library() -> None:
    assert loaded_after("from laya import Router; Router()") & {"torch", "transformers", "numpy"} == set()


def test_routing_a_text_loads_what_tells_languages_apart_and_no_model_library() -> None:
    loaded = loaded_after("from laya import Router; Router().route('Where is my parcel?')")
    assert loaded & {"torch", "transformers", "py3langid"} == {"py3langid"}


def test_every_public_name_of_the_facade_exists() -> None:
    statement = "import laya; [getattr(laya, name) for name in laya.__all__]"
    assert "laya" in loaded_after(statement)
