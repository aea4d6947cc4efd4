"""What commands print for programs: one JSON object, whose form has a name and a version.

The forms are JSON Schemas in ``schemas/``, one a command; the tests hold what is printed to them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from lcgnn.errors import ConfigError

# Counts up when a field goes away or changes its meaning; a new field does not need it.
VERSION = 1

_SCHEMAS = files("lcgnn.cli") / "schemas"


def print_answer(command: str, content: Mapping[str, Any]) -> None:
    """Print what a command came to as one JSON object, with the name and version of its schema first."""
    print(json.dumps({"schema": f"lcgnn.{command}", "version": VERSION, **content}, indent=2, allow_nan=False))


def schemas() -> tuple[str, ...]:
    """The commands that have a schema, by name."""
    return tuple(sorted(path.name.removesuffix(".json") for path in _SCHEMAS.iterdir() if path.is_file()))


def schema_of(command: str) -> dict[str, Any]:
    """The JSON Schema of what a command prints with ``--json``; ConfigError if there is none of that name."""
    if command not in schemas():
        raise ConfigError(f"There is no schema {command!r}; there are: {', '.join(schemas())}.")
    found: dict[str, Any] = json.loads((_SCHEMAS / f"{command}.json").read_text("utf-8"))
    return found
