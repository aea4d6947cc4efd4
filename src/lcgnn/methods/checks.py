"""Settings are checked when a method is made: their types, and the ranges that their fields declare."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import math
from collections.abc import Mapping
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from lcgnn.errors import ConfigError

# Of a setting that counts something: what torch and this machine's memory can address is far below.
_LARGEST = 2**31 - 1
# Of a setting that is a number: what there is in the single precision that networks compute in.
_LARGEST_NUMBER = 3.4e38

_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text", NoneType: "null"}


def check_settings(name: str, method: type, settings: Mapping[str, Any]) -> None:
    """Raise ConfigError for a setting that is not there, of another type than its field's, or out of its range."""
    _check_known(name, [field.name for field in dataclasses.fields(method)], settings)
    kinds = _kinds(method)
    for field in dataclasses.fields(method):
        if field.name not in settings:
            continue
        value, kind = settings[field.name], kinds.get(field.name)
        if not _fits(value, kind):
            raise ConfigError(f"{name}: {field.name} is {value!r}; it must be {_in_words(kind)}.")
        if value is not None:
            _check_range(name, field, value)


def _check_known(name: str, known: list[str], settings: Mapping[str, Any]) -> None:
    for key in settings:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else f" It has: {', '.join(known)}."
            raise ConfigError(f"{name} has no setting {key!r}.{hint}")


@functools.cache
def _kinds(method: type) -> dict[str, Any]:
    """The types of the fields; none if the annotations name what only the function around the class knows."""
    try:
        return get_type_hints(method)
    except NameError:
        return {}


def _fits(value: Any, kind: Any) -> bool:
    if get_origin(kind) in (Union, UnionType):
        return any(_fits(value, one) for one in get_args(kind))
    if kind is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if kind is float:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    return isinstance(value, kind) if kind in _WORDS else True


def _in_words(kind: Any) -> str:
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    words: list[str] = []
    for one in kinds:
        words += map(str, get_args(one)) if get_origin(one) is Literal else [_WORDS.get(one, str(one))]
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _check_range(name: str, field: dataclasses.Field[Any], value: Any) -> None:
    if isinstance(value, Integral) and abs(int(value)) > _LARGEST:
        raise ConfigError(f"{name}: {field.name} is {_shown(value)}; no setting can be above {_LARGEST:,}.")
    if isinstance(value, float) and abs(value) > _LARGEST_NUMBER:
        raise ConfigError(f"{name}: {field.name} is {value:g}; no setting can be above {_LARGEST_NUMBER:g}.")
    limits = ("at_least", "above", "below", "at_most")
    at_least, above, below, at_most = (field.metadata.get(limit) for limit in limits)
    if at_least is not None and value < at_least:
        raise ConfigError(f"{name}: {field.name} is {value}; it must be at least {at_least}.")
    if above is not None and value <= above:
        raise ConfigError(f"{name}: {field.name} is {value}; it must be above {above}.")
    if below is not None and value >= below:
        raise ConfigError(f"{name}: {field.name} is {value}; it must be below {below}.")
    if at_most is not None and value > at_most:
        raise ConfigError(f"{name}: {field.name} is {value}; it must be at most {at_most:,}.")


def _shown(value: Integral) -> str:
    # Python refuses to write out an integer of thousands of digits.
    return f"{int(value):,}" if int(value).bit_length() < 100 else "a number of very many digits"
