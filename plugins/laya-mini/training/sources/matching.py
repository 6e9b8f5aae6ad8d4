"""Examples whose answer stands in the state word for word: they teach the markers to read their options."""

from __future__ import annotations

import random
from pathlib import Path

from training.examples import Example, choice, noul, shuffled
from training.sources.wordnet import read_synsets

WHICH_OCCURS = (
    "Which of these occurs in the text?",
    "What is mentioned?",
    "Find the words that the text contains.",
)
WHICH_SAYS = ("Which of these does the text say?", "Pick the sentence that matches.", "What is stated?")
OCCURS = ("The text mentions {words}.", 'Do the words "{words}" occur?', "{words} is mentioned.")


def read(dictionary: Path, count: int, rng: random.Random) -> list[Example]:
    """Makes `count` short examples from WordNet's definitions in `dictionary` (`/usr/share/wordnet`)."""
    definitions = [
        synset.definition
        for pos in ("noun", "verb", "adj")
        for synset in read_synsets(dictionary / f"data.{pos}")
        if 4 <= len(synset.definition.split()) <= 16
    ]
    makers = (_which_occurs, _which_says, _occurs)
    return [rng.choices(makers, (4, 3, 3))[0](definitions, rng) for _ in range(count)]


def _which_occurs(definitions: list[str], rng: random.Random) -> Example:
    text, *others = rng.sample(definitions, rng.randint(2, 6))
    gold = _span(text, rng)
    wrong = {_span(other, rng) for other in others} - {gold}
    options = shuffled([gold, *sorted(span for span in wrong if span not in text), "none of these"], rng)
    return choice("matching", text, rng.choice(WHICH_OCCURS), options, gold)


def _which_says(definitions: list[str], rng: random.Random) -> Example:
    gold, *others = rng.sample(definitions, rng.randint(2, 4))
    return choice("matching", gold, rng.choice(WHICH_SAYS), shuffled([gold, *others], rng), gold)


def _occurs(definitions: list[str], rng: random.Random) -> Example:
    text, other = rng.sample(definitions, 2)
    holds = rng.random() < 0.5
    span = _span(text if holds else other, rng)
    return noul("matching", text, rng.choice(OCCURS).format(words=span), span in text)


def _span(text: str, rng: random.Random) -> str:
    """One to three neighbouring words."""
    words = text.split()
    start = rng.randrange(len(words) - 2)
    return " ".join(words[start : start + rng.randint(1, 3)])
