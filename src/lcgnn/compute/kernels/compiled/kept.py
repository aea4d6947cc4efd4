"""Machine code on disk: one file for every kernel, its arguments' types and what it closes over.

numba's own files are found through an index, which two processes that write at the same time can leave pointing to
each other's code, and they only depend on the file that a kernel is in. Here a file's name has all of that in it,
what is inside says so again, and one that cannot be read is written anew.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import os
import pickle
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name
from numba.core.caching import FunctionCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from lcgnn.compute.kernels.code_folder import QUIET, code_folder, code_name
from lcgnn.errors import OutputError
from lcgnn.files import written_atomically

_log = logging.getLogger(__name__)

# Compiling for a run is over by then, and other processes have not begun it for themselves.
_TOLD_SECONDS = 60.0


def keep(dispatcher: Any) -> None:
    """Have the machine code of what numba compiles kept on disk, if there is a place for it."""
    folder, source = _folder(), _source(inspect.getfile(dispatcher.py_func))
    if folder and source:
        dispatcher._cache = KeptCode(dispatcher.py_func, folder, source)


@cache
def _folder() -> Path | None:
    versions = {
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "processor": get_host_cpu_name(),
        "features": get_host_cpu_features().flatten(),
    }
    folder = code_folder(code_name(versions))
    if folder is None:
        _log.warning(
            "lcgnn: there is no place to keep compiled kernels, so every process compiles them anew. Set "
            "NUMBA_CACHE_DIR to a folder that can be written to."
        )
    return folder


@cache
def _source(file: str) -> str:
    """A hash of a file's text; empty if it cannot be read, as of a function that was typed in."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return ""


def announce(folder: Path) -> None:
    """Say that kernels are compiled, once for all processes that compile at about the same time."""
    if os.environ.get(QUIET):
        return
    told = folder / "told"
    try:
        if told.exists() and time.time() - told.stat().st_mtime < _TOLD_SECONDS:
            return
        told.touch()
    except OSError:
        pass
    _log.warning(
        "lcgnn: kernels are compiled for this processor, which takes some seconds; the next graph with as many "
        "classes finds them."
    )


class KeptCode(FunctionCache):
    """What a dispatcher of numba asks for machine code, and gives it to.

    Args:
        function: What is compiled.
        folder: Where the files are.
        source: A hash of the text that the function is in: numba's key has its instructions, not its constants.
    """

    def __init__(self, function: Callable[..., Any], folder: Path, source: str) -> None:
        # Without the parent's, which looks for a place beside the function's file.
        self._py_func, self._name, self._cache_path = function, repr(function), str(folder)
        self._folder, self._source = folder, source
        self.enable()  # type: ignore[no-untyped-call]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        key = self._key(sig, target_context.codegen())
        if not self._file(key).exists():
            announce(self._folder)
            return None
        try:
            found, content = pickle.loads(self._file(key).read_bytes())  # noqa: S301  this user's own
            if found != key:
                return None
            return CompileResult._rebuild(target_context, *content)  # type: ignore[no-untyped-call]
        except Exception:
            # Removed, cut short, or otherwise useless: it is compiled, and written over.
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if data.library.has_dynamic_globals:
            return
        key = self._key(sig, data.codegen)
        content = dumps((key, data._reduce()))  # type: ignore[no-untyped-call]
        try:
            with written_atomically(self._file(key)) as temporary:
                temporary.write_bytes(content)
        except OutputError as error:
            _log.info("Compiled kernels are not kept: %s", error)

    def _key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        function = self._py_func
        place = (function.__qualname__, function.__code__.co_firstlineno, self._source)
        return (*self._index_key(sig, codegen), *place)  # type: ignore[no-untyped-call]

    def _file(self, key: tuple[Any, ...]) -> Path:
        return self._folder / f"{self._py_func.__name__}-{hashlib.sha256(repr(key).encode()).hexdigest()[:24]}.nbc"
