"""Trainings on graphs of one's own are on the page, whatever they are called."""

import json
import sys
from pathlib import Path

import pytest

from lcgnn.cli import main
from lcgnn.files import read_json
from lcgnn.report.html import render
from lcgnn.report.own import own_section
from lcgnn.report.page import Report
from lcgnn.runs.records import Record
from lcgnn.runs.train import train
from lcgnn.sources.examples import write_example

NASTY = "<script>alert(1)<"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two trainings: one with an estimate, one without; the first on a graph with a hostile name."""
    folder = tmp_path_factory.mktemp("own")
    for name in (NASTY, "tame"):
        write_example(folder / name)
    settings = {"base_epochs": 3, "epochs": 2}
    train(folder / NASTY, "lc-gcn", settings=settings, folds=2, workers=1, out=folder / "runs" / "first")
    train(folder / "tame", "lp", estimate=False, workers=1, out=folder / "runs" / "second")
    return folder / "runs"


def test_every_training_has_a_line(runs: Path) -> None:
    section = own_section(runs)
    assert section is not None
    first, second = section.tables[0].rows
    assert [value.text for value in first][:4] == [NASTY, "lc-gcn", "1", "30"]
    assert "[" in first[4].text
    assert [value.text for value in second][:6] == ["tame", "lp", "1", "30", "", ""]
    assert own_section(runs / "nowhere") is None


def test_trainings_are_counted_beside_runs_of_experiments(runs: Path) -> None:
    section = own_section(runs)
    assert Report((), (), ()).counted() == "0 runs of experiments"
    assert Report((), (), (), trainings=section).counted() == "2 of your trainings"
    (record,) = (Record.from_json(read_json(path), str(path)) for path in runs.glob("second/*/result.json"))
    assert Report((), (record,), (), trainings=section).counted() == "1 run of experiments and 2 of your trainings"


def test_a_page_of_trainings_alone_escapes_their_names(runs: Path, tmp_path: Path) -> None:
    report = Report.of([], tmp_path / "records", tmp_path / "results", runs)
    page = render(report)
    assert NASTY not in page
    assert "&lt;script&gt;alert(1)&lt;" in page


def test_the_command_shows_trainings_and_leaves_out_a_damaged_one(
    runs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    damaged = tmp_path / "runs" / "third"
    damaged.mkdir(parents=True)
    (damaged / "summary.json").write_text(json.dumps({"dataset": 3}))
    (tmp_path / "runs" / "first").symlink_to(runs / "first")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["lcgnn", "report"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert "lc-gcn" in (tmp_path / "results" / "report.html").read_text()
    assert "third" in caplog.text
    assert capsys.readouterr().out.startswith("1 of your trainings. Page: ")
    assert not (tmp_path / "RESULTS.md").exists()
