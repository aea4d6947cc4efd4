"""The command line as a user meets it: real processes, real data, few epochs."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lcgnn.cli import main
from lcgnn.sources.benchmarks import names

LCGNN = [sys.executable, "-m", "lcgnn"]
SHORT = ["--base-epochs", "20", "--epochs", "20"]


def lcgnn(
    *arguments: str, folder: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*LCGNN, *arguments],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture(scope="module", autouse=True)
def data(cora: object) -> None:
    """The commands below find Cora in the cache."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, data: None) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("trained")
    done = lcgnn("train", "cora", "--seeds", "3", "--json", "--out", "run", *SHORT, folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / "run", json.loads(done.stdout)


def test_help_names_every_command_and_gives_an_example(tmp_path: Path) -> None:
    shown = lcgnn("--help", folder=tmp_path).stdout
    assert all(command in shown for command in ("train", "datasets", "methods", "demo"))
    assert "lcgnn train cora --method lc-gcn --seeds 10" in shown


@pytest.mark.parametrize("command", ["train", "datasets", "methods", "demo"])
def test_the_help_of_every_command_ends_with_an_example(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lcgnn", command, "--help"])
    with pytest.raises(SystemExit):
        main()
    assert f"Example: lcgnn {command}" in capsys.readouterr().out


def test_the_version_is_the_installed_one(tmp_path: Path) -> None:
    from lcgnn import __version__

    assert lcgnn("--version", folder=tmp_path).stdout == f"lcgnn {__version__}\n"


def test_help_does_not_wait_for_heavy_imports() -> None:
    heavy = ("torch", "numba", "scipy", "pyarrow", "matplotlib")
    code = f"import sys, lcgnn.cli; print([module for module in {heavy} if module in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_json_holds_what_a_script_needs(trained: tuple[Path, dict[str, Any]]) -> None:
    _, summary = trained
    assert summary["dataset"] == "cora"
    assert summary["method"] == "lc-gcn"
    assert summary["seeds"] == [0, 1, 2]
    assert summary["settings"]["consistency_weight"] == 2.0
    assert len(summary["test_accuracy"]) == len(summary["validation_accuracy"]) == len(summary["seconds"]) == 3
    assert summary["mean"] == pytest.approx(sum(summary["test_accuracy"]) / 3)
    assert [stage["method"] for stage in summary["stages"]] == ["gcn", "lc-gcn"]
    assert summary["difference"]["count"] == 3


def test_a_run_folder_holds_configuration_curves_model_and_predictions(
    trained: tuple[Path, dict[str, Any]],
) -> None:
    folder, summary = trained
    kept = json.loads((folder / "summary.json").read_text())
    assert {"schema": "lcgnn.train", "version": 1, **kept} == summary
    assert json.loads((folder / "config.json").read_text())["settings"]["epochs"] == 20
    for seed in range(3):
        names = {path.name for path in (folder / f"seed-{seed}").iterdir()}
        assert names == {"result.json", "metrics.csv", "model.safetensors", "predictions.csv"}
    metrics = (folder / "seed-0" / "metrics.csv").read_text().splitlines()
    assert metrics[0] == "phase,epoch,training_loss,validation_loss,validation_accuracy"
    assert sum(line.startswith("label consistency,") for line in metrics) == 20


def test_a_finished_run_is_not_repeated(trained: tuple[Path, dict[str, Any]]) -> None:
    folder, summary = trained
    before = (folder / "seed-1" / "model.safetensors").stat().st_mtime_ns
    again = lcgnn("train", "cora", "--seeds", "3", "--json", "--out", "run", *SHORT, folder=folder.parent)
    assert json.loads(again.stdout) == summary
    assert (folder / "seed-1" / "model.safetensors").stat().st_mtime_ns == before


def test_more_workers_give_the_same_numbers_as_one(trained: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    _, summary = trained
    alone = lcgnn("train", "cora", "--seeds", "3", "--json", "--workers", "1", *SHORT, folder=tmp_path)
    assert json.loads(alone.stdout)["test_accuracy"] == summary["test_accuracy"]


def test_the_table_shows_base_and_result_beside_the_paper(tmp_path: Path) -> None:
    shown = lcgnn("train", "cora", "--seeds", "2", *SHORT, folder=tmp_path).stdout
    assert "82.9 ± 0.4" in shown
    assert "lc-gcn minus gcn" in shown
    assert "runs/cora-lc-gcn-" in shown


def test_parquet_predictions_can_be_read_back(tmp_path: Path) -> None:
    from pyarrow import parquet

    done = lcgnn("train", "cora", "--out", "run", "--predictions", "parquet", *SHORT, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    table = parquet.read_table(tmp_path / "run" / "seed-0" / "predictions.parquet")
    assert table.num_rows == 2708
    assert table.column_names[:4] == ["id", "label", "probability", "origin"]


def test_few_labels_and_random_splits_are_options(tmp_path: Path) -> None:
    done = lcgnn(
        "train", "cora", "--json", "--split", "random", "--split-seed", "3", "--labels-per-class", "5", *SHORT,
        folder=tmp_path,
    )  # fmt: skip
    summary = json.loads(done.stdout)
    assert summary["split"]["name"] == "random, 5 per class, seed 3"
    assert summary["stages"][0]["paper"] is None


def test_a_handful_of_labels_of_any_class_is_an_option(tmp_path: Path) -> None:
    done = lcgnn("train", "cora", "--json", "--split", "handful", "--labels", "35", *SHORT, folder=tmp_path)
    summary = json.loads(done.stdout)
    assert summary["split"]["name"] == "handful, 35 labels, seed 0"
    assert summary["settings"]["selection"] == "last"
    refused = lcgnn("train", "cora", "--labels", "35", folder=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "say --split random or --split handful" in refused.stderr


def test_datasets_prints_table_1(tmp_path: Path, citeseer: object, pubmed: object) -> None:
    rows = json.loads(lcgnn("datasets", "--json", folder=tmp_path).stdout)["datasets"]
    measured = {
        row["name"]: (row["nodes"], row["raw_links"], row["edges"], row["classes"], row["features"])
        for row in rows
        if row["name"] in ("cora", "citeseer", "pubmed")
    }
    assert measured == {
        "cora": (2708, 5429, 5278, 7, 1433),
        "citeseer": (3327, 4732, 4552, 6, 3703),
        "pubmed": (19717, 44338, 44324, 3, 500),
    }
    rates = [round(row["label_rate"], 3) for row in rows if row["name"] in measured]
    assert rates == [0.052, 0.036, 0.003]
    assert [row["name"] for row in rows] == list(names())


def test_methods_lists_names_and_settings(tmp_path: Path) -> None:
    assert "lc-gat" in lcgnn("methods", folder=tmp_path).stdout
    assert "consistency_weight" in lcgnn("methods", "lc-gcn", folder=tmp_path).stdout


BAD = {
    "unknown dataset": (["train", "coras"], "Did you mean 'cora'?"),
    "unknown method": (["train", "cora", "--method", "lc-gnc"], "Did you mean 'lc-gcn'?"),
    "unknown method's settings": (["methods", "gnc"], "Did you mean 'gcn'?"),
    "unknown setting": (["train", "cora", "--set", "hiden=3"], "Did you mean 'hidden'?"),
    "setting without value": (["train", "cora", "--set", "hidden"], "NAME=VALUE"),
    "setting of another method": (["train", "cora", "--set", "heads=3"], "no setting 'heads'"),
    "more labels than there are": (["train", "cora", "--labels-per-class", "21"], "21"),
    "no label": (["train", "cora", "--labels-per-class", "0"], "labels"),
    "impossible random split": (["train", "cora", "--split", "random", "--labels-per-class", "181"], "181"),
    "unknown split": (["train", "cora", "--split", "privat"], "'public', 'random' or 'handful'"),
    "no time": (["train", "cora", "--budget", "0"], "90s, 2m or 1h"),
    "one method to compare": (["compare", "cora", "--methods", "mlp"], "two methods or more"),
    "no seeds": (["train", "cora", "--seeds", "0"], "one seed"),
    "no workers": (["train", "cora", "--workers", "0"], "one worker"),
    "no threads": (["train", "cora", "--threads", "0"], "one thread"),
    "no threads to compare on": (["compare", "cora", "--threads", "-1"], "one thread"),
    "no threads to doubt on": (["doubt", "cora", "--threads", "0"], "one thread"),
    "no threads to reproduce on": (["reproduce", "table3", "--threads", "0"], "one thread"),
    "no epochs": (["train", "cora", "--epochs", "0"], "one epoch"),
    "unknown selection": (["train", "cora", "--selection", "best"], "accuracy, loss"),
    "unknown device": (["train", "cora", "--device", "tpu9"], "'cpu' or 'auto'"),
    "unknown prediction format": (["train", "cora", "--predictions", "xls"], "csv or parquet"),
    "file in the folder's place": (["train", "cora", "--out", "occupied"], "Choose another"),
    "folder below a file": (["train", "cora", "--out", "occupied/run"], "Choose another"),
    "folder of something else": (["train", "cora", "--out", "full"], "not a run folder"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_gets_one_line_and_leaves_nothing_behind(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, message = BAD[kind]
    (tmp_path / "occupied").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["lcgnn", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert ended.value.code == 2
    assert shown.err.count("\n") == 1, shown.err
    assert message in shown.err
    assert shown.out == ""
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert left == ["full", "full/mine", "occupied"]


def test_an_error_reaches_the_shell_as_one_line_and_exit_code_2(tmp_path: Path) -> None:
    done = lcgnn("train", "coras", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr == f"lcgnn: There is no dataset 'coras'. Did you mean 'cora'? Known: {', '.join(names())}.\n"
    )


def test_the_folder_of_another_configuration_is_refused(trained: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = trained
    done = lcgnn("train", "citeseer", "--out", "run", *SHORT, folder=folder.parent)
    assert done.returncode == 2
    assert "another configuration" in done.stderr


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    done = lcgnn("--debug", "train", "coras", folder=tmp_path)
    assert "Traceback" in done.stderr


def test_a_damaged_result_is_made_anew(trained: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    assert lcgnn("train", "cora", "--json", "--out", "run", *SHORT, folder=tmp_path).returncode == 0
    result = tmp_path / "run" / "seed-0" / "result.json"
    good = json.loads(result.read_text())
    result.write_text(result.read_text()[:50])
    assert lcgnn("train", "cora", "--json", "--out", "run", *SHORT, folder=tmp_path).returncode == 0
    repaired = json.loads(result.read_text())
    assert repaired["stages"] == good["stages"]


def ended_or_written_since(process: subprocess.Popen[bytes], path: Path, before: int) -> bool:
    return process.poll() is not None or (path.exists() and path.stat().st_mtime_ns != before)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_interrupting_leaves_a_resumable_run_and_says_how(
    workers: str, tmp_path: Path, wait_until: Callable[..., Any]
) -> None:
    arguments = ["train", "cora", "--seeds", "2", "--workers", workers, "--epochs", "100000", "--out", "run"]
    process = subprocess.Popen(
        [*LCGNN, *arguments],
        cwd=tmp_path,
        env={**os.environ, "LCGNN_CHECKPOINT_SECONDS": "0"},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_until((tmp_path / "run" / "seed-0" / "checkpoint.safetensors").exists)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == (f"Stopped with 0 of 2 runs done. To continue: lcgnn {' '.join(arguments)}")
    assert "Traceback" not in errors


def test_a_killed_run_continues_and_gives_the_result_that_it_would_have_given(
    tmp_path: Path, wait_until: Callable[..., Any]
) -> None:
    arguments = ["train", "cora", "--json", "--base-epochs", "50", "--epochs", "1500"]
    environment = {"LCGNN_CHECKPOINT_SECONDS": "0.2"}
    undisturbed = json.loads(lcgnn(*arguments, "--out", "whole", folder=tmp_path).stdout)
    for _ in range(3):
        checkpoint = tmp_path / "killed" / "seed-0" / "checkpoint.safetensors"
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        process = subprocess.Popen(
            [*LCGNN, *arguments, "--out", "killed"],
            cwd=tmp_path,
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
        )
        wait_until(partial(ended_or_written_since, process, checkpoint, before))
        process.kill()
        process.wait()
    resumed = json.loads(lcgnn(*arguments, "--out", "killed", folder=tmp_path).stdout)
    assert resumed["stages"] == undisturbed["stages"]
    for name in ("predictions.csv", "metrics.csv", "model.safetensors"):
        whole, continued = (tmp_path / run / "seed-0" / name for run in ("whole", "killed"))
        assert whole.read_bytes() == continued.read_bytes()
    assert not (tmp_path / "killed" / "seed-0" / "checkpoint.safetensors").exists()


def test_offline_without_a_cache_the_message_says_what_to_do(tmp_path: Path) -> None:
    blocked = {
        "LCGNN_DATA": str(tmp_path / "cache"),
        "XDG_CACHE_HOME": str(tmp_path / "home"),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": "",
        "PIP_INDEX_URL": "",
        "PIP_EXTRA_INDEX_URL": "",
        "https_proxy": "http://127.0.0.1:9",
        "http_proxy": "http://127.0.0.1:9",
    }
    done = lcgnn("train", "cora", folder=tmp_path, environment=blocked)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "LCGNN_PLANETOID" in done.stderr
