import io
from typing import Any

import pytest
from rich.console import Console

from lcgnn.cli.display import comparison_table, datasets_table, summary_table, time_left

STAGE = {"mean": 0.8, "std": 0.01, "method": "gcn", "validation_accuracy": [0.7, 0.9]}
SUMMARY: dict[str, Any] = {
    "dataset": "cora",
    "method": "lc-gcn",
    "split": {"name": "public", "labels_per_class": None},
    "seeds": [0, 1],
    "stages": [
        {**STAGE, "paper": {"mean": 81.2, "std": 0.6}},
        {**STAGE, "method": "lc-gcn", "mean": 0.82, "paper": None},
    ],
    "difference": {"mean": 0.02, "low": 0.01, "high": 0.03, "p_value": 0.04, "wins": 2, "count": 2},
}


def shown(renderable: object) -> str:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(renderable)
    return console.export_text()


def test_a_summary_says_what_was_gained_and_how_sure_that_is() -> None:
    text = " ".join(shown(summary_table(SUMMARY)).split())
    assert (
        "lc-gcn minus gcn: +2.0 points (95 % interval +1.0 to +3.0, paired t-test p = 0.04, better on 2 of 2"
        in text
    )
    assert "81.2 ± 0.6" in text


def test_one_seed_is_not_called_a_result() -> None:
    difference = {"mean": 0.02, "low": None, "high": None, "p_value": None, "wins": 1, "count": 1}
    text = " ".join(shown(summary_table({**SUMMARY, "seeds": [0], "difference": difference})).split())
    assert "one seed: more --seeds tell whether that is luck" in text


def test_a_collapse_is_explained() -> None:
    collapsed = {**SUMMARY, "difference": {**SUMMARY["difference"], "mean": -0.5}}
    assert "--base-epochs" in shown(summary_table(collapsed))


def test_a_comparison_fits_into_80_columns_without_breaking_a_number() -> None:
    large = {**SUMMARY["difference"], "mean": 0.181, "low": 0.165, "high": 0.198}
    few = {"name": "public", "labels_per_class": 15}
    wide = {**SUMMARY, "dataset": "citeseer", "split": few, "difference": large}
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
