"""The optimisation loop: seeded, resumable, logging to a file."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor
from tqdm import tqdm  # type: ignore[import-untyped]

from laya_core.model import DecisionModel
from training.augment import augment
from training.config import Recipe, Stage
from training.examples import Example
from training.measure import accuracies, answers
from training.replicas import Replicas
from training.rows import Batch, LabelledRow, RowEncoder, pool_batches, undecided
from training.teacher import Teacher

_SAVE_EVERY = 50
_MEASURE_EVERY = 5_000


@dataclass(frozen=True, slots=True)
class Data:
    """Training examples by source, and held-out examples for choosing between runs."""

    sources: dict[str, list[Example]]
    held_out: list[Example]


class Trainer:
    """Takes a model through the stages of a recipe. `folder` has the log and the state to resume from.

    `first_stage`, counted from 0, is where a run begins that has no such state.
    """

    def __init__(
        self,
        model: DecisionModel,
        encoder: RowEncoder,
        teacher: Teacher,
        recipe: Recipe,
        folder: Path,
        first_stage: int = 0,
    ) -> None:
        self.model = model
        self.encoder = encoder
        self.teacher = teacher
        self.recipe = recipe
        self.folder = folder
        self.optimizer = _optimizer(model, recipe)
        self.replicas = Replicas(model, recipe.replicas)
        self.stage = first_stage
        self.step = 0
        if self._state_path.is_file():
            self._resume()

    def run(self, data: Data, until_stage: int) -> None:
        """Trains up to and including stage `until_stage`, counted from 1."""
        while self.stage < until_stage:
            self._run_stage(data, self.recipe.stages[self.stage])
            self.stage, self.step = self.stage + 1, 0
            self._save()

    def _run_stage(self, data: Data, stage: Stage) -> None:
        rng = random.Random(f"{self.recipe.seed}/{self.stage}")
        batches = self._batches(data, stage, rng)
        for _ in range(self.step * self.replicas.count):
            next(batches)
        running_loss = 0.0
        started = time.monotonic()
        progress = tqdm(range(self.step, stage.steps), desc=f"stage {self.stage + 1}", unit="step")
        for _ in progress:
            self._set_rates(stage)
            loss = self._update([self.encoder.batch(next(batches)) for _ in range(self.replicas.count)])
            self.step += 1
            running_loss += 0.02 * (loss - running_loss) if running_loss else loss
            progress.set_postfix(loss=f"{running_loss:.3f}")
            if self.step % _MEASURE_EVERY == 0 or self.step == stage.steps:
                self._log(running_loss, time.monotonic() - started, data.held_out)
            if self.step % _SAVE_EVERY == 0:
                self._save()

    def _batches(self, data: Data, stage: Stage, rng: random.Random) -> Iterator[list[LabelledRow]]:
        """An endless stream of batches. Sources are gone through in random order, anew when they are used up."""
        streams = {name: _endless(data.sources[name], rng) for name in stage.mix}
        while True:
            names = rng.choices(list(stage.mix), list(stage.mix.values()), k=self.recipe.pool_batches * 14)
            examples = [augment(next(streams[name]), rng) for name in names]
            rows = [self.encoder.encode(example) for example in examples]
            if stage.teacher:
                rows = self.teacher.soften(rows, examples, stage.teacher)
            rows += [
                undecided(self.encoder.encode(example)) for example in _mismatched(examples, stage.mismatched, rng)
            ]
            yield from pool_batches(rows, self.recipe.batch_tokens, rng)

    def _update(self, batches: Sequence[Batch]) -> float:
        loss = self.replicas.backward(batches)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.gradient_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss

    def _set_rates(self, stage: Stage) -> None:
        rising = (self.step + 1) / stage.warmup
        falling = 1.0 - (1.0 - stage.floor) * self.step / stage.steps
        for group, peak in zip(self.optimizer.param_groups, (stage.encoder_rate, stage.head_rate), strict=True):
            group["lr"] = peak * min(rising, falling)

    def _log(self, loss: float, seconds: float, held_out: Sequence[Example]) -> None:
        rows = [self.encoder.encode(example) for example in held_out]
        found = accuracies(held_out, answers(self.model, self.encoder, rows))
        record = {
            "stage": self.stage + 1,
            "step": self.step,
            "seconds": round(seconds),
            "loss": round(loss, 4),
        }
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps({**record, **{name: round(value, 4) for name, value in found.items()}}) + "\n")

    @property
    def _state_path(self) -> Path:
        return self.folder / "state.pt"

    def _save(self) -> None:
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "stage": self.stage,
            "step": self.step,
        }
        unfinished = self._state_path.with_suffix(".tmp")
        torch.save(state, unfinished)
        unfinished.replace(self._state_path)

    def _resume(self) -> None:
        state = torch.load(self._state_path, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.stage, self.step = state["stage"], state["step"]


def _optimizer(model: DecisionModel, recipe: Recipe) -> torch.optim.Optimizer:
    def trained(prefix_is_encoder: bool) -> list[Tensor]:
        return [
            parameter
            for name, parameter in model.named_parameters()
            if parameter.requires_grad and name.startswith("encoder.") == prefix_is_encoder
        ]

    groups = [{"params": trained(True)}, {"params": trained(False)}]
    return torch.optim.AdamW(groups, weight_decay=recipe.weight_decay, fused=True)


def _mismatched(examples: Sequence[Example], share: float, rng: random.Random) -> Iterator[Example]:
    """Scenarios with the states of others: whoever prefers an option there has not read the state."""
    written = [example for example in examples if ":" not in example.group]
    for example in written:
        other = rng.choice(written)
        if rng.random() < share and other.group != example.group:
            yield replace(example, state=other.state)


def _endless(examples: Sequence[Example], rng: random.Random) -> Iterator[Example]:
    while True:
        yield from rng.sample(examples, len(examples))
