"""Run inputs in child processes, so that one that kills its process is found and the others are still read."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lcgnn.errors import LCGNNError

# Reading may take so long, and the process so much memory; readers are told of less.
SECONDS = 20
PROCESS_BYTES = 12 << 30
TOLD_GIGABYTES = "0.5"
_BATCH = 2000
_ROOT = Path(__file__).parents[2]


@dataclass
class Outcome:
    """What came of a reader's inputs.

    Args:
        reader: Its name.
        read: Inputs that were read all the same.
        refused: Inputs that were refused with an LCGNNError.
        faults: Number of the input and what happened, of every other.
    """

    reader: str
    read: int = 0
    refused: int = 0
    faults: list[tuple[int, str]] = field(default_factory=list)

    def line(self) -> str:
        told = [f"{self.reader}: {self.read:,} read, {self.refused:,} refused, {len(self.faults):,} faults"]
        return "\n".join([*told, *(f"  {self.reader} {number}: {what}" for number, what in self.faults[:20])])


def fuzz(count: int, start: int = 0, readers: Sequence[str] | None = None) -> Iterator[Outcome]:
    """What came of ``count`` inputs, shared by the readers, one reader after the other."""
    from tests.fuzz.readers import READERS

    names = list(readers or READERS)
    share = -(-count // len(names))
    for name in names:
        yield _of_reader(name, start, start + share)


def _of_reader(name: str, start: int, end: int) -> Outcome:
    outcome = Outcome(name)
    with tempfile.TemporaryDirectory() as folder:
        progress = Path(folder) / "progress"
        while start < end:
            last = min(start + _BATCH, end)
            progress.write_text("")
            command = [sys.executable, "-m", "tests.fuzz", "--child", name, str(start), str(last), str(progress)]
            done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
            lines = [json.loads(line) for line in progress.read_text().splitlines()]
            for number, what in lines:
                if what in ("read", "refused"):
                    setattr(outcome, what, getattr(outcome, what) + 1)
                elif what != "begun":
                    outcome.faults.append((number, what))
            finished = {number for number, what in lines if what != "begun"}
            start = last if len(finished) == last - start else max(finished, default=start - 1) + 1
            if start < last:
                if not lines:
                    raise RuntimeError(f"The fuzzer itself failed: {done.stderr[-2000:]}")
                outcome.faults.append((start, f"the process died ({done.returncode}): {done.stderr[-300:]}"))
                start += 1
    return outcome


def read_in_child(name: str, start: int, end: int, progress: str) -> None:
    """Read inputs one after the other, and note each before and after."""
    from tests.fuzz.readers import READERS, damaged, template

    template(name)
    os.environ["LCGNN_MEMORY_GB"] = TOLD_GIGABYTES
    resource.setrlimit(resource.RLIMIT_AS, (PROCESS_BYTES, PROCESS_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, _too_long)
    with tempfile.TemporaryDirectory() as folder, Path(progress).open("w", buffering=1) as stream:
        for number in range(start, end):
            damaged(name, number, Path(folder) / "input")
            stream.write(json.dumps([number, "begun"]) + "\n")
            stream.write(json.dumps([number, _what_happens(READERS[name].read, Path(folder) / "input")]) + "\n")


def _what_happens(read: object, folder: Path) -> str:
    assert callable(read)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            read(folder)
    except LCGNNError as error:
        return "refused" if "\n" not in str(error) else f"an error of several lines: {error!r}"
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)
        inside = [frame for frame in place if "lcgnn" in frame.filename] or place
        return f"{type(error).__name__}: {str(error)[:200]} at {inside[-1].filename}:{inside[-1].lineno}"
    finally:
        signal.alarm(0)
    return "read"


def _too_long(_signal: int, _frame: object) -> None:
    raise TimeoutError(f"over {SECONDS} s")
