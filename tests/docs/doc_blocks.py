"""The fenced blocks of a Markdown page, and which of them show what another one prints.

`python` and `sh` blocks run; whatever must not run has another language. A `text` block titled "Output" directly
behind a block that runs is what that block prints. A `json` block titled "Response" directly behind a request with
curl is what the server answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

ROOT = Path(__file__).parents[2]
RUNNABLE = ("python", "sh")

_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^`]*)$")
_INCLUDED = re.compile(r'^--8<-- "(?P<file>[^"]+)"$', re.MULTILINE)
_OUTPUT = 'text title="Output"'
_RESPONSE = 'json title="Response"'


@frozen
class Block:
    """One fenced block: the info string, the line of the page its code begins in, and the block of what it prints."""

    info: str
    line: int
    code: str
    output: Block | None = None

    @property
    def language(self) -> str:
        """The first word of the info string."""
        return self.info.partition(" ")[0]


def pages() -> list[Path]:
    """The README and every page of the site."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def runnable_blocks(page: Path) -> list[Block]:
    """The blocks of a page that run, in order, each with the output the page shows for it."""
    return [block for block in _with_output(page, _OUTPUT) if block.language in RUNNABLE]


def curl_blocks(page: Path) -> list[Block]:
    """The blocks of a page that send a request with curl, each with the response the page shows for it."""
    return [block for block in _with_output(page, _RESPONSE) if "curl " in block.code]


def laid_out(result: Mapping[str, Any]) -> str:
    """A result as pages show it: JSON with a line for every answer and every field of the routing."""
    return _laid_out(result, depth=0)


def _laid_out(value: Any, depth: int) -> str:
    nested = isinstance(value, Mapping) and any(isinstance(field, Mapping) for field in value.values())
    if not nested or depth == 2:
        return json.dumps(value, ensure_ascii=False)
    indent = "  " * depth
    fields = [f"{indent}  {json.dumps(name)}: {_laid_out(field, depth + 1)}" for name, field in value.items()]
    return "{\n" + ",\n".join(fields) + f"\n{indent}}}"


def _with_output(page: Path, title: str) -> Iterator[Block]:
    following = [*_blocks(page.read_text(encoding="utf-8")), None]
    for block, behind in pairwise(following):
        assert block is not None
        yield evolve(block, output=behind if behind is not None and behind.info == title else None)


def _blocks(text: str) -> Iterator[Block]:
    opened: tuple[int, str, str] | None = None
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        fence = _FENCE.match(line)
        if opened is None and fence is not None:
            opened, lines = (number + 1, fence["indent"], fence["info"].strip()), []
        elif opened is not None and fence is not None and not fence["info"].strip():
            start, indent, info = opened
            code = "\n".join(line.removeprefix(indent) for line in lines)
            yield Block(info, start, _INCLUDED.sub(_file, code))
            opened = None
        elif opened is not None:
            lines.append(line)


def _file(included: re.Match[str]) -> str:
    return (ROOT / included["file"]).read_text(encoding="utf-8")
