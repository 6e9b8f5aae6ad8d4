"""Every block of the README and of the site runs, and prints what the page shows for it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from doc_blocks import ROOT, curl_blocks, laid_out, pages, runnable_blocks
from run_blocks import answer_to, readers_environment, run_block, serve_with_mini
from shown_output import difference

from laya_core.batching import scheduler
from laya_hooks import clear_default_hooks, restore_plugin_hooks


@pytest.fixture(autouse=True)
def _page_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(scheduler, "_factories", dict(scheduler._factories))  # what a page registers ends with it
    with readers_environment():
        yield
    clear_default_hooks()
    restore_plugin_hooks()


_PAGES_THAT_RUN = [page for page in pages() if runnable_blocks(page)]
_PAGES_THAT_ASK = [page for page in pages() if curl_blocks(page)]


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("page", _PAGES_THAT_RUN, ids=_name)
def test_every_block_of_the_page_runs_and_prints_what_is_shown(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in runnable_blocks(page):
        printed = run_block(block, _name(page), vars(module))
        if block.output is not None:
            differs = difference(block.output.code, printed)
            assert differs is None, f"{_name(page)}:{block.line} prints something else\n{differs}\n\n{printed}"


@pytest.mark.parametrize("page", _PAGES_THAT_ASK, ids=_name)
def test_every_request_is_answered_as_the_page_shows(page: Path) -> None:
    client = serve_with_mini()
    for block in curl_blocks(page):
        result = answer_to(block, _name(page), client)
        if block.output is not None:
            differs = difference(laid_out(json.loads(block.output.code)), laid_out(result))
            assert differs is None, f"{_name(page)}:{block.line} is answered otherwise\n{differs}\n\n{laid_out(result)}"
