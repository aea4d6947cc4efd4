"""Files: written so that a reader sees the old one or the whole new one, and read with a clear error.

Files and folders get the permissions that the system gives to any that this process makes (its umask).
"""

from __future__ import annotations

import glob
import json
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcgnn.errors import ConfigError, OutputError

if TYPE_CHECKING:
    from importlib.abc import Traversable

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@contextmanager
def written_atomically(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path`` to write to; it takes ``path``'s place when the block ends well.

    What a process that was killed in such a block left behind is removed by the next one for the same path.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(path)
        temporary = path.parent / f".{path.name}.{os.getpid()}.{secrets.token_hex(8)}"
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
    """Give a temporary folder beside ``folder``, which must be new or empty; it takes its place at the end."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(f"{folder} is there already. Choose another folder, or empty it first.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = folder.parent / f".{folder.name}.{secrets.token_hex(8)}"
        temporary.mkdir()
    except OSError as error:
        raise OutputError(f"Cannot write {folder}: {error.strerror or error}. Choose another folder.") from error
    try:
        yield temporary
        temporary.replace(folder)
    except OSError as error:
        raise OutputError(f"Cannot write {folder}: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _reason(error: OSError) -> str:
    """In the system's words, also where a library has wrapped them in its own."""
    return os.strerror(error.errno) if error.errno else str(error)


def remove_leftovers(path: Path) -> None:
    """Remove the temporary files of ``path`` whose process is no more."""
    prefix = f".{path.name}."
    for file in path.parent.glob(f"{glob.escape(prefix)}*"):
        writer = file.name.removeprefix(prefix).partition(".")[0]
        if writer.isdecimal() and not _is_alive(int(writer)):
            file.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def write_json(path: Path, content: Any) -> None:
    """Write an object as readable JSON, atomically."""
    with written_atomically(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")


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
