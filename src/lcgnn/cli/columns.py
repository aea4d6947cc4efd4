"""The options that name columns of tables, for every command that reads some."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer

_ROLES = {
    "id": "the column of a node's id",
    "label": "the column of its label, empty where unknown",
    "source": "where an edge begins",
    "target": "where an edge ends",
    "weight": "an edge's weight",
}


def takes_columns(default: str, *, ignore: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that name columns; it gets all of them together as ``columns``.

    Args:
        default: What the help says of a column that is not named.
        ignore: Whether columns can be left out as well.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def with_columns(**given: Any) -> None:
            from lcgnn.sources.tables.columns import Columns

            named = {role: given.pop(f"{role}_column") for role in _ROLES}
            left_out = tuple(given.pop("ignore_column", None) or ())
            command(**given, columns=Columns(**named, ignore=left_out))

        parameters = [*_own(command), *_options(default, ignore)]
        with_columns.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        with_columns.__annotations__ = {item.name: item.annotation for item in parameters}
        return with_columns

    return decorate


def _own(command: Callable[..., None]) -> list[Parameter]:
    """The command's own parameters, as options, with annotations that stand for themselves."""
    names = command.__globals__
    return [
        item.replace(annotation=eval(item.annotation, names), kind=Parameter.KEYWORD_ONLY)
        for item in signature(command).parameters.values()
        if item.name != "columns"
    ]


def _options(default: str, ignore: bool) -> list[Parameter]:
    kinds: dict[str, Any] = {
        f"{role}_column": Annotated[str | None, typer.Option(help=f"Tables: {what}. [default: {default}]")]
        for role, what in _ROLES.items()
    }
    if ignore:
        text = "Tables: a column that is not to be used; may be given several times."
        kinds["ignore_column"] = Annotated[list[str] | None, typer.Option(help=text)]
    return [Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind) for name, kind in kinds.items()]
