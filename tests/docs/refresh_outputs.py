"""`python tests/docs/refresh_outputs.py [PAGE …]`: writes into the pages what their blocks print now.

For when the embedded checkpoint has changed. Outputs that still hold stay as they are.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from doc_blocks import Block, curl_blocks, laid_out, pages, runnable_blocks
from run_blocks import answer_to, readers_environment, run_block, serve_with_mini
from shown_output import difference, refreshed

from laya_hooks import clear_default_hooks, restore_plugin_hooks


def main() -> None:
    """Refresh the pages named on the command line, or all."""
    warnings.simplefilter("ignore", RuntimeWarning)
    for page in [Path(name).resolve() for name in sys.argv[1:]] or pages():
        with TemporaryDirectory() as folder, readers_environment():
            os.chdir(folder)
            outdated = [*_printed_otherwise(page), *_answered_otherwise(page)]
            os.chdir(page.parent)
        clear_default_hooks()
        restore_plugin_hooks()
        _rewrite(page, outdated)


def _printed_otherwise(page: Path) -> Iterator[tuple[Block, str | None]]:
    module = sys.modules["page"] = ModuleType("page")
    for block in runnable_blocks(page):
        printed = run_block(block, page.name, vars(module))
        if block.output is not None and difference(block.output.code, printed):
            yield block.output, refreshed(block.output.code, printed)


def _answered_otherwise(page: Path) -> Iterator[tuple[Block, str]]:
    for block in curl_blocks(page):
        if block.output is not None:
            result = laid_out(answer_to(block, page.name, serve_with_mini()))
            if difference(laid_out(json.loads(block.output.code)), result):
                yield block.output, result


def _rewrite(page: Path, outdated: list[tuple[Block, str | None]]) -> None:
    lines = page.read_text(encoding="utf-8").split("\n")
    for output, text in sorted(outdated, key=lambda change: change[0].line, reverse=True):
        print(f"{page.name}:{output.line}: {'refreshed' if text is not None else 'needs a hand'}")
        if text is not None:
            first = output.line - 1
            lines[first : first + len(output.code.split("\n"))] = text.split("\n")
    page.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
