"""A new user's way through the examples: init, inspect, train, and what was promised against the truth."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lcgnn.cli import main
from lcgnn.errors import ConfigError
from lcgnn.sources.examples import EXAMPLES, write_example


class User:
    """Somebody who types commands in a folder, one after the other."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def types(self, command: str) -> str:
        """What is printed; the command must end well."""
        self.monkeypatch.setattr(sys, "argv", command.split())
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
        return self.capsys.readouterr().out


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> User:
    monkeypatch.chdir(tmp_path)
    return User(monkeypatch, capsys)


def rows_of(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def share_right(summary: dict[str, Any]) -> float:
    truth = {row["id"]: row["label"] for row in rows_of(f"{summary['dataset']}/truth.csv")}
    answers = [row for row in rows_of(summary["predictions"][0]) if row["origin"] == "predicted"]
    return sum(row["label"] == truth[row["id"]] for row in answers) / len(answers)


def mean_probability(summary: dict[str, Any]) -> float:
    answers = [row for row in rows_of(summary["predictions"][0]) if row["origin"] == "predicted"]
    return sum(float(row["probability"]) for row in answers) / len(answers)


@pytest.mark.parametrize(
    ("example", "verdict", "at_least"),
    [("wine", "The edges are likely to help", 0.9), ("market", "Neighbours tend to differ", 0.75)],
)
def test_what_is_promised_of_an_example_is_true(user: User, example: str, verdict: str, at_least: float) -> None:
    assert f"lcgnn train my_{example}" in user.types(f"lcgnn init my_{example} --example {example}")
    inspected = json.loads(user.types(f"lcgnn inspect my_{example} --json --plot inspect.png"))
    assert verdict in inspected["verdict"][0]
    taken, summary = (
        json.loads(user.types(f"lcgnn train my_{example} --json --workers 1 --folds 5 {how}"))
        for how in ("--budget 10s", "--method lc-gcn")
    )
    for each in (taken, summary):
        expected, right = each["expected"]["overall"], share_right(each)
        assert right >= at_least
        assert expected["low"] <= right <= expected["high"]
    # Calibrated probabilities are a rate of success.
    assert mean_probability(summary) == pytest.approx(right, abs=0.08)


def test_where_neighbours_differ_a_method_that_ignores_them_does_better(user: User) -> None:
    user.types("lcgnn init firms --example market")
    with_edges, without = (
        share_right(json.loads(user.types(f"lcgnn train firms --json --no-estimate --method {method}")))
        for method in ("lc-gcn", "mlp")
    )
    assert without > with_edges


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_the_same_every_time_and_its_labels_are_true(name: str, tmp_path: Path) -> None:
    first, second = (write_example(tmp_path / folder, name) for folder in ("one", "two"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    truth = {row["id"]: row["label"] for row in rows_of(str(first[2]))}
    given = {row["id"]: row["label"] for row in rows_of(str(first[0])) if row["label"]}
    assert truth.keys() == {row["id"] for row in rows_of(str(first[0]))}
    assert given.items() <= truth.items()
    assert 20 <= len(given) <= 0.2 * len(truth)


def test_an_unknown_example_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no example 'cheese'\. There are articles, market, papers, wine"):
        write_example(tmp_path / "graph", "cheese")
