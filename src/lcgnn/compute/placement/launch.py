"""How this process was started, and how it ends where another one says why; without waiting for torch."""

from __future__ import annotations

import os
import threading
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


def end_with_parent() -> None:
    """End this process soon after the one that started it has ended, whatever ended that one.

    It is looked for in a thread of its own. Linux could send a signal instead, but would do so as soon as the
    *thread* ends that started this process, and workers are started by threads that come and go.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_SECONDS_TO_SPEAK)
        os._exit(1)

    if hasattr(os, "getppid") and "lcgnn-parent" not in {thread.name for thread in threading.enumerate()}:
        threading.Thread(target=watch, name="lcgnn-parent", daemon=True).start()


def is_of_torchrun() -> bool:
    """Whether torchrun started this process, which then ends with it; one that was started by hand need not."""
    return is_launched() and "TORCHELASTIC_RUN_ID" in os.environ


def job() -> str:
    """What all ranks of a job know of it, and those of another job at the same address do not.

    Ranks on several machines have several launchers, and in common only the name that the user gave the job.
    """
    name = os.environ.get("TORCHELASTIC_RUN_ID", "")
    launcher = os.getppid() if is_of_torchrun() and os.environ.get("GROUP_WORLD_SIZE") == "1" else 0
    return f"{name}/{launcher}/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}"


def silence_torch() -> None:
    """Keep torch from logging stack traces of what is told in a line; to be called before torch is imported."""
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "FATAL")
