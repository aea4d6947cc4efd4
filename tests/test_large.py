"""The commands for large graphs, as a user gives them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

LCGNN = [sys.executable, "-m", "lcgnn"]
GENERATE = ["generate", "big", "--nodes", "1500", "--edges", "6000", "--features", "8", "--classes", "3"]
TRAIN = ["train", "big", "--method", "lc-gcn", "--base-epochs", "30", "--epochs", "10", "--json"]


def lcgnn(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*LCGNN, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    done = lcgnn(folder, *GENERATE, "--labels-per-class", "10", "--feature-signal", "3")
    assert done.returncode == 0
    assert "1,500 nodes" in done.stdout
    assert "lcgnn train big" in done.stdout
    return folder


def test_a_generated_graph_is_trained_on_as_a_whole_and_in_parts_alike(folder):
    whole = json.loads(lcgnn(folder, *TRAIN, "--out", "whole").stdout)
    parts = json.loads(lcgnn(folder, *TRAIN, "--out", "parts", "--parts", "3").stdout)
    assert whole["test_accuracy"] == parts["test_accuracy"]
    assert whole["mean"] > 0.8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (GENERATE, "big is there already"),
        ([*GENERATE, "--format", "hdf5"], "as arrays or csv, not 'hdf5'"),
        (
            ["train", "big", "--parts", "3", "--method", "lp"],
            "lp cannot be trained on a graph whose parts are in memory in turn",
        ),
    ],
)
def test_a_wrong_command_ends_with_one_line(folder, arguments, message):
    done = lcgnn(folder, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
