"""The code blocks of the documents the hooks API was specified by, word for word in `blocks/`, and how they are run."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "blocks"
HUB_ID: Final = "convaiinnovations/laya"


def block(name: str) -> str:
    """The text of a block."""
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def run(source: str, checkpoint: Path, names: dict[str, Any]) -> Any:
    """Run a block in the namespace `names`, with `checkpoint` for the Hub id; the value of a last expression."""
    tree = ast.parse(source.replace(HUB_ID, str(checkpoint)))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<block>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<block>", "eval"), names) if last is not None else None


def definitions(source: str) -> str:
    """The imports, functions, classes and constants of a block, without the calls it makes."""
    tree = ast.parse(source)
    defining = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
    constant = ast.Assign | ast.AnnAssign
    tree.body = [
        part
        for part in tree.body
        if isinstance(part, defining) or (isinstance(part, constant) and not isinstance(part.value, ast.Call))
    ]
    return ast.unparse(tree)


def signatures(name: str) -> list[tuple[str, inspect.Signature]]:
    """The signatures a block writes down: `agent.predict(state, …)` counts as `predict`, `...` as nothing."""
    written = re.findall(r"^(?:\w+\.)?(\w+)\((.*?)\)(?: ->[^\n]*| +#[^\n]*)?$", block(name), re.DOTALL | re.MULTILINE)
    return [(called, _signature(parameters)) for called, parameters in written if parameters != "..."]


def _signature(parameters: str) -> inspect.Signature:
    names: dict[str, Any] = {}
    exec(f"def written({parameters.removeprefix('..., ')}): ...", names)
    return inspect.signature(names["written"])
