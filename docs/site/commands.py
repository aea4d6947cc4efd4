"""The page of the command line: every command with its help and its options, as ``--help`` has them."""

import re
from collections.abc import Iterator
from typing import Any

import typer

import lcgnn.cli  # noqa: F401  (registers the commands)
from lcgnn.cli.app import app

_FIRST = (
    "Every command has `--help`, which says what is on this page. An error is one line on standard error and exit "
    "code 2; a request to end (Ctrl-C, SIGTERM, SIGHUP) gives 128 and the signal's number."
)


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with its full name, in the order of ``lcgnn --help``."""
    yield from _inside("lcgnn", typer.main.get_command(app))


def commands_page() -> str:
    """All commands on one page."""
    parts = ["# Command line", _FIRST]
    for name, command in commands():
        rows = [(_shown(item), _said(item)) for item in command.params if not getattr(item, "hidden", False)]
        table = ["| | |", "|---|---|", *(f"| {flag} | {_cell(text)} |" for flag, text in rows)]
        parts += [f"## {name}", _help(command.help or ""), "\n".join(table)]
    return "\n\n".join(parts) + "\n"


def _inside(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
        return
    for inner, each in command.commands.items():
        yield from _inside(f"{name} {inner}", each)


def _help(text: str) -> str:
    """What the command says of itself, its examples as blocks."""
    examples = re.findall(r"^Examples?: (.+)$", text, flags=re.MULTILINE)
    said = re.sub(r"^Examples?: .+\n*", "", text, flags=re.MULTILINE).replace("\b", "").strip()
    return said + "\n\n```sh\n" + "\n".join(examples) + "\n```" if examples else said


def _shown(item: Any) -> str:
    names = [item.name.upper()] if item.param_type_name == "argument" else item.opts
    return ", ".join(f"`{name}`" for name in names)


def _said(item: Any) -> str:
    text = item.help or ""
    plain = isinstance(item.default, str | int | float) and not isinstance(item.default, bool)
    return f"{text} [default: {item.default}]" if plain and "[default" not in text else text


def _cell(text: str) -> str:
    one_line = " ".join(text.split())
    return re.sub(r"([\\|<*_`])", r"\\\1", one_line)
