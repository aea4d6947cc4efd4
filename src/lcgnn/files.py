"""Files: written so that a reader sees the old one or the whole new one, and read with a clear error.

Files and folders get the permissions that the system gives to any that this process makes (its umask).
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import secrets
import shutil
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcgnn.errors import ConfigError, OutputError

if TYPE_CHECKING:
    from importlib.abc import Traversable

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


SPACE_HINT = "Free some space, or set TMPDIR to a folder with more."
# Bytes of a name that fit before what a temporary file's name ends in.
_LONGEST_PREFIX = 120


@contextmanager
def written_atomically(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path`` to write to; it takes ``path``'s place when the block ends well.

    What a process that was killed in such a block left behind is removed by the next one for the same path.
    """
    try:
        check_names(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(path)
        temporary = _temporary_name(path)
        temporary.touch(exist_ok=False)
        permissions = stat.S_IMODE(temporary.stat().st_mode)
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {_reason(error)}. Choose another folder.") from error
    try:
        yield temporary
        # Some libraries put a private file of their own in its place.
        temporary.chmod(permissions)
        temporary.replace(path)
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {_reason(error)}.") from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def folder_written_atomically(folder: Path) -> Iterator[Path]:
    """Give a temporary folder beside ``folder``, which must be new or empty; it takes its place at the end.

    What a process that was killed in such a block left behind is removed by the next one for the same folder.
    """
    check_new_folder(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder)
        temporary = _temporary_name(folder)
        temporary.mkdir()
    except OSError as error:
        raise OutputError(f"Cannot write {folder}: {_reason(error)}. Choose another folder.") from error
    try:
        yield temporary
        temporary.replace(folder)
    except OSError as error:
        raise OutputError(f"Cannot write {folder}: {_reason(error)}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def temporary_folder(purpose: str) -> Path:
    """A new folder where temporary files go (TMPDIR); those of processes that are no more are removed."""
    try:
        within = Path(tempfile.gettempdir())
        _remove_of_the_gone(within, f"lcgnn-{purpose}.")
        return Path(tempfile.mkdtemp(prefix=f"lcgnn-{purpose}.{process_token()}."))
    except OSError as error:
        raise OutputError(f"No temporary files can be made: {_reason(error)}. {SPACE_HINT}") from error


def for_arrow(path: Path) -> Path:
    """A path as pyarrow takes it literally: in a relative one it reads a leading ~ as the user's home."""
    return path.absolute()


def check_new_folder(folder: Path) -> None:
    """Refuse a folder that is there and has something in it, or that cannot be made."""
    if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(f"{folder} is there already. Choose another folder, or empty it first.")
    check_names(folder)


def check_names(path: Path) -> None:
    """Refuse a path with a name that is longer than the file system takes."""
    try:
        longest = os.pathconf(_existing(path.parent), "PC_NAME_MAX")
    except (AttributeError, OSError, ValueError):
        longest = 255
    for part in path.parts:
        if len(os.fsencode(part)) > longest:
            raise OutputError(
                f"Cannot write {part[:20]}...: the name has {len(os.fsencode(part))} bytes, and there can be "
                f"{longest}. Choose a shorter one."
            )


def check_disk(path: Path, needed: int) -> None:
    """Refuse to write more bytes than the disk has room for."""
    try:
        free = shutil.disk_usage(_existing(path)).free
    except OSError:
        return
    if needed > free:
        raise OutputError(
            f"{path} needs {needed / 1e9:,.1f} GB on disk at least, and {free / 1e9:,.1f} GB are free. Make it "
            "smaller, or choose another folder."
        )


def _existing(path: Path) -> Path:
    """The nearest folder above that is there."""
    while True:
        try:
            if path.exists():
                return path
        except OSError:
            pass
        if path == path.parent:
            return path
        path = path.parent


def _reason(error: OSError) -> str:
    """In the system's words, also where a library has wrapped them in its own."""
    return os.strerror(error.errno) if error.errno else str(error)


def remove_leftovers(path: Path) -> None:
    """Remove the temporary files and folders of ``path`` whose process was one of this machine and is no more."""
    _remove_of_the_gone(path.parent, _temporary_prefix(path))


def _remove_of_the_gone(folder: Path, prefix: str) -> None:
    for left in folder.glob(f"{glob.escape(prefix)}*"):
        if is_gone(left.name.removeprefix(prefix).partition(".")[0]):
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)
            else:
                with suppress(OSError):
                    left.unlink()


def _temporary_name(path: Path) -> Path:
    return path.parent / f"{_temporary_prefix(path)}{process_token()}.{secrets.token_hex(8)}"


def _temporary_prefix(path: Path) -> str:
    """What the names of temporary files beside ``path`` begin with; there is room for more after a long name."""
    name = path.name
    if len(os.fsencode(name)) > _LONGEST_PREFIX:
        name = f"{name[:30]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"
    return f".{name}."


def process_token() -> str:
    """This process in a file's name, told from those of other machines that see the same disk."""
    return f"{os.getpid()}@{_host()}"


def is_gone(token: str) -> bool:
    """Whether a token is that of a process of this machine that is no more."""
    process, at, host = token.partition("@")
    return bool(at) and host == _host() and process.isdecimal() and not _is_alive(int(process))


@cache
def _host() -> str:
    """This machine, or the container in it: numbers of processes mean something else in another."""
    name = re.sub(r"[^0-9A-Za-z-]+", "-", socket.gethostname())[:40]
    try:
        return f"{name}-{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return name


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    try:
        # One that has ended and that its parent has not asked after still has its number.
        return Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except (OSError, IndexError):
        return True


def sha256_of(path: Path) -> str | None:
    """The checksum of a file's content; None if it cannot be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    except OSError:
        return None
    return digest.hexdigest()


def write_json(path: Path, content: Any) -> None:
    """Write an object as readable JSON, atomically."""
    with written_atomically(path) as temporary:
        text = json.dumps(content, indent=2, allow_nan=False, default=plain)
        temporary.write_text(text + "\n", encoding="utf-8")


def plain(value: Any) -> Any:
    """What JSON has in place of a number of NumPy's or the like; TypeError if it is none."""
    item = getattr(value, "item", None)
    if item is None:
        raise TypeError(f"{type(value).__name__} is no plain data")
    return item()


def read_json(path: Path) -> Any:
    """Read JSON, or raise OutputError that names the file and what to do."""
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OutputError(f"{path} cannot be read ({error}). Delete it to have it made anew.") from error


def parse_json(text: str) -> Any:
    """What a text in JSON says, or ValueError; Python's NaN and Infinity are no JSON."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def read_toml(file: Path | Traversable) -> dict[str, Any]:
    """Read TOML from a path or from a file of this package, or raise ConfigError that names it."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ConfigError(f"{file} cannot be read: {reason}.") from error
