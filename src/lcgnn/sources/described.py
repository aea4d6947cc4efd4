"""Descriptions in JSON that come with a graph's files: read field by field, each of the type that it has to be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lcgnn.errors import DataError

# What a field may hold, beside str and dict: a whole number from 0 on, a list of texts, a list of objects.
COUNT, TEXTS, OBJECTS = "a whole number from 0 on", "a list of texts", "a list of objects"
TEXT, OBJECT = "text", "an object"
_LARGEST = 2**62


def read_described(path: Path, fields: Mapping[str, str], remedy: str) -> dict[str, Any]:
    """The object in a JSON file, which has these fields; DataError names the one that is missing or wrong.

    Args:
        path: The file.
        fields: What each has to hold: one of the constants above.
        remedy: What to do about a file that is damaged.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise DataError(f"{path} cannot be read (it is nested too deeply). {remedy}") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read ({error}). {remedy}") from error
    return checked_fields(content, fields, str(path), remedy)


def checked_fields(
    content: Any, fields: Mapping[str, str], where: str, remedy: str, *, within: str = ""
) -> dict[str, Any]:
    """The same object, after a check that it has these fields; it may have others.

    Args:
        content: What should be an object.
        fields: What each of its fields has to hold.
        where: The file.
        remedy: What to do about it.
        within: Which object of the file it is, if it is not the whole.
    """
    inside = f"{within}, " if within else ""
    if not isinstance(content, dict):
        raise DataError(f"{where} is damaged ({inside}not an object). {remedy}")
    for name, kind in fields.items():
        if name not in content:
            raise DataError(f"{where} is damaged ({inside}{name!r} is missing). {remedy}")
        if not _holds(content[name], kind):
            raise DataError(f"{where} is damaged ({inside}{name!r} is not {kind}). {remedy}")
    return content


def _holds(value: Any, kind: str) -> bool:
    if kind == COUNT:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST
    if kind == TEXT:
        return isinstance(value, str)
    if kind == OBJECT:
        return isinstance(value, dict)
    each = str if kind == TEXTS else dict
    return isinstance(value, list) and all(isinstance(item, each) for item in value)
