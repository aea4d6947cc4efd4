"""The file that labels are appended to: each is on the disk before anybody is told that it is saved."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import IO

from lcgnn.errors import OutputError
from lcgnn.files import check_names
from lcgnn.sources.tables.ledger import HEADER, Done, GivenLabels, Line, is_ledger, parsed_lines

_POSIX = os.name == "posix"


class Ledger:
    """A ledger that this process appends to, and others may append to at the same time.

    Args:
        path: Of the file, which need not be there yet.
        classes: Those of the tables, which are there before the first line.
        by: Who or what gives the labels, as a line's note has it.
    """

    def __init__(self, path: Path, classes: Iterable[str] = (), by: str = "page") -> None:
        self.path, self.by = path, by
        self._classes = tuple(classes)
        check_writable(path)
        self._lost, self._unseen = 0, False
        self._own: list[Done] = []
        self._start_anew()
        self.refresh()
        self._own = list(self.given.done)

    def _start_anew(self) -> None:
        self.given = GivenLabels(self._classes)
        self._read, self._lines, self._inode = 0, 0, 0
        self._changed_at, self._content = 0, hashlib.sha256()
        self._own = []

    @property
    def exists(self) -> bool:
        """Whether anything was ever written."""
        return self.path.exists()

    @property
    def lost(self) -> int:
        """Labels that were there when the file was deleted or emptied; 0 when it is back, or another was begun."""
        return self._lost

    def refresh(self) -> bool:
        """Read what others have appended, or all of it where the file is another; whether there was anything."""
        try:
            with self.path.open("rb") as file:
                self._catch_up(file)
        except FileNotFoundError:
            self._unseen, self._lost = self._unseen or self._read > 0, self.given.num_labels or self._lost
            self._start_anew()
        except OSError as error:
            raise OutputError(f"{self.path} cannot be read: {error.strerror or error}.") from error
        unseen, self._unseen = self._unseen, False
        return unseen

    def append(self, make: Callable[[GivenLabels], Line | None], by: str | None = None) -> Line | None:
        """Write the line that is made of what counts at that moment, and return it when it is on the disk.

        Args:
            make: Gives the line, without time and author; None for none. It may raise, and nothing is written.
            by: Who or what gives it, if it is not who usually does.
        """
        with self._locked() as file:
            was_lost = self._lost
            self._catch_up(file)
            made = make(self.given)
            if made is None:
                return None
            now = datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
            line = replace(made, time=now, by=by or self.by)
            self._write(file, line)
        # What was lost before is known to who goes on; what is seen only by this line has yet to be told.
        self._lost = 0 if was_lost else self._lost
        self._unseen = False
        count = len(self.given.done)
        self.given.apply(line)
        self._own += self.given.done[count:]
        return line

    def undo(self) -> Line | None:
        """Take back the last thing that was done here and that nothing stands on; None if there is none.

        At the start that is whatever the ledger has; later only what this process did.
        """
        line = self.append(self._undoing)
        if line is not None:
            self._own.pop()
        return line

    def _undoing(self, given: GivenLabels) -> Line | None:
        while self._own:
            if given.can_undo(self._own[-1]):
                node, label, was = given.line_that_undoes(self._own[-1])
                return Line(id=node, label=label, was=was, action="undo")
            self._own.pop()
        return None

    def _catch_up(self, file: IO[bytes]) -> None:
        """Apply what is in the file beyond what was read of it; who is refused a line is told of it later."""
        status = os.fstat(file.fileno())
        replaced = self._is_another(file, status)
        there_was, before = replaced and self._read > 0, self.given.num_labels or self._lost
        if replaced:
            self._start_anew()
            self._inode = status.st_ino
        file.seek(self._read)
        content = file.read()
        lines, taken = parsed_lines(content, self.path, self._lines + 1)
        for line in lines:
            self.given.apply(line)
        if there_was:
            self._own = list(self.given.done)
        if not self._read:
            self._lost = 0 if lines else before
        self._read += taken
        self._lines += content[:taken].count(b"\n")
        self._content.update(content[:taken])
        self._changed_at = status.st_mtime_ns
        self._unseen = self._unseen or there_was or bool(lines)

    def _is_another(self, file: IO[bytes], status: os.stat_result) -> bool:
        """Whether the file no longer begins with what was read: it was replaced, emptied or edited."""
        if status.st_ino != self._inode or status.st_size < self._read:
            return True
        if status.st_mtime_ns == self._changed_at:
            return False
        file.seek(0)
        return hashlib.sha256(file.read(self._read)).digest() != self._content.digest()

    def _write(self, file: IO[bytes], line: Line) -> None:
        """Append a line and wait for the disk; where that fails the file is as it was."""
        whole = self._read
        file.seek(max(whole - 1, 0))
        # The last line may be whole and lack its end, as an editor leaves it; what is cut goes.
        end = "" if not whole or file.read(1) == b"\n" else "\n"
        text = (end if whole else HEADER) + line.text()
        try:
            os.ftruncate(file.fileno(), whole)
            _write_all(file.fileno(), text.encode(), whole)
            os.fsync(file.fileno())
            if not whole:
                _sync_folder(self.path.parent)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(file.fileno(), whole)
                if not whole:
                    self.path.unlink()
            raise OutputError(
                f"Not saved: {self.path} cannot be written ({error.strerror or error}). Free some space or mend "
                "what is wrong, and give it again; what was saved before is kept."
            ) from error
        self._read = whole + len(text.encode())
        self._lines += 1 if whole else 2
        self._content.update(text.encode())
        self._changed_at = os.fstat(file.fileno()).st_mtime_ns

    @contextmanager
    def _locked(self) -> Iterator[IO[bytes]]:
        """The file, opened for this process alone; others wait for it.

        One that is made for this and gets no line is removed again: nothing was said, so there is no file.
        """
        while True:
            was_there = self.path.exists()
            try:
                descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            except OSError as error:
                raise OutputError(
                    f"Not saved: {self.path} cannot be written ({error.strerror or error}). Say where with --out."
                ) from error
            with os.fdopen(descriptor, "r+b") as file, _lock(file):
                # An editor may have put another file in its place before the lock was had, or who had the lock
                # before may have removed it.
                if _is_at(self.path, file):
                    try:
                        yield file
                    finally:
                        if not was_there:
                            _remove_if_empty(self.path, file)
                    return


def check_writable(path: Path) -> None:
    """Refuse a place where no ledger can be, or where something else is that must not be written to."""
    check_names(path)
    if _is_something_else(path):
        raise OutputError(f"{path} is there and holds no labels of the page. Name another file: --out FILE.csv")
    folder = path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {error.strerror}. Name another file: --out FILE.csv") from error
    if not _opens(path) and not os.access(folder, os.W_OK):
        raise OutputError(f"Cannot write {path}: Permission denied. Name another file: --out FILE.csv")


def _is_something_else(path: Path) -> bool:
    # Asked once: another page may make the file or remove it between two questions.
    try:
        status = path.stat()
    except OSError:
        return False
    return not stat.S_ISREG(status.st_mode) or (status.st_size > 0 and not is_ledger(path))


def _opens(path: Path) -> bool:
    """Whether there is a file that can be written to; OutputError if there is one that cannot."""
    try:
        os.close(os.open(path, os.O_RDWR))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {error.strerror}. Name another file: --out FILE.csv") from error
    return True


def _is_at(path: Path, file: IO[bytes]) -> bool:
    """Whether an open file is the one that a path leads to."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _remove_if_empty(path: Path, file: IO[bytes]) -> None:
    """Remove a locked file in which nothing is; where open files cannot be removed it stays, without lines."""
    with suppress(OSError):
        if not os.fstat(file.fileno()).st_size and _is_at(path, file):
            # Of a link only what it leads to was made.
            path.resolve().unlink()


def _write_all(descriptor: int, content: bytes, place: int) -> None:
    os.lseek(descriptor, place, os.SEEK_SET)
    while content:
        content = content[os.write(descriptor, content) :]


def _sync_folder(folder: Path) -> None:
    """Have the name of a new file on the disk, too."""
    if not _POSIX:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _lock(file: IO[bytes]) -> Iterator[None]:
    if _POSIX:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        # Closing the file gives the lock back.
        yield
        return
    import msvcrt

    file.seek(2**31)
    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        file.seek(2**31)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]
