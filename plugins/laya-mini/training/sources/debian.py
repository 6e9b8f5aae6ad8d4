"""Examples from Debian's package descriptions, their sections and their debtags."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from training.examples import Example, choice, noul, shuffled

SECTIONS = {
    "admin": "system administration",
    "comm": "communication over phone lines and modems",
    "database": "databases",
    "doc": "manuals and documentation",
    "editors": "text editors",
    "education": "teaching and learning",
    "electronics": "electronics and circuits",
    "fonts": "typefaces",
    "games": "games and amusement",
    "gis": "maps and geographic data",
    "gnome": "parts of the GNOME desktop",
    "graphics": "pictures, drawing, photography",
    "hamradio": "amateur radio",
    "httpd": "web servers",
    "java": "Java libraries and tools",
    "javascript": "JavaScript libraries",
    "kde": "parts of the KDE desktop",
    "libdevel": "headers for building against a library",
    "localization": "translations and language support",
    "mail": "e-mail",
    "math": "mathematics",
    "misc": "anything that fits nowhere else",
    "net": "network clients and services",
    "news": "Usenet news",
    "perl": "Perl modules",
    "python": "Python modules",
    "ruby": "Ruby modules",
    "science": "scientific software",
    "shells": "command shells",
    "sound": "audio and music",
    "tex": "typesetting with TeX",
    "text": "text processing",
    "utils": "small utilities",
    "vcs": "version control",
    "video": "films and video",
    "web": "browsers and web tools",
    "x11": "the X window system",
}

TAG_STATEMENTS = {
    "interface::commandline": ("works on the command line", "is used by typing commands in a terminal"),
    "interface::graphical": ("has a graphical user interface", "shows windows with buttons and menus"),
    "interface::daemon": ("runs as a background service", "is a daemon"),
    "network::server": ("serves clients over a network", "is server software"),
    "network::client": ("connects to servers as a client", "is network client software"),
    "role::shared-lib": (
        "is a library that other programs load",
        "is no program of its own but a shared library",
    ),
    "role::documentation": ("is documentation", "contains manuals to read, not software to run"),
    "use::gameplaying": ("is for playing", "is a game"),
    "use::converting": ("converts data from one format into another", "is a converter"),
    "use::editing": ("is for editing", "lets the user edit something"),
    "use::monitor": ("monitors something", "keeps watch on a system or device"),
    "use::viewing": ("displays files or data", "is a viewer"),
    "field::biology": ("is meant for biologists", "deals with biology"),
    "field::mathematics": ("is meant for mathematicians", "deals with mathematics"),
    "works-with::audio": ("handles sound", "works with audio"),
    "works-with::image": ("handles pictures", "works with images"),
    "works-with::text": ("works with text", "processes text"),
    "works-with::mail": ("has to do with e-mail", "handles mail messages"),
    "security::cryptography": ("has to do with encryption", "uses cryptography"),
    "devel::lang:python": ("is meant for Python programmers", "has to do with developing in Python"),
    "devel::lang:perl": ("is meant for Perl programmers", "has to do with developing in Perl"),
}

WHICH_SECTION = (
    "Which section of the archive does this package belong to?",
    "Sort this software into one category.",
    "Where would you file this program?",
    "What is it mainly about?",
)
WHICH_TITLE = (
    "Which headline fits the text?",
    "Choose the best one-line summary.",
    "What is this a description of?",
    "Pick the title that matches.",
)
TITLE_FITS = (
    'The text could carry the title "{title}".',
    "Is this about: {title}?",
    "The following summary is right: {title}.",
)
TAG_HOLDS = (
    "The software {statement}.",
    "It {statement}.",
    "According to the text, this package {statement}.",
)


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    section: str
    tags: frozenset[str]
    title: str
    paragraphs: tuple[str, ...]


def read(lists: Path, count: int, rng: random.Random) -> list[Example]:
    """Makes `count` examples from apt's indices in `lists` (`Packages` and `Translation-en`, lz4)."""
    builder = _Builder(list(read_packages(lists)), rng)
    makers = [
        (builder.which_section, 3),
        (builder.which_title, 5),
        (builder.title_fits, 3),
        (builder.tag_holds, 4),
    ]
    examples: list[Example] = []
    while len(examples) < count:
        maker = rng.choices([m for m, _ in makers], [w for _, w in makers])[0]
        examples.extend(maker())
    return examples[:count]


