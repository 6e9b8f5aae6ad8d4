"""Whether a page shows what a block prints, as far as that is the same on every machine."""

from __future__ import annotations

import re
from itertools import zip_longest

# Digits of probabilities depend on the machine's arithmetic, the bars that draw them likewise.
PROBABILITY = 0.03
_BAR = re.compile(r"[━╸╺]+ *")
_NUMBER = re.compile(r"(\d+\.\d+|\d+(?=%))")


def difference(shown: str, printed: str) -> str | None:
    """The first line that differs, or None.

    In the shown text `…` stands for anything; a probability or percentage may be 0.03 off; white space at the end of
    a line, blank lines and the length of bars do not count.
    """
    for expected, actual in zip_longest(_lines(shown), _lines(printed), fillvalue="(nothing)"):
        if not _alike(expected, actual):
            return f"shown:   {expected}\nprinted: {actual}"
    return None


def refreshed(shown: str, printed: str) -> str | None:
    """What a page should show now: the printed lines, but shown ones with `…` where these hold.

    Lines from both would not make one table. None if lines with `…` have no counterpart.
    """
    old, new = shown.split("\n"), printed.rstrip().split("\n")
    if "…" not in shown:
        return "\n".join(new)
    if len(old) != len(new):
        return None
    return "\n".join(a if "…" in a and _alike(a, b) else b for a, b in zip(old, new, strict=True))


def _lines(text: str) -> list[str]:
    return [_without_bars(line) for line in text.splitlines() if line.strip()]


def _without_bars(line: str) -> str:
    is_frame = any(corner in line for corner in "┏┡└├")
    return line.rstrip() if is_frame else _BAR.sub("", line).rstrip()


def _alike(expected: str, actual: str) -> bool:
    if "…" in expected:
        return re.fullmatch(".*".join(map(re.escape, expected.split("…"))), actual) is not None
    shown, printed = _NUMBER.split(expected), _NUMBER.split(actual)
    if len(shown) != len(printed):
        return False
    words = zip(shown[::2], printed[::2], strict=True)
    numbers = zip(shown[1::2], printed[1::2], strict=True)
    return all(" ".join(a.split()) == " ".join(b.split()) for a, b in words) and all(_close(a, b) for a, b in numbers)


def _close(shown: str, printed: str) -> bool:
    tolerance = PROBABILITY if "." in shown else 100 * PROBABILITY
    return abs(float(shown) - float(printed)) <= tolerance + 1e-9
