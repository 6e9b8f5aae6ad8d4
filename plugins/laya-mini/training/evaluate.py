"""`python -m training.evaluate [FILE]`: accuracy and calibration of a checkpoint, by the public agent."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm  # type: ignore[import-untyped]

from laya_core import Agent
from laya_mini import CHECKPOINT
from training.examples import Example
from training.measure import Judged, expected_calibration_error
from training.sources import contrasts, families, grids, scenarios


@dataclass(frozen=True, slots=True)
class Outcome:
    """One judged answer, and which rows of the report it counts in."""

    example: Example
    judged: Judged


def main() -> None:
    options = _parse_arguments()
    examples = _read(options.file) if options.file else _held_out()
    with Agent(str(options.checkpoint), precision="float32") as agent:
        outcomes = [judge(agent, example) for example in tqdm(examples[:: options.every], unit="question")]
    print("\n".join(report(outcomes)))


def judge(agent: Agent, example: Example) -> Outcome:
    """Asks one question.

    A choice is right with the gold label, a noul on the right side of 0.5, a score with its likeliest level.
    """
    answer = agent.system_one(example.state, {"q": dict(example.question)})["answers"]["q"]
    return Outcome(example, Judged(answer["answer_confidence"], _answer(example, answer) == example.gold))


def _answer(example: Example, answer: dict[str, Any]) -> object:
    if example.type == "choice":
        return answer["choice"]
    if example.type == "noul":
        return answer["noul"] >= 0.5
    probabilities = answer["probabilities"]
    return int(max(probabilities, key=probabilities.__getitem__))


def report(outcomes: Sequence[Outcome]) -> Iterable[str]:
    """The lines of a table: everything, then by question type, then by domain."""
    groups: dict[str, list[Judged]] = defaultdict(list)
    for outcome in outcomes:
        groups["all"].append(outcome.judged)
    for kind in ("choice", "score", "noul"):
        groups[kind] = [o.judged for o in outcomes if o.example.type == kind]
    for outcome in sorted(outcomes, key=lambda o: o.example.domain):
        groups[f"  {outcome.example.domain}"].append(outcome.judged)
    yield f"{'':24} {'questions':>9} {'accuracy':>9} {'ECE':>7}"
    for name, judged in groups.items():
        if judged:
            accuracy = sum(j.right for j in judged) / len(judged)
            yield f"{name:24} {len(judged):9} {accuracy:9.3f} {expected_calibration_error(judged):7.3f}"


def _held_out() -> list[Example]:
    return [example for source in (scenarios, families, grids, contrasts) for example in source.read()[1]]


def _read(path: Path) -> list[Example]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [example for line in lines if line.strip() for example in scenarios.parse(json.loads(line))]


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.evaluate", description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", help="scenarios with gold answers (default: those held out)")
    parser.add_argument("--checkpoint", type=Path, default=CHECKPOINT)
    parser.add_argument("--every", type=int, default=1, help="ask only one question in so many (default: all)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
