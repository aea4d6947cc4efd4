"""Every rank's rows in a file of its own, and all of them in the order of the graph."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from lcgnn.errors import OutputError
from lcgnn.runs import rank_rows
from lcgnn.runs.rank_rows import remove_rows, rows_of_all

NODES = [np.array([0, 3, 4, 8, 9, 10, 11]), np.array([1, 2]), np.array([5, 6, 7])]
EXPECTED = np.random.default_rng(0).random((12, 4)).astype(np.float32)


class Threads:
    """What ranks tell each other, where the ranks are threads."""

    def __init__(self, size: int) -> None:
        self.barrier, self.told = threading.Barrier(size), [None] * size
        self.sent = 0


class ThreadWorld:
    """A world as `rows_of_all` knows it."""

    device = torch.device("cpu")

    def __init__(self, rank: int, threads: Threads) -> None:
        self.rank, self.is_first, self.threads = rank, rank == 0, threads

    def _all(self, content: Any) -> list[Any]:
        self.threads.told[self.rank] = content
        self.threads.barrier.wait(20)
        found = list(self.threads.told)
        self.threads.barrier.wait(20)
        return found

    def counts(self, count: int) -> list[int]:
        return self._all(count)

    def gather_text(self, text: str) -> list[str]:
        return self._all(text)

    def broadcast(self, content: bytes | None) -> bytes:
        return self._all(content)[0]

    def to_first(self, rows: torch.Tensor) -> torch.Tensor:
        if not self.is_first:
            self.threads.sent += rows.shape[0]
        found = torch.cat(self._all(rows))
        return found if self.is_first else found[:0]


def gathered(folder: Path | None) -> tuple[list[np.ndarray], int]:
    """What every rank gets, and how many rows were sent."""
    threads = Threads(len(NODES))
    results: list[Any] = [None] * len(NODES)

    def act(rank: int) -> None:
        world: Any = ThreadWorld(rank, threads)
        nodes = np.concatenate(NODES) if rank == 0 else np.empty(0, dtype=np.int64)
        results[rank] = rows_of_all(world, folder if rank == 0 else None, EXPECTED[NODES[rank]], nodes)

    started: Sequence[threading.Thread] = [
        threading.Thread(target=act, args=(rank,)) for rank in range(len(NODES))
    ]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join(30)
    return results, threads.sent


@pytest.fixture(autouse=True)
def few_at_a_time(monkeypatch):
    monkeypatch.setattr(rank_rows, "_ROWS", 2)


def assert_only_the_first_has_all(results):
    assert np.array_equal(results[0], EXPECTED)
    assert [len(rows) for rows in results[1:]] == [0, 0]


def test_ranks_with_a_common_disk_send_no_rows_and_leave_no_file(tmp_path: Path):
    results, sent = gathered(tmp_path)
    assert_only_the_first_has_all(results)
    assert sent == 0
    assert not list(tmp_path.iterdir())


def test_what_a_rank_writes_is_its_own_rows(tmp_path: Path, monkeypatch):
    found = {}
    read = rank_rows._rows_in

    def noted(path, shape):
        found[path.stem.split("-")[3]] = np.load(path)
        return read(path, shape)

    monkeypatch.setattr(rank_rows, "_rows_in", noted)
    gathered(tmp_path)
    for rank, nodes in enumerate(NODES):
        assert np.array_equal(found[str(rank)], EXPECTED[nodes])


def test_rows_come_as_messages_where_a_file_is_not_seen(tmp_path: Path, monkeypatch):
    read = rank_rows._rows_in
    monkeypatch.setattr(
        rank_rows, "_rows_in", lambda path, shape: None if "rank-1" in path.name else read(path, shape)
    )
    results, sent = gathered(tmp_path)
    assert_only_the_first_has_all(results)
    assert sent == len(NODES[1])
    assert not list(tmp_path.iterdir())


def test_rows_come_as_messages_where_nothing_is_written(tmp_path: Path, monkeypatch):
    for folder in (None, tmp_path / "only on another machine"):
        results, sent = gathered(folder)
        assert_only_the_first_has_all(results)
        assert sent == 5

    def full(path):
        raise OutputError(f"Cannot write {path}: No space left on device.")

    monkeypatch.setattr(rank_rows, "written_atomically", full)
    results, sent = gathered(tmp_path)
    assert_only_the_first_has_all(results)
    assert sent == 5


def test_what_a_killed_rank_left_behind_is_removed(tmp_path: Path):
    (tmp_path / "rows-of-rank-1.npy").write_bytes(b"whole")
    (tmp_path / ".rows-of-rank-2.npy.123@host.0123").write_bytes(b"cut sh")
    (tmp_path / "predictions.csv").write_text("kept")
    remove_rows(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["predictions.csv"]
