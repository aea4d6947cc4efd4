"""Jobs over worker processes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lcgnn.runs.board import temporary_board
from lcgnn.runs.runner import run_jobs
from lcgnn.training.loop import Progress


def written(name: str, _: Callable[[Progress], None]) -> str:
    """Write a file by a relative name; where that turned out to be."""
    Path(name).write_text("here")
    return str(Path(name).resolve())


def test_workers_follow_to_the_folder_that_they_are_used_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
        monkeypatch.chdir(folder)
        with temporary_board(2) as board:
            places = dict(run_jobs(written, ["a", "b"], board, workers=2))
        assert places == {0: str(folder / "a"), 1: str(folder / "b")}
