"""Every public name with its signature, as text: ``python -m tests.public_names`` writes tests/public_names.txt.

What is public stands in docs/site/reference.py. The file is compared by a test, so that a change of the API is
seen where changes are read.
"""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from docs.site.reference import public_names

FILE = Path(__file__).with_name("public_names.txt")


def found(full: str) -> Any:
    """What a public name stands for."""
    module, _, name = full.rpartition(".")
    return getattr(import_module(module), name)


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """The public members of a class that lcgnn defines itself, in order."""
    for name, value in vars(kind).items():
        # Scikit-learn adds descriptors of its own to estimators.
        if not name.startswith(("_", "set_")) and not inspect.isclass(value):
            yield name, value


def lines() -> Iterator[str]:
    """A line for every public name and every public member of a class."""
    for full in public_names():
        what = found(full)
        yield f"{full}{_signature(what)}"
        if isinstance(what, type):
            fields = {item.name for item in dataclasses.fields(what)} if dataclasses.is_dataclass(what) else set()
            for name, value in members(what):
                if name not in fields:
                    yield f"{full}.{name}{_of_member(value)}"


def _of_member(value: Any) -> str:
    if isinstance(value, property | cached_property):
        getter = value.fget if isinstance(value, property) else value.func
        return f": {_plain(inspect.signature(getter).return_annotation)}"
    inner = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    return _signature(inner) if callable(inner) else ""


def _signature(what: Any) -> str:
    try:
        return _plain(inspect.signature(what))
    except (TypeError, ValueError):
        return ""


def _plain(signature: Any) -> str:
    """Without quotes around annotations, and without what differs from one Python or process to the next."""
    text = re.sub(r"<factory>|<function \S+ at 0x[0-9a-f]+>", "...", str(signature))
    return re.sub(r"((?:: |-> |^))'([^']*)'", r"\1\2", text)


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n", encoding="utf-8")
    print(f"Wrote {FILE}")
