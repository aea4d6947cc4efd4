"""Timing several contenders in turn, so that a noisy machine slows all of them alike."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Step = Callable[[], object]


def interleaved(
    contenders: Mapping[str, Step], *, repeats: int, seconds: float = 0.4, most: int = 200
) -> dict[str, list[float]]:
    """Milliseconds a call for every contender, one value a repeat; in each repeat all of them take their turn.

    Args:
        contenders: What to call, by name.
        repeats: How often each takes a turn.
        seconds: About how long a turn lasts; one call at least.
        most: Calls a turn at most.
    """
    calls = {name: _calls_in(step, seconds, most) for name, step in contenders.items()}
    measured: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, step in contenders.items():
            started = time.perf_counter()
            for _ in range(calls[name]):
                step()
            measured[name].append(1e3 * (time.perf_counter() - started) / calls[name])
    return measured


def _calls_in(step: Step, seconds: float, most: int) -> int:
    step()  # compiles, fills caches
    started = time.perf_counter()
    step()
    return max(1, min(most, int(seconds / (time.perf_counter() - started))))


def ratio(slower: list[float], faster: list[float]) -> dict[str, float]:
    """Median, least and greatest of the repeats' ratios."""
    ratios = [a / b for a, b in zip(slower, faster, strict=True)]
    return {"median": statistics.median(ratios), "least": min(ratios), "greatest": max(ratios)}


def peak_memory(module: str, *arguments: str) -> float:
    """Peak resident memory in MiB of ``python -m module arguments``, which ends with ``print_peak_memory()``."""
    command = [sys.executable, "-W", "ignore", "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def print_peak_memory() -> None:
    """Print this process's own peak in MiB."""
    print(peak_mebibytes())


def peak_mebibytes() -> float:
    """This process's own peak in MiB; the kernel's rusage would count its parent's as well."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("This system does not tell a process's peak memory.")


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    import numba
    import torch
    import torch_geometric

    import lcgnn

    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "python": platform.python_version(),
        "lcgnn": lcgnn.__version__,
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
        "numba": numba.__version__,
    }


def in_words(described: Mapping[str, Any]) -> str:
    """A machine's description for the end of a sentence."""
    versions = ", ".join(f"{name} {described[name]}" for name in ("torch", "torch_geometric", "numba"))
    return (
        f"{described['processor']}, {described['cores']} cores, {described['memory_gib']} GiB, "
        f"Python {described['python']}, {versions}"
    )


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def write(folder: Path, name: str, content: Mapping[str, Any], markdown: str) -> None:
    """Write a benchmark's figures as JSON and its table as Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(content, indent=2) + "\n")
    (folder / f"{name}.md").write_text(markdown + "\n")
