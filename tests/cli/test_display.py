import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from lcgnn.assessment.evaluation import PairedDifference
from lcgnn.assessment.suggestion import Suggestion
from lcgnn.cli.display import comparison_table, datasets_table, record_line, say, summary_table, time_left
from lcgnn.cli.display_graph import suggestions_table
from lcgnn.cli.watching import TerminalWatcher
from lcgnn.graph import Graph
from lcgnn.runs.records import (
    Environment,
    FoldRecord,
    Record,
    StageRecord,
    StageSummary,
    Summary,
    UsedSplit,
)
from lcgnn.runs.reported import Reported
from lcgnn.runs.spec import SplitSpec
from lcgnn.runs.suggest import Suggestions
from lcgnn.runs.summary import words

GAIN = PairedDifference(mean=0.02, low=0.01, high=0.03, p_value=0.04, wins=2, count=2)
SUMMARY = Summary(
    dataset="cora",
    method="lc-gcn",
    split=UsedSplit(SplitSpec(), "public", "abc"),
    settings={},
    seeds=(0, 1),
    seconds=(1.0, 1.0),
    stages=(
        StageSummary("base", "gcn", (0.79, 0.81), (0.7, 0.9), 0.8, 0.01, Reported(81.2, 0.6)),
        StageSummary("label consistency", "lc-gcn", (0.81, 0.83), (0.7, 0.9), 0.82, 0.01, None),
    ),
    folder="run",
    lcgnn="0.1.0",
    difference=GAIN,
)


def shown(renderable: object) -> str:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(renderable)
    return console.export_text()


def test_a_summary_says_what_was_gained_and_how_sure_that_is() -> None:
    assert "81.2 ± 0.6" in shown(summary_table(SUMMARY))
    assert words(SUMMARY, can_predict=False)[0].startswith(
        "lc-gcn minus gcn: +2.0 points (95 % interval +1.0 to +3.0, paired t-test p = 0.04, better on 2 of 2"
    )


def test_a_graph_that_the_paper_has_no_figure_of_gets_no_column_for_it() -> None:
    assert "the paper's" in shown(summary_table(SUMMARY))
    stages = tuple(replace(stage, paper=None) for stage in SUMMARY.stages)
    assert "the paper's" not in shown(summary_table(replace(SUMMARY, stages=stages)))


def test_where_classes_are_unequal_the_balanced_accuracy_stands_beside_the_accuracy() -> None:
    assert "balanced" not in shown(summary_table(SUMMARY))
    stages = tuple(replace(stage, balanced=0.611) for stage in SUMMARY.stages)
    table = shown(summary_table(replace(SUMMARY, stages=stages)))
    assert "balanced %" in table
    assert table.count("61.1") == 2


def test_the_time_of_folds_that_ran_side_by_side_is_that_of_the_clock() -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    folds = [FoldRecord("run", number, (number,), ((1.0, 0.0),), 60.0) for number in range(3)]
    TerminalWatcher(console).trained_folds(folds, 61.5)
    assert console.export_text().strip() == "3 folds of cross-validation: trained  (61.5 s)"
    TerminalWatcher(console).read_folds(folds, 0.2)
    assert console.export_text().strip() == "3 folds of cross-validation: there from an earlier run  (0.2 s)"


def test_a_run_with_suggested_labels_says_who_suggested_them() -> None:
    record = Record(
        run="r",
        dataset="cora",
        method="lc-gcn",
        settings={},
        split=SplitSpec(kind="suggested", labels_per_class=2, strategy="degree", strategy_version=1),
        seed=3,
        graph="g",
        seconds=1.0,
        stages=(StageRecord("base", 1, 1, None, None, 0.5),),
        environment=Environment(),
    )
    console = Console(width=80, record=True, file=io.StringIO())
    record_line(record, console)
    assert console.export_text().startswith("lc-gcn on cora, 2 labels a class's worth by degree, seed 3: ")


@pytest.mark.parametrize("is_terminal", [True, False])
def test_lines_of_a_sentence_end_between_words_on_a_terminal_and_nowhere_else(is_terminal: bool) -> None:
    console = Console(width=20, file=io.StringIO(), force_terminal=is_terminal, color_system=None)
    say("What would help most: [labels] of 'billing'.", console)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert [line.rstrip() for line in lines] == (
        ["What would help", "most: [labels] of", "'billing'."]
        if is_terminal
        else ["What would help most: [labels] of 'billing'."]
    )


def test_one_seed_is_not_called_a_result() -> None:
    summary = replace(SUMMARY, seeds=(0,), difference=PairedDifference.between([0.82], [0.8]))
    assert "one seed: more --seeds tell whether that is luck" in words(summary, can_predict=False)[0]


def test_a_collapse_is_explained() -> None:
    collapsed = replace(SUMMARY, difference=replace(GAIN, mean=-0.5))
    assert "--set cross_entropy_weight=1" in words(collapsed, can_predict=False)[1]


def test_a_comparison_fits_into_80_columns_without_breaking_a_number() -> None:
    large = replace(GAIN, mean=0.181, low=0.165, high=0.198)
    few = UsedSplit(SplitSpec(labels_per_class=15), "public", "abc")
    wide = replace(SUMMARY, dataset="citeseer", split=few, difference=large)
    text = shown(comparison_table([SUMMARY, wide]))
    assert "80.0±1.0 (81.2)" in text
    assert "+18.1 [16.5, 19.8]" in text
    assert "…" not in text


@pytest.mark.parametrize("name", ["[red]x[/red]", "<script>"])
def test_names_from_outside_are_shown_as_they_are(name: str) -> None:
    row = {"name": name, "nodes": 1, "raw_links": 1, "edges": 1, "classes": 1, "features": 1, "label_rate": 0.5}
    assert name in shown(datasets_table([row]))


@pytest.mark.parametrize(
    ("elapsed", "share", "text"),
    [
        (5, 0.5, ""),
        (60, 0.001, ""),
        (60, 1, ""),
        (60, 0.9, "less than a minute left"),
        (600, 0.25, "about 30 min left"),
        (3600, 0.25, "about 3.0 h left"),
    ],
)
def test_the_time_left_is_told_when_it_is_more_than_a_guess(elapsed: float, share: float, text: str) -> None:
    assert time_left(elapsed, share) == text


def test_suggestions_are_shown_in_order_and_a_name_cannot_command_the_terminal() -> None:
    graph = Graph.from_edges(
        "two", np.array([[0], [1]]), 2, np.array([-1, -1]), (), node_names=np.array(["plain", "red\x1b[31m"])
    )
    items = (Suggestion(1, "Stands for itself alone.", 1), Suggestion(0, "Has 1 neighbour.", 1))
    console = Console(file=io.StringIO(), width=80)
    console.print(suggestions_table(Suggestions(graph, "degree", 0, False, items)))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "two: label these next (0 of 2 nodes have a label)" in shown
    assert shown.index("red?[31m") < shown.index("plain")
    assert "\x1b" not in shown
