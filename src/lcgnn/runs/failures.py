"""What goes wrong with one of several methods: kept as a reason, so that the others go on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from lcgnn.errors import LCGNNError, OutputError
from lcgnn.runs.run import ProgressCallback
from lcgnn.training.loop import Progress


class OutOfTime(LCGNNError):
    """A fold takes longer than it may."""


@dataclass(frozen=True)
class Failure:
    """Why nothing came of a fold.

    Args:
        reason: In a sentence.
        out_of_time: Whether it was only stopped, because it took too long.
    """

    reason: str
    out_of_time: bool = False

    @classmethod
    @contextmanager
    def caught(cls, found: list[Failure]) -> Iterator[None]:
        """Put into a list what went wrong with a method inside; whatever else went wrong is raised."""
        try:
            yield
        except OutOfTime as error:
            found.append(cls(str(error), out_of_time=True))
        except OutputError:
            raise
        except (LCGNNError, MemoryError, RuntimeError, ArithmeticError, np.linalg.LinAlgError) as error:
            found.append(cls(f"{error}" or type(error).__name__))


def in_time(progress: ProgressCallback | None, limit: float | None) -> ProgressCallback | None:
    """A progress that raises `OutOfTime` once so many seconds have gone by since it was made."""
    if limit is None:
        return progress
    started = time.perf_counter()

    def told(where: Progress) -> None:
        if time.perf_counter() - started > limit:
            raise OutOfTime(f"it takes longer than {limit:.0f} s.")
        if progress is not None:
            progress(where)

    return told
