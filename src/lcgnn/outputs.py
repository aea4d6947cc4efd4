"""Kinds of files that the commands write: nothing that is read, or that somebody else made, is written over.

A file that is there already is replaced only if it is an earlier one of the same kind, which its content tells.
What version 0.1 drew carries no mark, and could as well be somebody's own picture or page: it is not replaced
either, which costs a deletion by hand where the opposite would cost a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lcgnn.errors import ConfigError, OutputError
from lcgnn.files import check_names, written_atomically

_HEAD = 4096


@dataclass(frozen=True)
class OutputKind:
    """What a file is that a command writes where the user says.

    Args:
        what: It in words, with its article.
        suffixes: What the file's name may end in.
        is_one: Whether a file, which is not empty, is an earlier one; what cannot be read may raise.
        unmarked: Which earlier ones cannot be told from what others make, in words.
    """

    what: str
    suffixes: tuple[str, ...]
    is_one: Callable[[Path], bool]
    unmarked: str = ""

    def check(self, path: Path, reads: Iterable[Path | str] = ()) -> None:
        """Refuse a place that such a file cannot go to, before any work is done.

        Args:
            path: Where it is to go.
            reads: The files and folders that the command reads.
        """
        if path.suffix.lower() not in self.suffixes:
            raise ConfigError(
                f"{path} cannot be {self.what}: the file's name must end in {' or '.join(self.suffixes)}."
            )
        if not os.path.lexists(path):
            check_names(path)
            return
        if path.is_dir():
            raise OutputError(f"Cannot write {path}: it is a folder. Name a file.")
        if any(_is_same(path, Path(item)) for item in reads):
            raise OutputError(f"{path} is what is read. Choose another name for {self.what}.")
        if not self._is_earlier_one(path):
            raise OutputError(
                f"{path} is there already and has no mark of {self.what} that lcgnn wrote{self.unmarked}. Choose "
                "another name, or delete it first."
            )

    @contextmanager
    def written(self, path: Path) -> Iterator[Path]:
        """Check the place, then give a temporary path to write to, which takes its place at the end."""
        self.check(path)
        with written_atomically(path) as temporary:
            yield temporary

    def _is_earlier_one(self, path: Path) -> bool:
        try:
            # Opening a pipe or a device would wait, or take something from it.
            return path.is_file() and (path.stat().st_size == 0 or self.is_one(path))
        except (OSError, ValueError, OutputError):
            return False


def beginning(path: Path) -> bytes:
    """The first bytes of a file, which tell what it is."""
    with path.open("rb") as file:
        return file.read(_HEAD)


def _is_same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return False
