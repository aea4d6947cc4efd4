"""The section on eleven graphs, from records that are made up: what helps, what predicts it, what was reached."""

import dataclasses
from collections.abc import Iterator

import pytest

from lcgnn.assessment.calibration import Calibration
from lcgnn.assessment.trust import Assessment, Expected, Majority
from lcgnn.experiments.library import load_experiment
from lcgnn.experiments.study import gather
from lcgnn.report.any_graph import any_graph_sections, graph_lines, in_words, predictors
from lcgnn.report.choice_goals import bias_in_words, goals_table
from lcgnn.report.markdown import results_markdown
from lcgnn.report.page import Report
from lcgnn.runs.choice.candidates import AUTO
from lcgnn.runs.records import ChoiceRecord, Environment, Fifth, Record, StageRecord, Tried
from lcgnn.sources.benchmarks import BENCHMARKS

STUDY = load_experiment("any_graph_5")
NODES = 1000
GAINS = [0.01 * (position - 2.5) for position in range(len(STUDY.columns))]
AUTO_GAINS = [0.02] * len(STUDY.columns)


def stage(name: str, accuracy: float, agreeing: int, confidence: float | None = 0.5) -> StageRecord:
    right = round(NODES * accuracy)
    fifths = tuple(
        Fifth(low / 5, (low + 1) / 5, nodes, 0) for low, nodes in enumerate((NODES - agreeing, 0, 0, agreeing, 0))
    )
    return StageRecord(
        name,
        1,
        1,
        None,
        None,
        accuracy,
        calibration_error=0.05,
        confusion=((right, 0), (NODES - right, 0)),
        fifths=fifths,
        confidence=confidence,
    )


EXPECTED = Assessment(
    folds=5,
    of_folds=5,
    given=10,
    overall=Expected(0.6, 0.5, 0.7, 10),
    by_class=(None, None),
    untested=(),
    calibration=Calibration(1.0, 0.1, 0.1, 0.1),
    majority=Majority(0, 0.5, 0.0, 0.2),
)


def made_up() -> Iterator[Record]:
    """GCN has 60 % everywhere, label consistency a gain that grows with the agreement of neighbours."""
    for row in STUDY.rows:
        for position, column in enumerate(STUDY.columns):
            for spec in STUDY.runs(row, column, 2):
                final = 0.6 + (GAINS[position] if row.method == "lc-gcn" else 0)
                final += AUTO_GAINS[position] if row.method == AUTO else 0
                agreeing = 100 + 50 * position
                yield Record(
                    run=f"{row.method} {spec.source.name} {spec.seed}",
                    dataset=spec.source.name,
                    method=spec.method,
                    settings=spec.create_method().plain_settings(),
                    split=spec.split,
                    seed=spec.seed,
                    graph="",
                    seconds=1.0,
                    stages=(stage("base", 0.6, agreeing), stage("last", final, agreeing)),
                    environment=Environment(),
                    expected=EXPECTED if row.method == AUTO else None,
                )


RECORDS = list({record.run: record for record in made_up()}.values())
CELLS = gather(STUDY, RECORDS)


def test_graphs_are_listed_by_what_label_consistency_brings() -> None:
    lines = graph_lines(STUDY, RECORDS, CELLS)
    assert [line.title for line in lines] == [
        BENCHMARKS[column.dataset].title for column in reversed(STUDY.columns)
    ]
    assert [line.gain.mean for line in lines] == pytest.approx(GAINS[::-1])
    assert lines[0].agreeing == pytest.approx(0.1 + 0.05 * 10)
    assert lines[0].label_rate == pytest.approx(10 / (10 + NODES))


def test_what_goes_with_the_gain_is_found_and_how_many_points_there_are_is_said() -> None:
    found = predictors(graph_lines(STUDY, RECORDS, CELLS))
    assert found[0].name == "the share of nodes whose neighbours mostly have their label"
    assert found[0].correlation == pytest.approx(1)
    # What is the same on all graphs has no correlation.
    assert "how sure the base is" not in {item.name for item in found}
    said = in_words(graph_lines(STUDY, RECORDS, CELLS))
    assert "gains more than a point on 7 of 11 graphs" in said
    assert "loses more than a point on 2 (Cora, Chameleon (filtered))" in said
    assert "as far as 11 graphs can say" in said


def test_goals_stand_beside_what_was_measured() -> None:
    table = goals_table({"any_graph_5": (STUDY, RECORDS, CELLS)})
    assert table is not None
    found = {row[0].text: (row[1].text, row[2].text) for row in table.rows}
    best = [max(gain, 0.0) for gain in GAINS]
    behind = sum(100 * (one - other) for one, other in zip(AUTO_GAINS, best, strict=True)) / len(best)
    goal = "at most 1 point behind the best single row of each graph, mean"
    assert found[goal] == (f"{behind:+.1f}", "met" if behind >= -1 else "missed")
    assert found["never more than 2 points below GCN"] == ("+2.0", "met")
    assert found["calibration error at most 6 points, mean"] == ("5.0", "met")
    assert found["the 95 % interval holds the truth in 92 to 98 %"] == ("100.0 %", "too few to tell")
    assert found["median width of the interval below 25 points"] == ("20", "met")


def test_trust_has_goals_in_every_study_and_accuracy_in_that_of_five_labels() -> None:
    few = dataclasses.replace(STUDY, title="Made up: 3 labels a class")
    table = goals_table({"any_graph_5": (STUDY, RECORDS, CELLS), "any_graph_3": (few, RECORDS, CELLS)})
    assert table is not None
    of_few = [row[0].text for row in table.rows if "3 labels a class" in row[3].text]
    of_five = [row[0].text for row in table.rows if "5 labels a class" in row[3].text]
    assert "the 95 % interval holds the truth in 92 to 98 %" in of_few
    assert of_five[-len(of_few) :] == of_few
    assert len(of_five) == len(of_few) + 4


def test_how_far_the_expectation_is_from_the_truth_is_said_with_and_without_its_correction() -> None:
    tried = Tried("lc-gcn", 7, 10, 0.4, 0.9, None, 5, 1.0)
    choice = ChoiceRecord((tried,), "lc-gcn", 5, 5)
    chosen = [dataclasses.replace(record, choice=choice) for record in RECORDS if record.method == AUTO]
    assert bias_in_words(chosen) == (
        "What was expected of 22 choices is -2.0 points from the truth on average; the share of held-out labels "
        "that the winner itself predicted right, +8.0."
    )
    assert bias_in_words([]) == ""


def test_without_records_there_is_no_section_and_without_the_choice_no_goal() -> None:
    assert any_graph_sections({}) == []
    single = [record for record in RECORDS if record.method != AUTO]
    cells = gather(STUDY, single)
    assert goals_table({"any_graph_5": (STUDY, single, cells)}) is None
    (section,) = any_graph_sections({"any_graph_5": (STUDY, single, cells)})
    assert [table.name for table in section.tables] == ["any-graph"]


def test_older_records_do_not_say_how_sure_the_base_is() -> None:
    older = [
        dataclasses.replace(
            record, stages=tuple(dataclasses.replace(item, confidence=None) for item in record.stages)
        )
        for record in RECORDS
    ]
    text = results_markdown(Report.from_records([STUDY], older))
    assert "## Any graph: where label consistency helps" in text
    assert "| PubMed | 60.0 | 67.5 |" in text
