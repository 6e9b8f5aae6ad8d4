"""The recipe's numbers, in one place."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Stage:
    """One stretch of training.

    Args:
        steps: optimiser steps.
        mix: how often a row comes from each source, in proportion.
        encoder_rate, head_rate: peak learning rates.
        warmup: steps over which the rates rise from zero.
        floor: what the rates fall to, linearly, at the end of the stage, as a share of their peak.
        teacher: weight of MiniLM's own judgement in the targets, from 0 to 1.
        mismatched: share of scenarios shown with the state of another, where no option is better than the others.
    """

    steps: int
    mix: dict[str, float]
    encoder_rate: float
    head_rate: float
    warmup: int
    floor: float
    teacher: float = 0.0
    mismatched: float = 0.0


_MOSTLY_FAMILIES = {"families": 0.6, "scenarios": 0.15, "wordnet": 0.1, "debian": 0.1, "manuals": 0.05}
_NEARLY_ALL_FAMILIES = {"families": 0.7, "scenarios": 0.1, "wordnet": 0.08, "debian": 0.08, "manuals": 0.04}
_MOSTLY_GRIDS = {
    "grids": 0.6,
    "long": 0.12,
    "families": 0.12,
    "scenarios": 0.06,
    "wordnet": 0.04,
    "debian": 0.04,
    "manuals": 0.02,
}
_NEARLY_ALL_GRIDS = {
    "grids": 0.45,
    "plain": 0.27,
    "long": 0.1,
    "families": 0.08,
    "scenarios": 0.04,
    "wordnet": 0.02,
    "debian": 0.03,
    "manuals": 0.01,
}
_MANY_SCENARIOS = {
    "grids": 0.45,
    "plain": 0.1,
    "scenarios": 0.2,
    "families": 0.15,
    "long": 0.02,
    "wordnet": 0.03,
    "debian": 0.03,
    "manuals": 0.02,
}
_MOSTLY_CONTRASTS = {
    "contrasts": 0.4,
    "grids": 0.2,
    "plain": 0.05,
    "scenarios": 0.15,
    "families": 0.12,
    "long": 0.02,
    "wordnet": 0.02,
    "debian": 0.02,
    "manuals": 0.02,
}
_HALF_CONTRASTS = {
    "contrasts": 0.5,
    "scenarios": 0.17,
    "grids": 0.12,
    "plain": 0.04,
    "families": 0.1,
    "long": 0.02,
    "wordnet": 0.02,
    "debian": 0.02,
    "manuals": 0.01,
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything a run depends on besides its inputs.

    Args:
        replicas: batches of one step, each computed by a thread of its own.
        batch_tokens: padded tokens of one batch.
        pool_batches: batches drawn at once; their rows are sorted by length before they are cut into batches.
        row_tokens: longest row in training, in tokens; the checkpoint itself takes 512.
        frozen_layers: encoder layers, counted from below, that keep MiniLM's weights, as the embeddings do.
        held_out_examples: how many of each written source's held-out examples, at most, measure a stage and fit the
            temperatures. Each counts alike: texts of users are no more like one than like another.
    """

    seed: int = 7
    vocabulary_size: int = 25_000
    head_layers: int = 1
    frozen_layers: int = 1
    replicas: int = 2
    batch_tokens: int = 1_024
    pool_batches: int = 48
    row_tokens: int = 320
    held_out_examples: int = 800
    weight_decay: float = 0.01
    gradient_norm: float = 1.0
    source_examples: dict[str, int] = field(
        default_factory=lambda: {"matching": 10_000, "wordnet": 20_000, "debian": 20_000, "manuals": 6_000}
    )
    # The first four are one run, the others the run that went on from it: its rate rises again and falls to nothing,
    # in pieces, because families were added in between.
    stages: tuple[Stage, ...] = (
        Stage(
            steps=150,
            mix={"matching": 0.5, "wordnet": 0.25, "debian": 0.25},
            encoder_rate=2e-4,
            head_rate=1e-3,
            warmup=20,
            floor=1.0,
        ),
        Stage(
            steps=450,
            mix={"matching": 0.15, "wordnet": 0.3, "debian": 0.25, "manuals": 0.05, "options": 0.25},
            encoder_rate=2e-4,
            head_rate=8e-4,
            warmup=10,
            floor=0.8,
            teacher=0.4,
            mismatched=0.3,
        ),
        Stage(
            steps=600,
            mix={"families": 0.5, "scenarios": 0.15, "wordnet": 0.15, "debian": 0.15, "manuals": 0.05},
            encoder_rate=1.8e-4,
            head_rate=7e-4,
            warmup=10,
            floor=0.85,
            teacher=0.15,
            mismatched=0.3,
        ),
        Stage(
            steps=1_700,
            mix=_MOSTLY_FAMILIES,
            encoder_rate=1.6e-4,
            head_rate=6e-4,
            warmup=10,
            floor=0.0,
            teacher=0.1,
            mismatched=0.2,
        ),
        Stage(
            steps=650,
            mix=_MOSTLY_FAMILIES,
            encoder_rate=1.6e-4,
            head_rate=6e-4,
            warmup=30,
            floor=1.0,
            teacher=0.1,
            mismatched=0.2,
        ),
        Stage(
            steps=550,
            mix={"families": 0.65, "scenarios": 0.1, "wordnet": 0.1, "debian": 0.1, "manuals": 0.05},
            encoder_rate=1.6e-4,
            head_rate=6e-4,
            warmup=10,
            floor=0.82,
            teacher=0.1,
            mismatched=0.15,
        ),
        Stage(
            steps=1_300,
            mix=_NEARLY_ALL_FAMILIES,
            encoder_rate=1.31e-4,
            head_rate=4.90e-4,
            warmup=1,
            floor=0.48,
            teacher=0.1,
            mismatched=0.15,
        ),
        Stage(
            steps=850,
            mix=_NEARLY_ALL_FAMILIES,
            encoder_rate=6.3e-5,
            head_rate=2.4e-4,
            warmup=1,
            floor=0.0,
            teacher=0.1,
            mismatched=0.15,
        ),
        Stage(
            steps=2_150,
            mix=_MOSTLY_GRIDS,
            encoder_rate=1.3e-4,
            head_rate=4.8e-4,
            warmup=60,
            floor=1.0,
        ),
        Stage(
            steps=2_750,
            mix=_NEARLY_ALL_GRIDS,
            encoder_rate=1.3e-4,
            head_rate=4.8e-4,
            warmup=1,
            floor=0.035,
        ),
        Stage(
            steps=1_000,
            mix=_MANY_SCENARIOS,
            encoder_rate=1.3e-4,
            head_rate=4.8e-4,
            warmup=60,
            floor=1.0,
        ),
        Stage(
            steps=2_000,
            mix=_MOSTLY_CONTRASTS,
            encoder_rate=1.5e-4,
            head_rate=5.5e-4,
            warmup=1,
            floor=0.50,
        ),
        Stage(
            steps=2_350,
            mix=_HALF_CONTRASTS,
            encoder_rate=0.75e-4,
            head_rate=2.7e-4,
            warmup=1,
            floor=0.01,
        ),
    )
