"""What a run is done with: versions, the machine, the commit and the time."""

from __future__ import annotations

import platform
import subprocess
import time
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lcgnn import __version__
from lcgnn.runs.records import Environment


def environment() -> Environment:
    """What this process runs with."""
    return Environment(
        lcgnn=__version__,
        torch=version("torch"),
        numpy=version("numpy"),
        numba=_numba(),
        python=platform.python_version(),
        machine=f"{platform.system()} {platform.machine()}",
        commit=_commit(),
        finished=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    )


def _numba() -> str:
    """Its version; empty where the plain kernels have to do without it."""
    try:
        return version("numba")
    except PackageNotFoundError:
        return ""


@cache
def _commit() -> str:
    """The commit that the package is run from; empty where it is not run from its own repository."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--show-prefix", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    prefix, commit = done.stdout.splitlines()
    return commit[:12] if prefix == "src/lcgnn/runs/" else ""
