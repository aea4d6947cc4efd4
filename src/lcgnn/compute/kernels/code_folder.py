"""Where machine code is kept: a folder that is named after all that the code depends on.

The name stands for the text of the kernels and of what they are written in, the versions of Python, numba and
llvmlite, the processor and numba's settings. So what is found there is never stale, and several versions do not
disturb each other. The folder is in the first of these places that can be written to:

- ``NUMBA_CACHE_DIR``, if the environment has it;
- the user's cache folder, such as ``~/.cache/lcgnn/kernels``;
- a folder of this user's own among the temporary files.

The last few folders that were used stay, others are removed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

if TYPE_CHECKING:
    from importlib.abc import Traversable

# In the environment of this process and those that it starts: nothing is said of what takes a while.
QUIET = "LCGNN_QUIET"

# Settings of numba that do not change what it compiles.
_FREE = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS")
_NAME = re.compile(r"code-[0-9a-f]{24}")
_MOST_FOLDERS = 8


def code_name(versions: Mapping[str, str], sources: Traversable | None = None) -> str:
    """The folder's name, from versions and the like by name and the folder that the compiled kernels are in."""
    sources = files("lcgnn.compute.kernels.compiled") if sources is None else sources
    digest = hashlib.sha256()
    texts = {file.name: file.read_bytes() for file in sources.iterdir() if file.name.endswith(".py")}
    settings = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
    facts = {**versions, **settings, "python": sys.version}
    for name, text in sorted(texts.items()):
        digest.update(f"{name} {hashlib.sha256(text).hexdigest()}\n".encode())
    for name, value in sorted(facts.items()):
        if name not in _FREE:
            digest.update(f"{name} {value}\n".encode())
    return f"code-{digest.hexdigest()[:24]}"


def code_folder(name: str) -> Path | None:
    """The folder of that name in the first place that can be written to; None if there is none."""
    for place in _places():
        folder = place / name
        try:
            is_there = folder.is_dir()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            os.utime(folder)
        except OSError:
            continue
        if not is_there:
            _remove_the_oldest(place)
        return folder
    return None


def _places() -> Iterator[Path]:
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        yield Path(given).absolute() / "lcgnn"
    of_user = platformdirs.user_cache_path("lcgnn", appauthor=False) / "kernels"
    # Of a user without a home folder the path begins with a tilde.
    if of_user.is_absolute():
        yield of_user
    temporary = _own_temporary()
    if temporary is not None:
        yield temporary


def _own_temporary() -> Path | None:
    """A folder among the temporary files that nobody else has access to, since what is in it will be executed."""
    if not hasattr(os, "getuid"):
        return None
    try:
        folder = Path(tempfile.gettempdir()) / f"lcgnn-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return folder if own else None


def _remove_the_oldest(place: Path) -> None:
    """Keep the folders that were used last. One that is removed while in use costs its user time, nothing else."""
    try:
        folders = [path for path in place.iterdir() if _NAME.fullmatch(path.name)]
        folders.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        return
    for folder in folders[_MOST_FOLDERS:]:
        shutil.rmtree(folder, ignore_errors=True)
