from __future__ import annotations

import random
from pathlib import Path

from training.sources import wordnet

DATA = {
    "noun": (
        "00000001 05 n 01 animal 0 000 | a living organism that feeds on other organisms\n"
        "00000002 05 n 01 dog 0 001 @ 00000001 n 0000 | a tame animal that barks and guards the house; "
        '"the dog barked all night"\n'
        "00000003 06 n 02 dog 1 firedog 0 000 | a metal support for logs in a fireplace; "
        '"the dog was too hot to touch"\n'
        "00000004 13 n 01 bread 0 000 | food made from a dough of flour that is baked\n"
        "00000005 18 n 01 baker 0 000 | someone who bakes bread or cakes for money\n"
        "00000006 15 n 01 bakery 0 000 | a place where bread and cakes are made\n"
        "00000007 20 n 01 rye 0 000 | a tall hardy cereal grass grown for its grain\n"
        "00000008 28 n 01 noon 0 000 | the middle of the day at twelve\n"
    ),
    "verb": "00000009 30 v 01 bake 0 000 | cook with dry heat in an oven\n",
    "adj": "00000010 00 a 01 stale 0 000 | no longer fresh and dry from age\n",
    "adv": "00000011 02 r 01 slowly 0 000 | without speed and taking much time\n",
}


def dictionary(folder: Path) -> Path:
    for pos, lines in DATA.items():
        (folder / f"data.{pos}").write_text(f"  1 licence line\n{lines}", encoding="latin-1")
    return folder


def test_synset_line_is_read_with_parents_definition_and_sentences(tmp_path: Path) -> None:
    dog = list(wordnet.read_synsets(dictionary(tmp_path) / "data.noun"))[1]
    assert dog.words == ("dog",)
    assert dog.parents == (1,)
    assert dog.definition == "a tame animal that barks and guards the house"
    assert dog.sentences == ("the dog barked all night",)


def test_examples_depend_on_the_seed_alone(tmp_path: Path) -> None:
    folder = dictionary(tmp_path)
    first, again, other = (wordnet.read(folder, 60, random.Random(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_every_example_has_its_gold_among_its_options(tmp_path: Path) -> None:
    for example in wordnet.read(dictionary(tmp_path), 200, random.Random(0)):
        count = 2 if example.type == "noul" else len(example.question["criteria"])
        assert 0 <= example.target < count
