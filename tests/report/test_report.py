"""What the report says, without a browser."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lcgnn.assessment.evaluation import PairedDifference
from lcgnn.cli import main
from lcgnn.errors import OutputError
from lcgnn.experiments.library import load_experiment
from lcgnn.experiments.store import Store
from lcgnn.report.diagnostic_figures import curves_figure
from lcgnn.report.html import render
from lcgnn.report.markdown import escaped, results_markdown
from lcgnn.report.page import Report
from lcgnn.report.plotting import plain
from lcgnn.report.tables import Heading, Table, signed_value, verdict
from lcgnn.runs.records import CurvePoint, Record


@pytest.fixture
def records(study: Path) -> list[Record]:
    return Store(study.parent / "records", [study.parent / "results" / "study.jsonl"]).all()


def report_of(study: Path, records: list[Record]) -> Report:
    return Report.from_records([load_experiment(str(study))], records)


def without(key: str, records: list[Record]) -> list[Record]:
    return [
        replace(record, stages=tuple(replace(stage, **{key: None}) for stage in record.stages))
        for record in records
    ]


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["lcgnn", "report", *arguments])
    main()


def test_the_command_writes_the_page_and_the_tables(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = study.parent
    options = ("--records", str(source / "records"), "--results", str(source / "results"), "--out", "page.html")
    with pytest.raises(SystemExit) as done:
        run(monkeypatch, tmp_path, str(study), *options)
    assert done.value.code == 0
    assert "16 runs of experiments. Page: page.html    Tables: RESULTS.md" in capsys.readouterr().out
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "## A study" in (tmp_path / "RESULTS.md").read_text(encoding="utf-8")


def test_without_records_there_is_one_line_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as done:
        run(monkeypatch, tmp_path)
    assert done.value.code == 2
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "There are no records" in shown
    assert "lcgnn reproduce" in shown
    assert not list(tmp_path.iterdir())


def test_help_ends_with_an_example(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["lcgnn", "report", "--help"])
    with pytest.raises(SystemExit):
        main()
    assert "Example: lcgnn report" in capsys.readouterr().out


def test_packed_and_single_records_are_read_together_and_the_same_records_give_the_same_page(study: Path) -> None:
    folder = study.parent
    first, second = (Report.of([str(study)], folder / "records", folder / "results") for _ in range(2))
    assert len(first.records) == 16
    assert render(first) == render(second)


def test_experiments_without_records_are_named(study: Path) -> None:
    report = Report.of([str(study)], study.parent / "records", study.parent / "results")
    assert "Performance in sparse scenarios on Cora" in " ".join(report.summary())


@pytest.mark.parametrize(
    ("key", "anchor"),
    [
        ("fifths", "label-consistency"),
        ("confusion", "confusion"),
        ("calibration_error", "calibration"),
        ("curve", "training"),
    ],
)
def test_a_section_appears_only_if_records_carry_its_data(
    key: str, anchor: str, study: Path, records: list[Record]
) -> None:
    anchors = [section.anchor for section in report_of(study, records).sections()]
    fewer = [section.anchor for section in report_of(study, without(key, records)).sections()]
    assert set(anchors) - set(fewer) == {anchor}


def test_records_that_do_not_fit_together_are_named(study: Path, records: list[Record]) -> None:
    smaller = tuple(replace(stage, confusion=((1,),)) for stage in records[0].stages)
    with pytest.raises(OutputError, match=r"confusion in one of the records [0-9a-f]{16}, .* another size"):
        report_of(study, [replace(records[0], stages=smaller), *records[1:]]).sections()


def test_markdown_has_every_table_and_escapes_names(study: Path, records: list[Record]) -> None:
    text = results_markdown(report_of(study, records))
    assert "## A study \\| of &lt;script>" in text
    assert "<script" not in text
    for title in ("How far the probabilities can be trusted", "What was run"):
        assert f"## {title}" in text
    for block in re.findall(r"(?:^\|.*\n?)+", text, flags=re.MULTILINE):
        columns = {len(re.findall(r"(?<!\\)\|", line)) for line in block.strip().splitlines()}
        assert len(columns) == 1, block


def test_a_pipe_in_a_name_does_not_end_a_cell() -> None:
    assert escaped("a|b\\c\nd <e>") == "a\\|b\\\\c d &lt;e>"


def test_plot_labels_show_tags_literally_and_are_cut() -> None:
    assert plain("<b>x</b> & y") == "&lt;b&gt;x&lt;/b&gt; &amp; y"
    assert len(plain("x" * 100)) == 40


def test_a_long_curve_is_thinned_and_keeps_both_ends() -> None:
    figure = curves_figure({0: [CurvePoint(epoch, 1.0, float("nan"), None) for epoch in range(5000)]})
    epochs = figure["data"][0]["x"]
    assert (len(epochs), epochs[0], epochs[-1]) == (120, 0, 4999)
    assert set(figure["data"][1]["y"]) == set(figure["data"][2]["y"]) == {None}


@pytest.mark.parametrize(
    ("number", "text"), [(0.31, "+0.3"), (-0.31, "−0.3"), (0.04, "0.0"), (-0.04, "0.0"), (float("nan"), "–")]
)
def test_a_signed_number_has_no_sign_where_it_rounds_to_zero(number: float, text: str) -> None:
    assert signed_value(number).text == text


def test_a_verdict_needs_significance() -> None:
    assert verdict(PairedDifference.between([0.8, 0.81, 0.82], [0.7, 0.71, 0.721])) == "better"
    assert verdict(PairedDifference.between([0.7, 0.71, 0.721], [0.8, 0.81, 0.82])) == "worse"
    assert verdict(PairedDifference.between([0.8, 0.6], [0.7, 0.7])) == "unclear"
    assert verdict(PairedDifference.between([0.9], [0.1])) == "unclear"


def test_headings_are_grouped_only_where_they_share_something() -> None:
    grouped = Table("t", "", (Heading("m"), Heading("a", group="g"), Heading("b", group="g")), ())
    assert grouped.groups == [("", 1), ("g", 2)]
    assert Table("t", "", (Heading("m"), Heading("a")), ()).groups == []
