"""Jobs over worker processes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lcgnn.compute.kernels import threads
from lcgnn.runs.board import temporary_board
from lcgnn.runs.runner import run_jobs
from lcgnn.training.loop import Progress


def written(name: str, _: Callable[[Progress], None]) -> str:
    """Write a file by a relative name; where that turned out to be."""
    Path(name).write_text("here")
    return str(Path(name).resolve())


def number_of_threads(_: str, __: Callable[[Progress], None]) -> int:
    return threads.number()


def test_workers_share_the_cores_or_have_the_threads_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "available_cores", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with temporary_board(2) as board:
        assert dict(run_jobs(number_of_threads, ["a", "b"], board, workers=2)) == {0: 4, 1: 4}
        assert dict(run_jobs(number_of_threads, ["a", "b"], board, workers=1)) == {0: 8, 1: 8}
        with threads.using(3):
            assert dict(run_jobs(number_of_threads, ["a", "b"], board, workers=2)) == {0: 3, 1: 3}
            assert dict(run_jobs(number_of_threads, ["a", "b"], board, workers=1)) == {0: 3, 1: 3}


def test_workers_follow_to_the_folder_that_they_are_used_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
        monkeypatch.chdir(folder)
        with temporary_board(2) as board:
            places = dict(run_jobs(written, ["a", "b"], board, workers=2))
        assert places == {0: str(folder / "a"), 1: str(folder / "b")}
