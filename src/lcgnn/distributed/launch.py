"""How this process was started, without waiting for torch."""

from __future__ import annotations

import os


def is_launched() -> bool:
    """Whether this process was started as one of several, by torchrun or in its way."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def world_size() -> int:
    """How many processes were started together."""
    return int(os.environ["WORLD_SIZE"]) if is_launched() else 1
