"""Names of classes that may be something else: a sign for an unknown label, or one class written in two ways."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence

from lcgnn.features.table import listed

# What people write where they do not know, and what might as well be the name of a class.
_SIGNS = (
    "?",
    "??",
    "-",
    "--",
    ".",
    "*",
    "unknown",
    "unk",
    "undefined",
    "missing",
    "none",
    "nil",
    "no label",
    "tbd",
    "na",
    "n.a.",
    "(null)",
    "nat",
    "#ref!",
    "#value!",
    "#name?",
    "#div/0!",
    "#num!",
    "#null!",
)
# So many names that look the same are named.
_MOST_TWINS = 4
# Characters that are not seen.
_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


def odd_classes(names: Sequence[str], empty: str = "leave the cells empty") -> list[str]:
    """A sentence on every class, or group of them, that may not be meant as such.

    Args:
        names: Of the classes, as text.
        empty: How to say that a label is not known.
    """
    unknown = [name for name in names if name.strip().casefold() in _SIGNS]
    told = []
    if unknown:
        told.append(f"{_taken(unknown)}. If {_it(unknown)} that the label is unknown, {empty}.")
    negative = [name for name in names if _number(name) is not None and name.strip().startswith("-")]
    if negative:
        told.append(f"{_taken(negative)}. If {_it(negative)} that the label is unknown, {empty}.")
    amounts = [name for name in names if _is_fraction(name)]
    if amounts:
        looks = "it looks like an amount" if len(amounts) == 1 else "they look like amounts"
        told.append(f"{_taken(amounts)}, though {looks}: classes are predicted.")
    for twins in _groups(names, _number):
        told.append(f"{listed(twins)} are kept apart, though they are one number. Write one class one way.")
    for twins in _groups(names, str.casefold):
        told.append(
            f"{listed(twins)} are kept apart, though they differ only in upper and lower case. Write one class "
            "one way."
        )
    for twins in _groups(names, as_it_looks):
        told.append(
            f"{', '.join(map(ascii, twins[:_MOST_TWINS]))} are kept apart, though they look the same: some "
            "characters are others, or are not seen."
        )
    return told


def _taken(names: list[str]) -> str:
    return f"{listed(names)} {'is taken as a class' if len(names) == 1 else 'are taken as classes'}"


def _it(names: list[str]) -> str:
    return "it means" if len(names) == 1 else "they mean"


def as_it_looks(name: str) -> str:
    """A name without what makes it another one than a name that looks the same."""
    return unicodedata.normalize("NFKC", name.translate(_UNSEEN))


def _number(name: str) -> float | None:
    try:
        return float(name)
    except ValueError:
        return None


def _is_fraction(name: str) -> bool:
    number = _number(name)
    return number is not None and math.isfinite(number) and number != math.floor(number)


def _groups(names: Iterable[str], key: Callable[[str], object]) -> Iterator[list[str]]:
    """The names of which several have the same key, by key; a key that is None is no one's."""
    groups: dict[object, list[str]] = {}
    for name in names:
        if (found := key(name)) is not None:
            groups.setdefault(found, []).append(name)
    return (alike for alike in groups.values() if len(alike) > 1)
