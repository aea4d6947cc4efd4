"""Imports go one way: a room of the package imports only from itself and from the rooms before it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import lcgnn

ROOT = Path(lcgnn.__file__).parent

ROOMS = (
    "errors",
    "extras",
    "limits",
    "mapping",
    "files",
    "outputs",
    "claims",
    "csr",
    "graph",
    "consistency",
    "features",
    "sources",
    "compute",
    "networks",
    "training",
    "methods",
    "assessment",
    "runs",
    "experiments",
    "report",
    "estimator",
    "labelling",
    "cli",
    "__main__",
)

FILES = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def room_of(path: Path) -> str:
    return path.with_suffix("").parts[0]


def imported_rooms(source: str, package: str) -> Iterator[tuple[str, int]]:
    """Every room of lcgnn that the source imports, wherever in the file, with the line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, base]).rstrip(".")
            # "from lcgnn import consistency" names its room only after the import; __version__ is in none.
            names = [alias.name for alias in node.names if alias.name != "__version__"]
            modules = [f"{base}.{name}" for name in names] if base == "lcgnn" else [base]
        else:
            continue
        for module in modules:
            if module.startswith("lcgnn."):
                yield module.split(".")[1], node.lineno


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_file_imports_only_from_its_own_room_and_the_rooms_before_it(path):
    room = room_of(path)
    assert room in ROOMS, f"{path} is a room that has no place yet. Add {room!r} to ROOMS, after all it imports."
    allowed = ROOMS[: ROOMS.index(room) + 1]
    package = ".".join(["lcgnn", *path.parent.parts])
    for imported, line in imported_rooms((ROOT / path).read_text(encoding="utf-8"), package):
        assert imported in allowed, f"{path}, line {line}: {room!r} may not import from {imported!r}."


@pytest.mark.parametrize(
    ("source", "package", "rooms"),
    [
        ("import lcgnn.graph", "lcgnn", ["graph"]),
        ("from lcgnn import consistency, errors", "lcgnn", ["consistency", "errors"]),
        ("from lcgnn.methods.base import create", "lcgnn", ["methods"]),
        ("def late():\n    from lcgnn.cli import main", "lcgnn", ["cli"]),
        ("from .base import Method", "lcgnn.methods", ["methods"]),
        ("from ..training import Phase", "lcgnn.methods", ["training"]),
        ("from lcgnn import __version__", "lcgnn", []),
        ("from . import graph", "lcgnn", ["graph"]),
        ("import numpy\nfrom torch import Tensor", "lcgnn", []),
    ],
)
def test_every_form_of_import_is_seen(source, package, rooms):
    assert [room for room, _ in imported_rooms(source, package)] == rooms


def rooms_in_the_architecture() -> list[str]:
    """The rooms in the first column of the table in docs/architecture.md, in their order."""
    text = (Path(__file__).parent.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    names = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    return [name.removesuffix("/").removesuffix(".py") for name in names]


def test_the_table_of_rooms_in_the_architecture_is_that_of_the_folders():
    assert rooms_in_the_architecture() == list(ROOMS)
    assert {room_of(path) for path in FILES} == set(ROOMS)
