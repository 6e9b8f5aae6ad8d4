"""A result as a table: each answer, its confidence, and a bar for every probability."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

_LABEL_WIDTH = 12
_BAR_WIDTH = 16


def print_answers(result: dict[str, Any]) -> None:
    """Print the answers, which checkpoint gave them and why, and what was cut."""
    console = Console()
    table = Table(show_lines=True)
    table.add_column("question", style="bold", overflow="fold")
    table.add_column("answer", overflow="fold")
    table.add_column("probabilities", min_width=_LABEL_WIDTH + _BAR_WIDTH + 6)
    for question, answer in result["answers"].items():
        table.add_row(escape(str(question)), escape(_answer_text(answer)), _bars(answer))
    console.print(table)
    for note in _notes(result):
        console.print(escape(note), style="dim", soft_wrap=True)


def _answer_text(answer: dict[str, Any]) -> str:
    match answer["type"]:
        case "choice":
            text = str(answer["choice"])
        case "score":
            text = f"{answer['score']:.2f} of {len(answer['legend']) - 1}"
        case "noul":
            text = "yes" if answer["noul"] >= 0.5 else "no"
        case other:
            text = str(other)
    lines = [text]
    name = next((name for name in ("answer_confidence", "confidence") if answer.get(name) is not None), None)
    if name is not None:
        lines.append(f"{name} {answer[name]:.0%}")
    if answer.get("low_confidence"):
        lines.append(f"below {answer['abstention_threshold']:.0%}")
    return "\n".join(lines)


def _bars(answer: dict[str, Any]) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(overflow="fold", min_width=_LABEL_WIDTH)
    grid.add_column(width=_BAR_WIDTH)
    grid.add_column(justify="right", width=4)
    options = list(_probabilities(answer))
    top = max((probability for _, probability in options), default=0.0)
    for option, probability in options:
        label = Text(option, style="bold" if probability == top else "")
        grid.add_row(label, ProgressBar(total=1.0, completed=probability, width=_BAR_WIDTH), f"{probability:.0%}")
    return grid


def _probabilities(answer: dict[str, Any]) -> Iterator[tuple[str, float]]:
    if answer["type"] == "noul":
        yield "yes", answer["noul"]
        yield "no", 1 - answer["noul"]
        return
    legend = answer.get("legend", {})
    for option, probability in answer["probabilities"].items():
        yield f"{option} {legend[option]}" if option in legend else str(option), probability


def _notes(result: dict[str, Any]) -> Iterator[str]:
    routing = result.get("routing")
    if routing:
        yield f"answered by {routing['model']}: {routing.get('reason', '')}"
    usage = result.get("usage", {})
    if usage.get("truncated"):
        yield f"the text does not fit the checkpoint: {usage.get('state_tokens_dropped')} of its tokens were cut"
