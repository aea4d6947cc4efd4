"""Files that are mapped into memory, and let go of."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from lcgnn.compute.placement.disk import disk_array, disk_tensor
from lcgnn.mapping import all_in_blocks, blocks, known_mapping, let_go
from lcgnn.sources.npy import mapped_array


def test_what_was_written_is_there_again_after_it_was_let_go_of():
    tensor = disk_tensor(1000, 8)
    tensor[:] = torch.arange(8000).view(1000, 8)
    let_go(tensor)
    assert torch.equal(tensor, torch.arange(8000).view(1000, 8).float())


def test_an_array_that_is_in_no_file_stays_as_it_is():
    array, tensor = np.arange(10_000.0), torch.arange(10_000)
    let_go(array, tensor, None)
    assert np.array_equal(array, np.arange(10_000.0))
    assert torch.equal(tensor, torch.arange(10_000))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell what is mapped")
@pytest.mark.parametrize(
    "view", [lambda array: array, lambda array: array[5:, 3], torch.from_numpy], ids=["all", "part", "tensor"]
)
def test_memory_is_given_back_whichever_part_of_a_file_is_named(view):
    array = disk_array((2**14, 2**10), np.float32)
    array[:] = 1
    held = mapped_mebibytes()
    let_go(view(array))
    assert held - mapped_mebibytes() > 60


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell what is mapped")
def test_a_file_that_is_tested_in_blocks_is_never_whole_in_memory(tmp_path: Path):
    np.save(tmp_path / "large.npy", np.ones((2**14, 2**10), dtype=np.float32))
    array = mapped_array(tmp_path / "large.npy")
    before, seen = mapped_mebibytes(), []

    def holds(values):
        found = np.isfinite(values).all()
        seen.append(mapped_mebibytes() - before)
        return found

    assert all_in_blocks(holds, array, 2**11)
    assert len(seen) == 8
    assert max(seen) < 24


def test_a_test_in_blocks_holds_only_if_it_holds_everywhere():
    values = np.zeros(100)
    assert all_in_blocks(np.isfinite, values, 7)
    values[99] = np.nan
    assert not all_in_blocks(np.isfinite, values, 7)
    assert all_in_blocks(np.isfinite, values[:0], 7)


@pytest.mark.parametrize(("length", "size"), [(0, 3), (1, 3), (3, 3), (10, 3)])
def test_blocks_cover_every_row_once(length, size):
    assert np.array_equal(
        np.concatenate([[], *(np.arange(length)[rows] for rows in blocks(length, size))]), range(length)
    )


def test_a_mapping_that_is_gone_is_forgotten(tmp_path: Path):
    np.save(tmp_path / "small.npy", np.ones(10))
    address = known_mapping(np.load(tmp_path / "small.npy", mmap_mode="r")).ctypes.data
    from lcgnn import mapping

    assert address not in mapping._MAPPED


def mapped_mebibytes() -> float:
    text = Path("/proc/self/status").read_text()
    return sum(int(found) for found in re.findall(r"Rss(?:File|Shmem):\s+(\d+)", text)) / 1024
