"""What programs read and give: JSON by schema, options from files, quiet and loud, completion."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer

from lcgnn.cli import main
from lcgnn.cli.answers import VERSION, print_answer, schema_of, schemas
from lcgnn.cli.app import app
from lcgnn.sources.examples import write_example

Says = Callable[..., str]
SHORT = ["--method", "lc-gcn", "--base-epochs", "5", "--epochs", "5"]


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Says:
    """What a command prints, in a folder with an example graph."""
    write_example(tmp_path / "articles")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["lcgnn", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code, capsys.readouterr().err
        return capsys.readouterr().out

    return run


def commands() -> dict[str, Any]:
    """Every command by its name, those of groups as well."""
    root: Any = typer.main.get_command(app)
    found: dict[str, Any] = {}
    for name, item in root.commands.items():
        found |= item.commands if hasattr(item, "commands") else {name: item}
    return found


def prints_json(command: Any) -> bool:
    return any("--json" in item.opts for item in command.params)


def test_every_command_that_prints_a_result_has_json_and_a_schema() -> None:
    without = {name for name, item in commands().items() if not prints_json(item)}
    assert without <= {"schema", "label"}, "these print results for people only"
    assert set(schemas()) == set(commands()) - without


@pytest.mark.parametrize("name", schemas())
def test_a_schema_is_valid_and_says_what_it_is_of(name: str) -> None:
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]["schema"] == {"const": f"lcgnn.{name}"}
    assert schema["properties"]["version"] == {"const": VERSION}
    assert {"schema", "version"} <= set(schema["required"])


# What is printed is held to its schema; reproduce, pack, report and demo are further down.
CASES = {
    "train": ["train", "articles", *SHORT, "--folds", "2"],
    "compare": ["compare", "articles", "--methods", "mlp,spreading", "--set", "epochs=5"],
    "inspect": ["inspect", "articles", "--plot", "plot.png"],
    "suggest": ["suggest", "articles", "--count", "3", "--labels", "none", "--out", "found.csv"],
    "doubt": ["doubt", "articles", "--method", "gcn", "--set", "base_epochs=5", "--folds", "2"],
    "datasets": ["datasets"],
    "methods": ["methods"],
    "init": ["init", "made", "--example", "wine"],
    "generate": ["generate", "big", "--nodes", "300", "--edges", "900", "--classes", "3"],
    "partition": ["partition", "articles", "--parts", "2"],
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_printed_is_one_object_as_its_schema_says(name: str, says: Says) -> None:
    content = json.loads(says("--quiet", *CASES[name], "--json"))
    jsonschema.validate(content, schema_of(name))


def test_an_object_that_lacks_a_field_is_not_as_the_schema_says(says: Says) -> None:
    content = json.loads(says(*CASES["train"], "--json"))
    for field in schema_of("train")["required"]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({key: value for key, value in content.items() if key != field}, schema_of("train"))


def test_predictions_of_a_saved_model_and_their_reasons_are_as_the_schema_says(says: Says) -> None:
    says("train", "articles", *SHORT, "--no-estimate", "--out", "run")
    content = json.loads(says("predict", "run", "articles", "--out", "answers.csv", "--json"))
    jsonschema.validate(content, schema_of("predict"))
    assert content["trained_on_it"]
    explained = json.loads(says("explain", "run", "article-071", "--no-retrain", "--json"))
    jsonschema.validate(explained, schema_of("explain"))
    assert explained["id"] == "article-071"


STUDY = """
title = "A small study"
seeds = 1
[[columns]]
dataset = "cora"
[[rows]]
name = "GCN"
method = "gcn"
settings = { base_epochs = 3 }
"""


def test_experiments_and_their_report_are_as_the_schemas_say(says: Says, cora: object) -> None:
    Path("study.toml").write_text(STUDY)
    where = ["--records", "records", "--results", "results"]
    planned = json.loads(says("reproduce", "study.toml", *where, "--plan", "--json"))
    jsonschema.validate(planned, schema_of("reproduce"))
    assert [(item["method"], item["missing"]) for item in planned["plan"]] == [("gcn", 1)]
    done = json.loads(says("reproduce", "study.toml", *where, "--workers", "1", "--json"))
    jsonschema.validate(done, schema_of("reproduce"))
    assert done["runs"] == 1
    assert all(Path(path).exists() for path in [*done["written"], done["page"]])
    packed = json.loads(says("results", "pack", "study.toml", *where, "--json"))
    jsonschema.validate(packed, schema_of("pack"))
    reported = json.loads(says("report", "study.toml", *where, "--out", "page.html", "--json"))
    jsonschema.validate(reported, schema_of("report"))
    assert Path(reported["page"]).exists()


def test_nothing_that_json_does_not_know_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_answer("train", {"mean": float("nan")})
    assert not capsys.readouterr().out


def test_the_schema_command_prints_what_is_kept(says: Says) -> None:
    assert json.loads(says("schema", "train")) == schema_of("train")
    assert says("schema").split() == list(schemas())


def test_an_unknown_schema_is_told_with_those_that_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lcgnn", "schema", "../../pyproject"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "there are: compare" in capsys.readouterr().err


def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["lcgnn", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0), capsys.readouterr().err


# Options from a file.

CONFIG = """
dataset = "articles"
method = "lc-gcn"
seeds = 2
estimate = false
ignore-column = ["year"]
[settings]
base_epochs = 5
epochs = 4
selection = "last"
"""


def test_options_from_a_file_are_as_if_they_were_given(says: Says) -> None:
    Path("run.toml").write_text(CONFIG)
    content = json.loads(says("train", "--config", "run.toml", "--json"))
    assert content["method"] == "lc-gcn"
    assert content["seeds"] == [0, 1]
    assert content["settings"]["base_epochs"] == 5
    assert "expected" not in content
    assert any("year" not in note for note in content["notes"])
    given = ["train", "articles", "--method", "lc-gcn", "--seeds", "2", "--no-estimate", "--ignore-column", "year"]
    same = json.loads(says(*given, "--base-epochs", "5", "--epochs", "4", "--selection", "last", "--json"))
    assert same["folder"] == content["folder"]


def test_what_is_given_counts_more_than_the_file(says: Says) -> None:
    Path("run.toml").write_text(CONFIG)
    content = json.loads(says("train", "--config", "run.toml", "--seeds", "1", "--method", "gcn", "--json"))
    assert content["seeds"] == [0]
    assert content["method"] == "gcn"


def test_a_run_folder_s_own_configuration_trains_the_same(says: Says) -> None:
    first = json.loads(says("train", "articles", *SHORT, "--no-estimate", "--json"))
    again = json.loads(says("train", "articles", "--config", first["folder"], "--no-estimate", "--json"))
    assert again["folder"] == first["folder"]
    shutil.rmtree(Path(first["folder"]) / "seed-0")
    file = str(Path(first["folder"]) / "config.json")
    anew = json.loads(says("train", "articles", "--config", file, "--no-estimate", "--json"))
    assert anew["folder"] == first["folder"]
    assert anew["classes"] == first["classes"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seeds = ", "cannot be read"),
        ("sedes = 3", "there is no option 'sedes'"),
        ("config = 'other.toml'", "there is no option 'config'"),
        ("seeds = [1, 2]", "give one value"),
        ("settings = 3", "write [settings]"),
        ("seeds = 'many'", "as an integer"),
        ("ignore-column = [[1]]", "give a list"),
    ],
)
def test_a_file_that_cannot_be_meant_is_told_in_one_line(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.toml"
    path.write_text(text)
    code, error = told(monkeypatch, capsys, "train", "cora", "--config", str(path))
    assert code == 2
    assert message in " ".join(error.split())
    assert "Traceback" not in error


@pytest.mark.parametrize("name", ["none.toml", "none.json", "empty"])
def test_a_file_that_is_not_there_is_told(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    code, error = told(monkeypatch, capsys, "train", "cora", "--config", str(tmp_path / name))
    assert code == 2
    assert error.count("\n") == 1
    assert str(tmp_path / name) in error


# Quiet, loud, colours, completion.


def run_process(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lcgnn", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_quiet_leaves_the_results_and_verbose_leaves_nothing_out(tmp_path: Path) -> None:
    write_example(tmp_path / "articles")
    inspected = ["inspect", "articles", "--plot", "plot.png"]
    quiet = run_process("-q", *inspected, folder=tmp_path)
    loud = run_process("-v", *inspected, folder=tmp_path)
    assert not quiet.stderr
    assert "30 labels of 3 classes" in loud.stderr
    assert quiet.stdout == loud.stdout
    assert "\x1b[" not in loud.stdout + loud.stderr


def test_quiet_and_verbose_together_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, error = told(monkeypatch, capsys, "-q", "-v", "datasets")
    assert code == 2
    assert "contradict" in error


@pytest.mark.parametrize(
    ("line", "offered"), [("lcgnn tr", "train"), ("lcgnn train --bud", "--budget"), ("lcgnn results ", "pack")]
)
def test_bash_completes_commands_and_options(line: str, offered: str, tmp_path: Path) -> None:
    words = line.split(" ")
    asked = {"_LCGNN_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    command = Path(sys.executable).with_name("lcgnn")
    done = subprocess.run(
        [str(command)], cwd=tmp_path, env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert offered in done.stdout.split(), done.stderr
