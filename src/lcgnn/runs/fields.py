"""Fields of JSON objects, read by name and type: whatever is wrong is told in one line with its place."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from lcgnn.errors import OutputError

Value = TypeVar("Value")

# Plain data that nobody looks into may be nested so deep; deeper is no setting of anything.
_DEEPEST = 20

_KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}


class Place:
    """Where in a file a value stands; put into words only when something is wrong there.

    Args:
        where: The file, or whatever the object is called.
        within: What the value is part of; None for the whole.
        step: The name of the field, or the position in the list.
    """

    __slots__ = ("_step", "_within", "where")

    def __init__(self, where: str, within: Place | None = None, step: str | int = "") -> None:
        self.where, self._within, self._step = where, within, step

    def to(self, step: str | int) -> Place:
        """The place of a field or an item."""
        return Place(self.where, self, step)

    @property
    def path(self) -> str:
        """Such as ``stages[0].name``; empty for the whole."""
        if self._within is None:
            return ""
        before = self._within.path
        if isinstance(self._step, int):
            return f"{before}[{self._step}]"
        name = self._step if self._step.isidentifier() else repr(self._step)
        return f"{before}.{name}" if before else name

    def error(self, problem: str) -> OutputError:
        """What is wrong here, and what to do."""
        return OutputError(f"{self.where}: {self.path or 'the content'} {problem}. Restore the file or delete it.")

    def wrong(self, value: Any, expected: str) -> OutputError:
        """That a value is not what it should be."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            text = repr(float(value)) if isinstance(value, float) else _short(value)
            return self.error(f"is {text}, not {expected}")
        return self.error(f"is {_KINDS.get(type(value), type(value).__name__)}, not {expected}")


Reader = Callable[[Any, Place], Value]


class Fields:
    """A JSON object whose fields are read one by one."""

    def __init__(self, content: Mapping[str, Any], place: Place) -> None:
        self._content = content
        self._unread = set(content)
        self.place = place

    def __contains__(self, name: str) -> bool:
        return name in self._content

    def read(self, name: str, reader: Reader[Value]) -> Value:
        """A field that must be there."""
        if name not in self._content:
            raise self.place.to(name).error("is missing")
        self._unread.discard(name)
        return reader(self._content[name], self.place.to(name))

    def find(self, name: str, reader: Reader[Value]) -> Value | None:
        """A field that older files may not have; None without it."""
        return self.read(name, reader) if name in self._content else None

    def check_all_read(self) -> None:
        """Refuse what has not been read, for it would be lost when the object is written again."""
        if self._unread:
            name = min(self._unread, key=repr)
            raise self.place.error(f"has a field {name!r} that is not known here")


@contextmanager
def fields_of(content: Any, place: Place) -> Iterator[Fields]:
    """The fields of an object, every one of which is to be read in the block."""
    if not isinstance(content, dict):
        raise place.wrong(content, "an object")
    fields = Fields(content, place)
    yield fields
    fields.check_all_read()


def text(value: Any, place: Place) -> str:
    if not isinstance(value, str):
        raise place.wrong(value, "text")
    return value


def whole(value: Any, place: Place) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise place.wrong(value, "a whole number")
    return value


def count(value: Any, place: Place) -> int:
    """A whole number from 0 on."""
    if whole(value, place) < 0:
        raise place.wrong(value, "a count")
    return int(value)


def number(value: Any, place: Place) -> float:
    """A finite number; a whole one is taken as well."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise place.wrong(value, "a number")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise place.wrong(value, "a finite number")
    return found


def share(value: Any, place: Place) -> float:
    """A number from 0 to 1."""
    if not 0 <= number(value, place) <= 1:
        raise place.wrong(value, "a share from 0 to 1")
    return float(value)


def duration(value: Any, place: Place) -> float:
    """A number of seconds."""
    if number(value, place) < 0:
        raise place.wrong(value, "a number of seconds")
    return float(value)


def positive(value: Any, place: Place) -> float:
    if number(value, place) <= 0:
        raise place.wrong(value, "a positive number")
    return float(value)


def one_of(*names: str) -> Reader[str]:
    """One of some words."""

    def read(value: Any, place: Place) -> str:
        if text(value, place) not in names:
            raise place.error(f"is {_short(value)}, not {' or '.join(map(repr, names))}")
        return str(value)

    return read


def nullable(reader: Reader[Value]) -> Reader[Value | None]:
    """The same, or null."""
    return lambda value, place: None if value is None else reader(value, place)


def list_of(reader: Reader[Value], length: int | None = None) -> Reader[tuple[Value, ...]]:
    """A list of such values, of any length or of this one."""

    def read(value: Any, place: Place) -> tuple[Value, ...]:
        if not isinstance(value, list):
            raise place.wrong(value, "a list")
        if length is not None and len(value) != length:
            raise place.error(f"has {len(value)} items, not {length}")
        return tuple(reader(item, place.to(position)) for position, item in enumerate(value))

    return read


def plain_object(value: Any, place: Place) -> dict[str, Any]:
    """An object of plain data that is passed on as it is."""
    if not isinstance(value, dict):
        raise place.wrong(value, "an object")
    _check_plain(value, place, _DEEPEST)
    return value


def _check_plain(value: Any, place: Place, depth: int) -> None:
    if not depth:
        raise place.error("is nested too deeply")
    if isinstance(value, dict):
        for name, item in value.items():
            _check_plain(item, place.to(text(name, place)), depth - 1)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            _check_plain(item, place.to(position), depth - 1)
    elif isinstance(value, float):
        number(value, place)
    elif value is not None and not isinstance(value, (str, int)):
        raise place.wrong(value, "plain data")


def _short(value: Any) -> str:
    # Python refuses to write out an integer of thousands of digits.
    if isinstance(value, int) and value.bit_length() > 100:
        return "a number of very many digits"
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
