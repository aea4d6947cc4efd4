"""Jobs over worker processes."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from lcgnn.compute.kernels import threads
from lcgnn.errors import ConfigError, OutputError
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


def process_of(number: int, _: Callable[[Progress], None]) -> tuple[int, int]:
    return number, os.getpid()


def refused(number: int, _: Callable[[Progress], None]) -> int:
    raise ConfigError(f"{number} is refused.")


def killed_once(job: tuple[int, Path, int], _: Callable[[Progress], None]) -> int:
    """The first process other than the parent's that gets here is killed."""
    number, mark, parent = job
    if os.getpid() != parent:
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            return number
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def killed_always(parent: int, _: Callable[[Progress], None]) -> int:
    if os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("This process has jobs as well.")


def test_every_job_is_done_once_here_or_in_another_process() -> None:
    with temporary_board(17) as board:
        found = dict(run_jobs(process_of, list(range(12)), board, workers=2, here=True, positions=range(5, 17)))
    assert {position: number for position, (number, _) in found.items()} == {n + 5: n for n in range(12)}
    assert os.getpid() in {process for _, process in found.values()}
    assert len({process for _, process in found.values()}) <= 2


def test_an_error_of_a_job_is_raised_wherever_it_was_carried_out() -> None:
    with temporary_board(3) as board, pytest.raises(ConfigError, match="is refused"):
        list(run_jobs(refused, [1, 2, 3], board, workers=2, here=True))


def test_what_a_killed_process_was_at_is_begun_again(tmp_path: Path) -> None:
    jobs = [(number, tmp_path / "mark", os.getpid()) for number in range(6)]
    with temporary_board(6) as board:
        found = dict(run_jobs(killed_once, jobs, board, workers=2, here=True))
    assert found == {number: number for number in range(6)}


def test_processes_that_are_killed_again_and_again_are_an_error() -> None:
    with temporary_board(1) as board, pytest.raises(OutputError, match="killed 3 times in a row"):
        list(run_jobs(killed_always, [os.getpid()], board, workers=2, here=True))
