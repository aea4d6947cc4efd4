"""How this process was started, and how it ends where another one says why; without waiting for torch."""

from __future__ import annotations

import os
import time
from typing import NoReturn

# So long after the first rank the others end: a launcher ends all of them as soon as one has ended.
_SECONDS_TO_SPEAK = 1.0


def is_launched() -> bool:
    """Whether this process was started as one of several, by torchrun or in its way."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def world_size() -> int:
    """How many processes were started together."""
    return int(os.environ["WORLD_SIZE"]) if is_launched() else 1


def fail_once(error: Exception) -> NoReturn:
    """End all ranks, each of which knows the error: the first one raises it, the others leave without a word."""
    if not is_launched() or int(os.environ["RANK"]) == 0:
        raise error
    time.sleep(_SECONDS_TO_SPEAK)
    raise SystemExit(2)


def silence_torch() -> None:
    """Keep torch from logging stack traces of what is told in a line; to be called before torch is imported."""
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "FATAL")
