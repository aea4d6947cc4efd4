"""Sizes that nobody can mean, and names that no disk takes, are refused before any work and leave nothing."""

import sys
from pathlib import Path

import pytest

from lcgnn.cli import main
from lcgnn.sources.examples import write_example

HIDDEN = ["train", "g", "--no-estimate", "--set"]


def run(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["lcgnn", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LCGNN_MEMORY_GB", "4")
    write_example(Path("g"))
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*HIDDEN, "hidden=1000000000"], ["weights on g needs ", " GB of memory, and 4.0 GB may be used"]),
        ([*HIDDEN, "hidden=1000000000", "-m", "semiemb"], ["weights on g needs ", "and 4.0 GB may be used"]),
        ([*HIDDEN, "hidden=9999999999999999999999"], ["hidden is 9,999,999,999,", "above 2,147,483,647"]),
        ([*HIDDEN, "weight_decay=1e300"], ["weight_decay is 1e+300; no setting can be above 3.4e+38"]),
        ([*HIDDEN, "epochs=3000000000"], ["epochs is 3,000,000,000; no setting can be above 2,147,483,647"]),
        (["train", "g", "--seeds", "1000000000"], ["1,000,000,000 seeds", "needs 2,000.0 GB", "4.0 GB may be"]),
        (["reproduce", "table3", "--seeds", "1000000000"], ["1,000,000,000 seeds", "needs 2,000.0 GB"]),
        (["train", "g", "--parts", "1000000"], ["g can be cut into 1 to 300 parts, not 1,000,000"]),
        (["partition", "g", "--parts", "1000000"], ["g can be cut into 1 to 300 parts, not 1,000,000"]),
        (["train", "g", "--device", "meta"], ["Device 'meta' cannot be used here"]),
        (["train", "g", "--out", "x" * 300], ["the name has 300 bytes, and there can be 255"]),
        (["generate", "y" * 300], ["the name has 300 bytes, and there can be 255"]),
        (["inspect", "g", "--plot", f"{'z' * 300}.png"], ["the name has 304 bytes, and there can be 255"]),
        (["generate", "n", "--nodes", "1000000000000"], ["1,000,000,000,000 nodes needs ", "4.0 GB may be used"]),
        (["generate", "n", "--features", "10000000000000"], [" GB on disk at least, and ", " GB are free"]),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else None,
)
def test_a_size_that_nobody_can_mean_is_refused_and_nothing_is_left(
    arguments: list[str],
    words: list[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = sorted(folder.rglob("*"))
    assert run(arguments, monkeypatch) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("lcgnn: ")
    for text in words:
        assert text in last
    assert sorted(folder.rglob("*")) == before


def test_a_graph_with_a_very_long_name_is_inspected_and_trained_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "n" * 250
    Path("g").rename(name)
    assert run(["inspect", name], monkeypatch) == 0
    short = ["--no-estimate", "--base-epochs", "2", "--epochs", "2"]
    assert run(["train", f"./{name}", *short], monkeypatch) == 0
    assert list((folder / "runs").glob("n*/seed-0/predictions.csv"))
