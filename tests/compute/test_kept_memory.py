"""Memory that stays with the process from one epoch to the next."""

import os
import platform
import resource
import subprocess
import sys

import pytest

from lcgnn.compute.kept_memory import PAYS_FROM, kept_memory

# Arrays larger than any that the C library keeps by itself, asked for and freed again and again.
PROGRAM = """
import resource, sys
import torch
from lcgnn.compute.kept_memory import PAYS_FROM, kept_memory

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def epochs(count):
    before = faults()
    for _ in range(count):
        torch.zeros(2**24)
    return faults() - before

with kept_memory(PAYS_FROM if sys.argv[1] == "kept" else PAYS_FROM - 1, 8):
    epochs(20)
    print(epochs(5))
print(epochs(5))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="what is kept is glibc's")
def test_freed_arrays_are_used_again_and_only_inside() -> None:
    pages = 2**26 // resource.getpagesize()

    def faults(what: str, gigabytes: str = "64") -> list[int]:
        command, environment = [sys.executable, "-c", PROGRAM, what], {**os.environ, "LCGNN_MEMORY_GB": gigabytes}
        return [int(line) for line in subprocess.check_output(command, text=True, env=environment).split()]

    within, after = faults("kept")
    assert within < pages / 10
    assert after > pages
    assert min(faults("not")) > pages
    assert min(faults("kept", gigabytes="0.1")) > pages


def test_blocks_inside_blocks_and_elsewhere_do_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    with kept_memory(PAYS_FROM, 8), kept_memory(0, 8), kept_memory(PAYS_FROM, 8):
        pass
    monkeypatch.setattr("lcgnn.compute.kept_memory._glibc", lambda: None)
    with kept_memory(PAYS_FROM, 8):
        pass
