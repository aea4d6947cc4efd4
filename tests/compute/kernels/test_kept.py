"""Machine code on disk: found again, never mistaken, and where it is damaged no worse than compiling."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lcgnn.compute.kernels.compiled import kept
from lcgnn.compute.kernels.compiled.jit import compiled

PROGRAM = """
from lcgnn.compute.kernels.compiled.probe import deviation, probe
assert deviation() < 1e-5
print(sum(probe.stats.cache_hits.values()), sum(probe.stats.cache_misses.values()))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept, "_folder", lambda: tmp_path)
    monkeypatch.delenv("LCGNN_QUIET", raising=False)
    return tmp_path


def plus(number: int):
    """A kernel that closes over a number; each call makes another one, as another process does."""

    @compiled
    def add(values):
        for k in range(values.size):
            values[k] += number

    return add


def applied(kernel, dtype: type = np.float32) -> float:
    values: np.ndarray = np.zeros(1, dtype=dtype)
    kernel(values)
    return values[0].item()


def test_another_process_finds_what_the_first_has_compiled(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", PROGRAM]
    found = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    ]
    assert found == [["0", "1"], ["1", "0"]]


def test_kernels_with_other_constants_or_arguments_have_files_of_their_own(folder):
    assert applied(plus(2)) == 2
    assert applied(plus(3)) == 3
    assert applied(plus(3), np.float64) == 3
    assert len(list(folder.glob("add-*.nbc"))) == 3
    again = plus(2)
    assert applied(again) == 2
    assert sum(again.stats.cache_hits.values()) == 1


def test_a_file_with_the_code_of_another_kernel_is_not_believed(folder):
    applied(plus(2))
    (two,) = folder.glob("add-*.nbc")
    content = two.read_bytes()
    applied(plus(3))
    (three,) = set(folder.glob("add-*.nbc")) - {two}
    three.write_bytes(content)
    assert applied(plus(3)) == 3


@pytest.mark.parametrize("content", [b"", b"no pickle", b"cut"])
def test_a_damaged_file_is_written_anew(content, folder):
    applied(plus(4))
    (file,) = folder.glob("add-*.nbc")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if content == b"cut" else content)
    assert applied(plus(4)) == 4
    again = plus(4)
    assert applied(again) == 4
    assert sum(again.stats.cache_hits.values()) == 1


def test_a_folder_that_can_no_longer_be_written_to_costs_nothing_but_time(folder, monkeypatch):
    monkeypatch.setattr(kept, "_folder", lambda: folder / "file" / "below")
    (folder / "file").touch()
    assert applied(plus(5)) == 5


def test_without_a_place_kernels_are_compiled_and_one_line_says_so(monkeypatch, caplog):
    monkeypatch.setattr(kept, "code_folder", lambda _: None)
    kept._folder.cache_clear()
    try:
        assert applied(plus(6)) == 6
        assert applied(plus(7)) == 7
    finally:
        kept._folder.cache_clear()
    (line,) = (record.getMessage() for record in caplog.records)
    assert "NUMBA_CACHE_DIR" in line


def test_compiling_is_told_in_one_line_and_code_that_is_found_in_none(folder, caplog):
    applied(plus(8))
    applied(plus(9))
    applied(plus(8))
    (line,) = (record.getMessage() for record in caplog.records)
    assert "compiled for this processor" in line


def test_compiling_is_told_again_when_others_have_long_been_done_with_it(folder, caplog):
    applied(plus(8))
    os.utime(folder / "told", (0, 0))
    applied(plus(9))
    assert len(caplog.records) == 2


def test_who_wants_no_notes_is_not_told_of_compiling(folder, caplog, monkeypatch):
    monkeypatch.setenv("LCGNN_QUIET", "1")
    applied(plus(8))
    assert not caplog.records
