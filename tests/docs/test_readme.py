"""What the README promises a reader beyond the output of its blocks."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
from doc_blocks import ROOT, runnable_blocks
from run_blocks import readers_environment, run_block

README = ROOT / "README.md"
QUICKSTART = ROOT / "docs" / "quickstart.md"


@pytest.mark.parametrize("page", [README, QUICKSTART], ids=lambda page: page.name)
def test_the_environment_is_activated_before_the_command_in_it_is_used(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    activated = next(number for number, line in enumerate(lines) if line.startswith(". .venv/bin/activate"))
    used = [number for number, line in enumerate(lines) if re.match(r"laya [a-z]", line)]
    assert used and activated < used[0]


@pytest.mark.parametrize("page", [README, QUICKSTART], ids=lambda page: page.name)
def test_nothing_stands_behind_a_command_that_does_not_return(page: Path) -> None:
    blocks = re.findall(r"^```console\n(.+?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    serving = [block for block in blocks if "make serve" in block]
    assert [len(block.splitlines()) for block in serving] == [1]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_hook_leaves_a_json_state_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = ModuleType("page")
    with readers_environment():
        for block in runnable_blocks(README):
            if block.language == "python":
                run_block(block, README.name, vars(page))
    read: list[object] = []
    state = {"account": "12345678"}
    hooks = [page.HideNumbers(), _Watch(read)]
    page.agent.predict(state, {"billing": {"type": "noul", "instructions": "Is it about money?"}}, hooks=hooks)
    page.agent.predict("12345678", {"billing": {"type": "noul", "instructions": "Is it about money?"}}, hooks=hooks)
    assert read == [state, "[number]"]


class _Watch:
    def __init__(self, read: list[object]) -> None:
        self._read = read

    def on_predict_start(self, ctx: object) -> None:
        self._read.extend(ctx.states)  # type: ignore[attr-defined]
