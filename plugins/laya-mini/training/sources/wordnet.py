"""Examples from WordNet 3.0: definitions, kinds of things, usage sentences."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from training.examples import Example, choice, noul, shuffled

LEXICAL_FILES = {
    4: ("act", "a deed or activity of people"),
    5: ("animal", "an animal"),
    6: ("artifact", "a man-made object"),
    7: ("attribute", "a quality or property of something"),
    8: ("body", "a part of the body"),
    9: ("cognition", "a thought, a field of knowledge, a mental process"),
    10: ("communication", "language, messages, signs, works"),
    11: ("event", "a natural event or happening"),
    12: ("feeling", "an emotion"),
    13: ("food", "something to eat or drink"),
    14: ("group", "a group of people or things"),
    15: ("location", "a place or region"),
    17: ("object", "a natural object, not man-made"),
    18: ("person", "a person"),
    19: ("phenomenon", "a natural phenomenon"),
    20: ("plant", "a plant"),
    21: ("possession", "money, property, a transfer of them"),
    22: ("process", "a natural process"),
    23: ("quantity", "an amount or unit of measure"),
    26: ("state", "a condition of someone or something"),
    27: ("substance", "a material or chemical"),
    28: ("time", "a time or period"),
}

WORD_FOR_DEFINITION = (
    "Which word is defined here?",
    "The text describes one of these. Which?",
    "Name what is being described.",
    "What does this definition explain?",
)
DEFINITION_FOR_SENTENCE = (
    'What does "{word}" mean in this sentence?',
    "How is the word {word} used here?",
    'Choose the sense of "{word}".',
)
KIND_OF_THING = (
    "What kind of thing is described?",
    "Pick the category the described thing belongs to.",
    "Under which heading should this be filed?",
)
IS_DEFINED = (
    "This describes {word}.",
    'Is this a definition of "{word}"?',
    "The word being explained is {word}.",
)
IS_KIND_OF = (
    "What is described is a kind of {kind}.",
    "Is this a type of {kind}?",
    "The thing described counts as {kind}.",
)
IMPLIES_SENSE = (
    '"{word}" is meant here as: {definition}.',
    "In this sentence {word} means {definition}.",
)


@dataclass(frozen=True, slots=True)
class Synset:
    offset: int
    pos: str
    lexical_file: int
    words: tuple[str, ...]
    parents: tuple[int, ...]
    definition: str
    sentences: tuple[str, ...]


def read(dictionary: Path, count: int, rng: random.Random) -> list[Example]:
    """Makes `count` examples from the database files in `dictionary` (`/usr/share/wordnet`)."""
    synsets = [s for pos in ("noun", "verb", "adj", "adv") for s in read_synsets(dictionary / f"data.{pos}")]
    builder = _Builder(synsets, rng)
    makers = [
        (builder.word_for_definition, 4),
        (builder.sense_in_sentence, 6),
        (builder.sense_holds, 4),
        (builder.kind_of_thing, 3),
        (builder.is_kind_of, 4),
        (builder.is_defined, 2),
    ]
    examples: list[Example] = []
    while len(examples) < count:
        maker = rng.choices([m for m, _ in makers], [w for _, w in makers])[0]
        examples.extend(maker())
    return examples[:count]


def read_synsets(path: Path) -> Iterator[Synset]:
    for line in path.read_text(encoding="latin-1").splitlines():
        if line.startswith("  "):
            continue
        data, _, gloss = line.partition(" | ")
        fields = data.split()
        word_count = int(fields[3], 16)
        words = tuple(_plain(fields[4 + 2 * i]) for i in range(word_count))
        pointers = fields[5 + 2 * word_count :]
        parents = tuple(int(pointers[i + 1]) for i in range(len(pointers) - 3) if pointers[i] in ("@", "@i"))
        definition = re.split(r';\s*"', gloss)[0].strip(' ;"')
        sentences = tuple(s for s in re.findall(r'"([^"]+)"', gloss) if len(s.split()) >= 4)
        yield Synset(int(fields[0]), fields[2], int(fields[1]), words, parents, definition, sentences)


def _plain(word: str) -> str:
    return re.sub(r"\([a-z]+\)$", "", word).replace("_", " ")


class _Builder:
    def __init__(self, synsets: list[Synset], rng: random.Random) -> None:
        self.rng = rng
        self.defined = [s for s in synsets if len(s.definition.split()) >= 5]
        self.nouns = [s for s in self.defined if s.pos == "n" and s.lexical_file in LEXICAL_FILES]
        self.by_offset = {s.offset: s for s in synsets if s.pos == "n"}
        self.siblings: dict[tuple[str, int], list[Synset]] = {}
        for synset in self.defined:
            self.siblings.setdefault((synset.pos, synset.lexical_file), []).append(synset)
        self.senses: dict[tuple[str, str], list[Synset]] = {}
        for synset in synsets:
            for word in synset.words:
                self.senses.setdefault((word.lower(), synset.pos), []).append(synset)
        self.illustrated = [
            (synset, word, sentence)
            for synset in synsets
            for sentence in synset.sentences
            for word in synset.words
            if word in sentence and len(self.senses[word.lower(), synset.pos]) > 1
        ]

    def word_for_definition(self) -> list[Example]:
        synset = self.rng.choice(self.defined)
        others = self._neighbours(synset, self.rng.randint(2, 6))
        words = shuffled([self.rng.choice(s.words) for s in (synset, *others)], self.rng)
        gold = next((w for w in words if w in synset.words), None)
        if gold is None or len(set(words)) < len(words) or _mentions(synset.definition, gold):
            return []
        return [choice("wordnet", synset.definition, self.rng.choice(WORD_FOR_DEFINITION), words, gold)]

    def sense_in_sentence(self) -> list[Example]:
        synset, word, sentence = self.rng.choice(self.illustrated)
        senses = [s for s in self.senses[word.lower(), synset.pos] if s is not synset]
        senses = self.rng.sample(senses, min(len(senses), self.rng.randint(1, 4)))
        options = shuffled([s.definition for s in (synset, *senses)], self.rng)
        if len(set(options)) < len(options):
            return []
        instructions = self.rng.choice(DEFINITION_FOR_SENTENCE).format(word=word)
        return [choice("wordnet", sentence, instructions, options, synset.definition)]

    def sense_holds(self) -> list[Example]:
        synset, word, sentence = self.rng.choice(self.illustrated)
        holds = self.rng.random() < 0.5
        shown = (
            synset if holds else self.rng.choice([s for s in self.senses[word.lower(), synset.pos] if s is not synset])
        )
        instructions = self.rng.choice(IMPLIES_SENSE).format(word=word, definition=shown.definition)
        return [noul("wordnet", sentence, instructions, holds)]

    def kind_of_thing(self) -> list[Example]:
        synset = self.rng.choice(self.nouns)
        wrong = self.rng.sample([f for f in LEXICAL_FILES if f != synset.lexical_file], self.rng.randint(2, 7))
        files = [LEXICAL_FILES[f] for f in shuffled([synset.lexical_file, *wrong], self.rng)]
        described = self.rng.random() < 0.6
        criteria = {name: text if described else "" for name, text in files}
        gold = LEXICAL_FILES[synset.lexical_file][0]
        return [choice("wordnet", synset.definition, self.rng.choice(KIND_OF_THING), criteria, gold)]

    def is_kind_of(self) -> list[Example]:
        synset = self.rng.choice(self.nouns)
        ancestors = self._ancestors(synset)
        if not ancestors:
            return []
        holds = self.rng.random() < 0.5
        kind = self.rng.choice(ancestors[:3])
        if not holds:
            (other,) = self._neighbours(synset, 1)
            candidates = [a for a in self._ancestors(other)[:3] if a not in ancestors and a is not synset]
            if not candidates:
                return []
            kind = self.rng.choice(candidates)
        instructions = self.rng.choice(IS_KIND_OF).format(kind=self.rng.choice(kind.words))
        return [noul("wordnet", synset.definition, instructions, holds)]

    def is_defined(self) -> list[Example]:
        synset = self.rng.choice(self.defined)
        holds = self.rng.random() < 0.5
        shown = synset if holds else self._neighbours(synset, 1)[0]
        word = self.rng.choice(shown.words)
        if _mentions(synset.definition, word) or (not holds and word in synset.words):
            return []
        return [noul("wordnet", synset.definition, self.rng.choice(IS_DEFINED).format(word=word), holds)]

    def _neighbours(self, synset: Synset, count: int) -> list[Synset]:
        """Synsets of the same part of speech: half the time from the same corner of the dictionary."""
        near = self.siblings[synset.pos, synset.lexical_file]
        pool = near if len(near) > count + 1 and self.rng.random() < 0.5 else self.defined
        found: list[Synset] = []
        while len(found) < count:
            other = self.rng.choice(pool)
            if other is not synset and other not in found:
                found.append(other)
        return found

    def _ancestors(self, synset: Synset) -> list[Synset]:
        chain: list[Synset] = []
        parents = synset.parents
        while parents and len(chain) < 12:
            parent = self.by_offset.get(parents[0])
            if parent is None:
                break
            chain.append(parent)
            parents = parent.parents
        return chain


def _mentions(text: str, word: str) -> bool:
    return word.lower() in text.lower()
