"""What a class may be called."""

from __future__ import annotations

import unicodedata

from lcgnn.errors import ConfigError
from lcgnn.features.cells import GAPS
from lcgnn.features.table import shown
from lcgnn.sources.tables.labels import MOST_CLASSES

LONGEST_NAME = 200
# They turn the direction of what follows, so that a name is shown otherwise than it is written.
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def checked_name(name: object) -> str:
    """The name of a class, trimmed; ConfigError if a table could not hold it or would read it as no label."""
    if not isinstance(name, str) or not name.strip():
        raise ConfigError("A class needs a name.")
    if len(name) > LONGEST_NAME:
        raise ConfigError(f"A class's name of {len(name):,} characters is too long: at most {LONGEST_NAME}.")
    name = name.strip()
    if any(_is_control(character) for character in name):
        raise ConfigError("A class's name must be one line of text, without control characters.")
    if name in GAPS:
        raise ConfigError(f"{shown(name)} says in a table that there is no label. Choose another name.")
    return name


def _is_control(character: str) -> bool:
    return character in _TURNS or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def check_room(classes: int) -> None:
    """Refuse one class more than can be told apart."""
    if classes >= MOST_CLASSES:
        raise ConfigError(f"There are {classes:,} classes, and no more are possible. Merge some.")
