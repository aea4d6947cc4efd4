"""Options that belong together and that several commands have: those that name columns, and which labels count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, TypeAlias

import typer

from lcgnn.cli import options

_ROLES = {
    "id": "the column of a node's id",
    "label": "the column of its label, empty where unknown",
    "source": "where an edge begins",
    "target": "where an edge ends",
    "weight": "an edge's weight",
}

Command: TypeAlias = Callable[..., None]


def takes_columns(default: str, *, ignore: bool = True) -> Callable[[Command], Command]:
    """Give a command the options that name columns; it gets all of them together as ``columns``.

    Args:
        default: What the help says of a column that is not named.
        ignore: Whether columns can be left out as well.
    """

    def made(given: dict[str, Any]) -> Any:
        from lcgnn.sources.tables.columns import Columns

        named = {role: given[f"{role}_column"] for role in _ROLES}
        return Columns(**named, ignore=tuple(given.get("ignore_column") or ()))

    return lambda command: _gathering(command, "columns", _columns(default, ignore), made)


def takes_labels(command: Command) -> Command:
    """Give a command the options that say which labels count; it gets them by their names as ``labels``."""
    return _gathering(command, "labels", _LABELS, lambda given: given)


def _gathering(
    command: Command, name: str, further: Sequence[Parameter], made: Callable[[dict[str, Any]], Any]
) -> Command:
    """The command with further options, of which it gets what is made of them as one argument of that name."""

    @wraps(command)
    def gathered(**given: Any) -> None:
        taken = {item.name: given.pop(item.name, None) for item in further}
        command(**given, **{name: made(taken)})

    parameters = [*_own(command, name), *further]
    gathered.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    gathered.__annotations__ = {item.name: item.annotation for item in parameters}
    return gathered


def _own(command: Command, but: str) -> list[Parameter]:
    """The command's own parameters, as options, with annotations that stand for themselves."""
    names = command.__globals__
    return [
        item.replace(
            annotation=eval(item.annotation, names) if isinstance(item.annotation, str) else item.annotation,
            kind=Parameter.KEYWORD_ONLY,
        )
        for item in signature(command).parameters.values()
        if item.name != but
    ]


def _columns(default: str, ignore: bool) -> list[Parameter]:
    kinds: dict[str, Any] = {
        f"{role}_column": Annotated[str | None, typer.Option(help=f"Tables: {what}. [default: {default}]")]
        for role, what in _ROLES.items()
    }
    if ignore:
        text = "Tables: a column that is not to be used; may be given several times."
        kinds["ignore_column"] = Annotated[list[str] | None, typer.Option(help=text)]
    return [_option(name, kind) for name, kind in kinds.items()]


def _option(name: str, kind: Any, default: Any = None) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


_LABELS = (
    _option("labels_from", options.LabelsFrom),
    _option("labels_per_class", options.LabelsPerClass),
    _option("labels", options.Labels),
    _option("split", options.SplitKind, "public"),
    _option("split_seed", options.SplitSeed, 0),
    _option("validation", options.Validation),
)
