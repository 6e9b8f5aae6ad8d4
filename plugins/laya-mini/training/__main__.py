"""`python -m training`: fetch the inputs, train in stages, fit the temperatures, write the checkpoint."""

from __future__ import annotations

import argparse
import random
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from laya_mini import CHECKPOINT
from training.config import Recipe
from training.examples import Example
from training.export import export_checkpoint
from training.inputs import Inputs, fetch_inputs
from training.rows import RowEncoder
from training.sources import contrasts, debian, families, grids, manuals, matching, scenarios, wordnet
from training.starting_model import build_from_checkpoint, build_starting_model, write_encoder_config
from training.teacher import Teacher
from training.train import Data, Trainer
from training.vocabulary import choose_tokens, write_pruned_tokenizer

_LONG = 400
"""Characters from which on a question with its state counts as a long text."""


def main() -> None:
    options = _parse_arguments()
    recipe = Recipe(seed=options.seed)
    inputs = fetch_inputs(options.work / "inputs")
    data = read_data(inputs, recipe)
    skeleton = options.work / "skeleton"
    if options.checkpoint:
        for folder in ("tokenizer", "encoder"):
            shutil.copytree(options.checkpoint / folder, skeleton / folder, dirs_exist_ok=True)
        model = build_from_checkpoint(options.checkpoint, recipe)
    else:
        model = build_starting_model(inputs.encoder, prune_vocabulary(inputs, data, recipe, skeleton), recipe)
    rows = RowEncoder(skeleton / "tokenizer", recipe.row_tokens)
    trainer = Trainer(model, rows, Teacher(inputs.encoder), recipe, options.work, options.first_stage - 1)
    trainer.run(data, options.until_stage or len(recipe.stages))
    export_checkpoint(model, data.held_out, skeleton, options.out)
    print(f"checkpoint written to {options.out}; measure it with: python -m training.evaluate --help")


def read_data(inputs: Inputs, recipe: Recipe) -> Data:
    """All examples, the same for the same seed and inputs."""
    training, held_out = scenarios.read()
    balanced, held_out_families = families.read()
    crossed, held_out_grids = grids.read()
    contrasted, held_out_contrasts = contrasts.read()
    scores = [example for example in training if example.type == "score"]
    described = [example for example in training if example.question.get("criteria")]
    sources = {
        "families": balanced,
        "grids": crossed,
        "contrasts": contrasted,
        "plain": grids.read(files="plain_*.jsonl")[0],
        "long": [example for example in balanced + training if len(_text(example)) > _LONG],
        "scenarios": training + scores,  # scores are the rarest type
        "options": described + scores,
    }
    dictionary, manual = inputs.debian_root / "usr/share/wordnet", inputs.debian_root / "usr/share/man"
    readers = {
        "matching": partial(matching.read, dictionary),
        "wordnet": partial(wordnet.read, dictionary),
        "debian": partial(debian.read, inputs.debian_lists),
        "manuals": partial(manuals.read, manual),
    }
    for name, read in readers.items():
        sources[name] = read(recipe.source_examples[name], random.Random(f"{recipe.seed}/{name}"))
    rng = random.Random(recipe.seed)
    measured = [
        example
        for written in (held_out, held_out_families, held_out_grids, held_out_contrasts)
        for example in rng.sample(written, min(recipe.held_out_examples, len(written)))
    ]
    return Data(sources, measured)


def prune_vocabulary(inputs: Inputs, data: Data, recipe: Recipe, skeleton: Path) -> list[int]:
    """The kept token ids; writes tokenizer and encoder config into `skeleton`.

    A run that is resumed keeps the vocabulary it began with, whatever became of the data.
    """
    remembered = skeleton / "kept_tokens.txt"
    if not remembered.is_file():
        kept = choose_tokens(inputs.encoder / "tokenizer.json", _texts(data), recipe.vocabulary_size)
        write_pruned_tokenizer(inputs.encoder, kept, skeleton / "tokenizer")
        write_encoder_config(inputs.encoder, len(kept), skeleton / "encoder")
        remembered.write_text("\n".join(map(str, kept)), encoding="utf-8")
    return [int(line) for line in remembered.read_text(encoding="utf-8").split()]


def _texts(data: Data) -> Iterator[str]:
    for examples in data.sources.values():
        yield from map(_text, examples)


def _text(example: Example) -> str:
    return f"{example.state} {example.question['instructions']} {example.question.get('criteria', '')}"


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument(
        "--work", type=Path, default=Path("build"), help="folder for downloads, log and resumable state"
    )
    parser.add_argument("--out", type=Path, default=CHECKPOINT, help="where the checkpoint goes (default: the package)")
    parser.add_argument("--seed", type=int, default=Recipe().seed)
    parser.add_argument(
        "--checkpoint",
        type=Path,
        help="train this checkpoint further, with the stages from --first-stage on",
    )
    parser.add_argument("--first-stage", type=int, default=1, help="the stage a new run begins with (default: 1)")
    parser.add_argument("--until-stage", type=int, help="stop after this stage; the same command resumes later")
    return parser.parse_args()


if __name__ == "__main__":
    main()
