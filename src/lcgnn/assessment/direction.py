"""Names that are written from right to left, or turn the direction of what follows, within a sentence."""

from __future__ import annotations

import unicodedata

_OPEN, _CLOSE = "\u2068", "\u2069"
_OPENS = "\u2066\u2067\u2068"
# Of letters from right to left, of Arabic numbers, and of the marks that turn the direction.
_TURNING = frozenset(("R", "AL", "AN", "RLE", "RLO", "LRE", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI"))


def isolated(name: str) -> str:
    """A name as it can stand in a sentence, whose other words and numbers then stay in their places.

    One that turns no direction is as it was.
    """
    if name.isascii() or not any(unicodedata.bidirectional(letter) in _TURNING for letter in name):
        return name
    return f"{_OPEN}{_balanced(name)}{_CLOSE}"


def _balanced(name: str) -> str:
    """The name without marks that end what it has not begun, and with an end for what it has."""
    kept, depth = [], 0
    for letter in name:
        if letter == _CLOSE and not depth:
            continue
        depth += (letter in _OPENS) - (letter == _CLOSE)
        kept.append(letter)
    return "".join(kept) + depth * _CLOSE
