"""Every command that is registered is run here as a user would give it, and leaves what it promises."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from lcgnn.cli import app, main
from lcgnn.experiments import demo
from lcgnn.files import read_toml
from lcgnn.labelling.serving import Serving

STUDY = """
title = "Small"
seeds = 1
[[rows]]
name = "LP"
method = "lp"
[[columns]]
name = "Cora"
dataset = "cora"
"""
SHORT = ["--no-estimate", "--base-epochs", "5", "--epochs", "5"]
STORED = ["--records", "{}/records", "--results", "{}/results"]
SMALL = ["--nodes", "300", "--edges", "1200", "--features", "4", "--classes", "3"]

# What is typed for each command, where {} is the folder, and a file that is there afterwards. A command may use
# what those before it have left.
INVOCATIONS: dict[str, tuple[list[str], str | None]] = {
    "init": (["init", "{}/graph"], "graph/nodes.csv"),
    "inspect": (["inspect", "{}/graph"], None),
    "suggest": (["suggest", "{}/graph", "--no-model", "--out", "{}/next.csv"], "next.csv"),
    "label": (["label", "{}/graph", "--no-browser", "--out", "{}/given.csv"], None),
    "compare": (
        ["compare", "{}/graph", "--methods", "mlp,lp", "--folds", "2", "--set", "base_epochs=5", "--out", "{}/c"],
        "c/folds/mlp/fold-2.json",
    ),
    "train": (["train", "{}/graph", "--out", "{}/run", *SHORT], "run/seed-0/predictions.csv"),
    "predict": (["predict", "{}/run", "{}/graph", "--out", "{}/answers.csv"], "answers.csv"),
    "explain": (["explain", "{}/run", "article-071", "--no-retrain"], None),
    "doubt": (
        [
            "doubt",
            "{}/graph",
            "--method",
            "mlp",
            "--folds",
            "2",
            "--set",
            "base_epochs=5",
            "--out",
            "{}/doubt",
            "--save",
            "{}/doubts.csv",
        ],
        "doubts.csv",
    ),
    "generate": (["generate", "{}/large", *SMALL], "large"),
    "partition": (["partition", "{}/large", "--parts", "2", "--out", "{}/parts"], "parts/parts.json"),
    "datasets": (["datasets"], None),
    "methods": (["methods"], None),
    "schema": (["schema", "train"], None),
    "reproduce": (["reproduce", "{}/small.toml", *STORED], "results/small.md"),
    "results pack": (["results", "pack", "{}/small.toml", *STORED], "results/small.jsonl"),
    "report": (["report", "{}/small.toml", *STORED, "--markdown", "{}/RESULTS.md"], "results/report.html"),
    "demo": (["demo", "--out", "{}/demo"], "demo/accuracy.png"),
}


def registered(group: Any, before: str = "") -> Iterator[str]:
    """The full names of all commands, those in groups included."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from registered(command, f"{before}{name} ")
        else:
            yield f"{before}{name}"


COMMANDS = sorted(registered(typer.main.get_command(app)))


def test_every_registered_command_is_run_below():
    assert sorted(INVOCATIONS) == COMMANDS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, cora: object, citeseer: object, pubmed: object) -> Path:
    """Where the commands are given, one after the other; they find the benchmark graphs in the cache."""
    folder = tmp_path_factory.mktemp("commands")
    (folder / "small.toml").write_text(STUDY, encoding="utf-8")
    return folder


@pytest.fixture
def short_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the demonstration's trainings, of one seed each: with all labels of the split, and with few."""
    sessions = read_toml(Path(demo.__file__).with_name("demo.toml"))["sessions"]
    few = next(item for item in sessions if "labels_per_class" in item)
    short = {"sessions": [{**item, "seeds": 1} for item in (sessions[0], few)]}
    monkeypatch.setattr(demo, "read_toml", lambda _: short)
    monkeypatch.setattr(demo, "with_public_split", lambda: ())


def run(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["lcgnn", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.fixture
def short_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that ends before anybody has seen it."""
    monkeypatch.setattr(Serving, "run", Serving.close)


@pytest.mark.usefixtures("short_demo", "short_page")
def test_every_command_ends_well_and_leaves_what_it_promises(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], subtests: Any
) -> None:
    for name, (arguments, left) in INVOCATIONS.items():
        with subtests.test(name):
            assert run([argument.format(folder) for argument in arguments], monkeypatch) == 0
            shown = capsys.readouterr()
            assert shown.out
            assert left is None or (folder / left).exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_an_example_of_it(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command.split(), "--help"], monkeypatch) == 0
    assert f"Example: lcgnn {command}" in capsys.readouterr().out


def test_a_benchmark_that_the_demonstration_does_not_name_is_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "with_public_split", lambda: ("cora", "mine"))
    titles = [training.title for training in demo.demo_trainings()]
    assert titles[-1] == "lc-gcn on mine, public split, 2 seeds"
    assert sum("mine" in title for title in titles) == 1


def test_every_session_of_the_demonstration_names_a_graph_and_a_method_that_there_are() -> None:
    from lcgnn.methods import entry
    from lcgnn.sources.benchmarks import names

    for session in read_toml(Path(demo.__file__).with_name("demo.toml"))["sessions"]:
        assert session["dataset"] in names()
        assert entry(session["method"])