def read_packages(lists: Path) -> Iterator[Package]:
    """One package per distinct description of Debian's main archive."""
    (index,) = lists.glob("*_dists_bookworm_main_binary-*_Packages.lz4")
    (translation,) = lists.glob("*_dists_bookworm_main_i18n_Translation-en.lz4")
    descriptions = {s["Description-md5"]: s["Description-en"] for s in _stanzas(translation) if "Description-en" in s}
    for stanza in _stanzas(index):
        description = descriptions.pop(stanza.get("Description-md5", ""), "")
        title, _, body = description.partition("\n")
        paragraphs = tuple(_paragraphs(body))
        section = stanza.get("Section", "")
        if paragraphs and section in SECTIONS:
            tags = frozenset(_expand_tags(stanza.get("Tag", "")))
            yield Package(stanza["Package"], section, tags, title.strip(), paragraphs)


def _stanzas(path: Path) -> Iterator[dict[str, str]]:
    text = subprocess.run(["lz4", "-dc", str(path)], check=True, capture_output=True).stdout.decode()
    for block in text.split("\n\n"):
        fields = re.findall(r"^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)", block, flags=re.MULTILINE)
        yield dict(fields)


def _expand_tags(text: str) -> Iterator[str]:
    """`a::{b,c}` is short for `a::b` and `a::c`."""
    for tag in re.split(r",\s+", text.replace("\n", " ").strip()):
        facet, brace, values = tag.partition("{")
        yield from (facet + v for v in values.rstrip("}").split(",")) if brace else (tag,)


def _paragraphs(body: str) -> Iterator[str]:
    for paragraph in re.split(r"\n \.\n", body):
        text = " ".join(paragraph.split())
        if 12 <= len(text.split()) <= 130:
            yield text


class _Builder:
    def __init__(self, packages: list[Package], rng: random.Random) -> None:
        self.rng = rng
        self.by_section: dict[str, list[Package]] = {}
        for package in packages:
            self.by_section.setdefault(package.section, []).append(package)
        self.sections = list(self.by_section)
        self.tagged = [p for p in packages if len(p.tags) >= 4]

    def which_section(self) -> list[Example]:
        package = self._package()
        wrong = self.rng.sample([s for s in self.sections if s != package.section], self.rng.randint(2, 7))
        names = shuffled([package.section, *wrong], self.rng)
        described = self.rng.random() < 0.6
        criteria = {name: SECTIONS[name] if described else "" for name in names}
        return [choice("debian", self._text(package), self.rng.choice(WHICH_SECTION), criteria, package.section)]

    def which_title(self) -> list[Example]:
        package = self._package()
        titles = {p.title for p in (self._other(package) for _ in range(self.rng.randint(2, 6)))}
        options = shuffled([package.title, *sorted(titles - {package.title})], self.rng)
        if len(options) < 2:
            return []
        return [choice("debian", self._text(package), self.rng.choice(WHICH_TITLE), options, package.title)]

    def title_fits(self) -> list[Example]:
        package = self._package()
        holds = self.rng.random() < 0.5
        title = package.title if holds else self._other(package).title
        if holds != (title == package.title):
            return []
        instructions = self.rng.choice(TITLE_FITS).format(title=title)
        return [noul("debian", self._text(package), instructions, holds)]

    def tag_holds(self) -> list[Example]:
        package = self.rng.choice(self.tagged)
        holds = self.rng.random() < 0.5
        facets = {tag.partition("::")[0] for tag in package.tags}
        tags = [t for t in TAG_STATEMENTS if (t in package.tags) == holds and t.partition("::")[0] in facets]
        if not tags:
            return []
        statement = self.rng.choice(TAG_STATEMENTS[self.rng.choice(tags)])
        instructions = self.rng.choice(TAG_HOLDS).format(statement=statement)
        return [noul("debian", self._text(package), instructions, holds)]

    def _package(self) -> Package:
        return self.rng.choice(self.by_section[self.rng.choice(self.sections)])

    def _other(self, package: Package) -> Package:
        near = self.rng.random() < 0.5
        return self.rng.choice(self.by_section[package.section]) if near else self._package()

    def _text(self, package: Package) -> object:
        paragraph = self.rng.choice(package.paragraphs)
        if self.rng.random() < 0.1:
            return {"package": package.name, "description": paragraph}
        return paragraph
