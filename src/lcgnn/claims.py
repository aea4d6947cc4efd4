"""Claims: one process at a time does something, also where several machines share a disk.

A claim is a file that says which process holds it and that is touched again and again. One whose process is no
more, or that nobody has touched for long, is void. Whatever a claim guards is written whole or not at all, so that
the worst that a claim that was taken too early can do is work that is done twice.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lcgnn.errors import OutputError
from lcgnn.files import is_gone, process_token

# Seconds between two touches, and those after which an untouched claim is void.
_TOUCH, _VOID = 5.0, 120.0
_LOOK_AGAIN = 0.2


class Claim:
    """The right to do something, to be given back.

    Args:
        path: Of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._given_back = threading.Event()
        threading.Thread(target=self._touch, daemon=True).start()

    def give_back(self) -> None:
        """Let others have it."""
        self._given_back.set()
        with suppress(OSError):
            if self.path.read_text(encoding="utf-8") == process_token():
                self.path.unlink()

    def _touch(self) -> None:
        while not self._given_back.wait(_TOUCH):
            with suppress(OSError):
                os.utime(self.path)


def try_claim(path: Path) -> Claim | None:
    """The claim, or None if another process holds it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if _is_void(path):
            path.unlink(missing_ok=True)
        with suppress(FileExistsError), path.open("x", encoding="utf-8") as file:
            file.write(process_token())
            return Claim(path)
        return None
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {error.strerror or error}. Choose another folder.") from error


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Hold a claim for the block, waiting for it if need be."""
    while (claim := try_claim(path)) is None:
        time.sleep(_LOOK_AGAIN)
    try:
        yield
    finally:
        claim.give_back()


def _is_void(path: Path) -> bool:
    try:
        untouched = time.time() - path.stat().st_mtime
        return untouched > _VOID or is_gone(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
