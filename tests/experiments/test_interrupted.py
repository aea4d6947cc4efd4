"""Real processes that are killed or whose disk is full: nothing half-written stays, and the result is the same."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lcgnn.cli import main
from lcgnn.files import read_json
from lcgnn.runs.predict import predict
from lcgnn.sources.examples import write_example

TRAIN = ("train", "graph", "--no-estimate", "--base-epochs", "30", "--epochs", "30", "--out")
# Kills the process at the moment when a written file is to take its place, for the n-th time.
KILLED = """
import os, pathlib, signal, sys
replace, left = pathlib.Path.replace, int(sys.argv.pop(1))
def replace_or_die(self, target):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(self, target)
pathlib.Path.replace = replace_or_die
from lcgnn.cli import main
main()
"""
# A process that may write so many bytes into a file meets the same error as one on a full disk.
LIMITED = """
import resource, sys
limit = int(sys.argv.pop(1))
from lcgnn.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
main()
"""
# In a mount of one page that only this process sees.
MOUNTED = """
mount -t tmpfs -o size=4k none tiny
"$0" -m lcgnn predict whole --out tiny/a.parquet && exit 1
ls -A tiny
"""


def call(code: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)


def lcgnn(*arguments: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["lcgnn", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The current folder, with tables and an undisturbed run."""
    folder = tmp_path_factory.mktemp("work")
    write_example(folder / "graph")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        monkeypatch.setenv("LCGNN_CHECKPOINT_SECONDS", "0")
        lcgnn(*TRAIN, "whole", monkeypatch=monkeypatch)
        yield folder


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def has_leftovers(folder: Path) -> bool:
    return any(Path(name).name.startswith(".") for name in files_in(folder))


def test_a_training_that_is_killed_and_short_of_room_ends_as_if_it_had_not_been(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed with its first file half there, then out of room, then killed with a checkpoint half there."""
    assert call(KILLED, "1", *TRAIN, "torn", folder=work).returncode == -signal.SIGKILL
    assert has_leftovers(work / "torn")
    crowded = call(LIMITED, "5000", *TRAIN, "torn", folder=work)
    assert crowded.returncode == 2
    assert crowded.stderr.endswith("lcgnn: Cannot write torn/seed-0/checkpoint.safetensors: File too large.\n")
    assert not has_leftovers(work / "torn")
    assert call(KILLED, "5", *TRAIN, "torn", folder=work).returncode == -signal.SIGKILL
    assert has_leftovers(work / "torn")
    lcgnn(*TRAIN, "torn", monkeypatch=monkeypatch)
    assert files_in(work / "torn") == files_in(work / "whole")
    for name in ("predictions.csv", "metrics.csv", "model.safetensors"):
        whole, torn = (work / run / "seed-0" / name for run in ("whole", "torn"))
        assert whole.read_bytes() == torn.read_bytes(), name


def test_an_estimate_that_is_killed_ends_as_if_it_had_not_been(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in the second of two folds, after the first one's 40 epochs."""
    short = ("--base-epochs", "20", "--epochs", "20")
    train = ("train", "graph", "--method", "lc-gcn", "--folds", "2", "--workers", "1", *short, "--out")
    lcgnn(*train, "sure", monkeypatch=monkeypatch)
    assert call(KILLED, "60", *train, "hurt", folder=work).returncode == -signal.SIGKILL
    assert {"folds/fold-1.json", "folds/fold-2.safetensors"} <= files_in(work / "hurt")
    first = (work / "hurt" / "folds" / "fold-1.json").stat().st_mtime_ns
    lcgnn(*train, "hurt", monkeypatch=monkeypatch)
    assert (work / "hurt" / "folds" / "fold-1.json").stat().st_mtime_ns == first
    assert files_in(work / "hurt") == files_in(work / "sure")
    sure, hurt = (read_json(work / run / "summary.json")["expected"] for run in ("sure", "hurt"))
    assert sure == hurt
    for name in ("predictions.csv", "model.safetensors"):
        assert (work / "sure" / "seed-0" / name).read_bytes() == (work / "hurt" / "seed-0" / name).read_bytes()


def test_predictions_that_are_killed_are_not_half_there(work: Path) -> None:
    killed = call(KILLED, "1", "predict", "whole", "--out", "answers/a.csv", folder=work)
    assert killed.returncode == -signal.SIGKILL
    assert has_leftovers(work / "answers")
    assert "a.csv" not in files_in(work / "answers")
    predict(Path("whole")).save(Path("answers/a.csv"))
    assert files_in(work / "answers") == {"a.csv"}


def test_a_full_file_system_is_said_and_stays_empty(work: Path) -> None:
    (work / "tiny").mkdir()
    private = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-e", "-c"]
    may_mount = [*private, "mount -t tmpfs none tiny"]
    if not shutil.which("unshare") or subprocess.run(may_mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system")
    done = subprocess.run(
        [*private, MOUNTED, sys.executable], capture_output=True, text=True, timeout=240, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.endswith("lcgnn: Cannot write tiny/a.parquet: No space left on device.\n")
