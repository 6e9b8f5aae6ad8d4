"""Examples from manual pages: a page's first paragraph and its one-line purpose."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from training.examples import Example, choice, noul

WHICH_PURPOSE = (
    "What does the described tool do?",
    "Which line sums up the manual?",
    "Choose the purpose of what is documented here.",
)
WHICH_PAGE = (
    "Which of these would help with that?",
    "What should I look up?",
    "Which command or function is it?",
)
PURPOSE_HOLDS = (
    "Its purpose: {purpose}.",
    "Does the text document something that serves to {purpose}?",
    "What is documented here can be summed up as: {purpose}.",
)


@dataclass(frozen=True, slots=True)
class Page:
    name: str
    purpose: str
    paragraph: str


def read(root: Path, count: int, rng: random.Random) -> list[Example]:
    """Makes `count` examples from the English pages under `root` (`usr/share/man`)."""
    pages = list(read_pages(root))
    examples: list[Example] = []
    while len(examples) < count:
        maker = rng.choices((_which_purpose, _which_page, _purpose_holds), (4, 2, 3))[0]
        examples.extend(maker(pages, rng))
    return examples[:count]


def read_pages(root: Path) -> Iterator[Page]:
    seen: set[str] = set()
    for path in sorted(root.glob("man[1-8]/*.gz")):
        text = _plain(gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
        name, purpose = _name_and_purpose(text)
        paragraph = _first_paragraph(text)
        if purpose and paragraph and purpose not in seen:
            seen.add(purpose)
            yield Page(name, purpose, paragraph)


def _plain(roff: str) -> str:
    roff = re.sub(r"\\f(?:\[\w*\]|\(..|.)|\\[&/,|^]|\\s[+-]?\d|\\m\[\w*\]", "", roff)
    roff = re.sub(r"\\\*\(?(?:[CL]\"|..)|\\\*\([A-Z]\+?", "", roff)
    for escape, text in (
        (r"\-", "-"),
        (r"\(aq", "'"),
        (r"\(dq", '"'),
        (r"\e", "\\"),
        (r"\(em", " - "),
        (r"\(bu", "-"),
    ):
        roff = roff.replace(escape, text)
    return re.sub(r"^\.(?:B|I|BR|IR|BI|IB|RB|RI|Nm|Nd|Xr|Fl|Ar|Pa) +", "", roff, flags=re.MULTILINE)


def _name_and_purpose(text: str) -> tuple[str, str]:
    match = re.search(r'^\.S[Hh] "?NAME"?\s*\n((?:.+\n)+?)(?=\.S[Hh])', text, flags=re.MULTILINE)
    lines = [line for line in match.group(1).splitlines() if not line.startswith((".", "'"))] if match else []
    name, dash, purpose = " ".join(lines).partition(" - ")
    if not dash or not 3 <= len(purpose.split()) <= 16:
        return "", ""
    return name.split(",")[0].strip(), purpose.strip()


def _first_paragraph(text: str) -> str:
    match = re.search(r'^\.S[Hh] "?DESCRIPTION"?\s*\n(.*?)(?=^\.S[Hh]|\Z)', text, flags=re.MULTILINE | re.DOTALL)
    for paragraph in re.split(r"^\.(?:PP|P|LP|sp|TP|IP|Sp)\b.*$", match.group(1), flags=re.MULTILINE) if match else []:
        plain = " ".join(line for line in paragraph.splitlines() if not line.startswith((".", "'", "\\")))
        words = plain.replace('"', "").split()
        if 15 <= len(words) <= 110 and "\\" not in plain:
            return " ".join(words)
    return ""


def _which_purpose(pages: list[Page], rng: random.Random) -> list[Example]:
    page, *others = rng.sample(pages, rng.randint(3, 6))
    options = rng.sample([page.purpose, *(p.purpose for p in others)], len(others) + 1)
    return [choice("manuals", page.paragraph, rng.choice(WHICH_PURPOSE), options, page.purpose)]


def _which_page(pages: list[Page], rng: random.Random) -> list[Example]:
    page, *others = rng.sample(pages, rng.randint(3, 6))
    options = rng.sample([page.name, *(p.name for p in others)], len(others) + 1)
    if len(set(options)) < len(options):
        return []
    return [choice("manuals", f"Wanted: {page.purpose}", rng.choice(WHICH_PAGE), options, page.name)]


def _purpose_holds(pages: list[Page], rng: random.Random) -> list[Example]:
    page, other = rng.sample(pages, 2)
    holds = rng.random() < 0.5
    instructions = rng.choice(PURPOSE_HOLDS).format(purpose=(page if holds else other).purpose)
    return [noul("manuals", page.paragraph, instructions, holds)]
