"""Without the libraries of an extra everything else works, and what needs one says so in one line."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lcgnn
from lcgnn.errors import ExtraError
from lcgnn.extras import EXTRAS, need

# Python refuses to import a module that is None here, in worker processes of its own as well.
BLOCKED = "import sys; sys.modules.update(dict.fromkeys({modules!r}))"
LCGNN = "from lcgnn.cli import main; main()"


@pytest.fixture
def without(tmp_path):
    """Run Python code, or the command line, where some modules cannot be imported."""

    def run(modules: list[str], *arguments: str, code: str = LCGNN) -> subprocess.CompletedProcess[str]:
        (tmp_path / "site").mkdir(exist_ok=True)
        (tmp_path / "site" / "sitecustomize.py").write_text(BLOCKED.format(modules=modules))
        paths = [str(tmp_path / "site"), str(Path(lcgnn.__file__).parents[1])]
        return subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    return run


def assert_one_line(done: subprocess.CompletedProcess[str], sentence: str) -> None:
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1] == f"lcgnn: {sentence}"
    assert "Traceback" not in done.stderr


def test_without_any_extra_a_graph_is_made_trained_on_and_predicted(without, tmp_path):
    blocked = sorted(EXTRAS)
    assert without(blocked, "init", "my_graph").returncode == 0
    short = ["--no-estimate", "--base-epochs", "5", "--epochs", "5", "--out", "run"]
    trained = without(blocked, "train", "my_graph", *short)
    assert trained.returncode == 0, trained.stderr
    predicted = without(blocked, "predict", "run", "my_graph", "--out", "predictions.csv")
    assert predicted.returncode == 0, predicted.stderr
    assert (tmp_path / "predictions.csv").exists()


def test_without_any_extra_every_module_is_imported_and_every_method_listed(without):
    code = """
import pkgutil, importlib, lcgnn
for module in pkgutil.walk_packages(lcgnn.__path__, "lcgnn."):
    if module.name != "lcgnn.__main__":
        importlib.import_module(module.name)
from lcgnn.methods import entries
print(*(entry.name for entry in entries()))
"""
    done = without(sorted(EXTRAS), code=code)
    assert done.returncode == 0, done.stderr
    assert "deepwalk" in done.stdout.split()


def test_deepwalk_without_gensim_says_what_to_install(without):
    done = without(["gensim"], "train", "cora", "--method", "deepwalk", "--out", "run")
    assert_one_line(
        done, "The method deepwalk needs gensim, which is not installed: pip install 'lcgnn[deepwalk]'"
    )


def test_partition_without_pymetis_says_what_to_install(without):
    done = without(["pymetis"], "partition", "cora")
    assert_one_line(
        done, "Cutting a graph into parts needs pymetis, which is not installed: pip install 'lcgnn[partition]'"
    )


SMALL_STUDY = """
title = "Small"
seeds = 1
[[rows]]
name = "LP"
method = "lp"
[[columns]]
name = "Cora"
dataset = "cora"
"""


def test_without_the_report_reproduce_still_writes_its_table_and_report_says_what_to_install(without, tmp_path):
    (tmp_path / "small.toml").write_text(SMALL_STUDY)
    done = without(["plotly"], "reproduce", "small.toml")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results" / "small.md").exists()
    sentence = "The page with plots needs {}, which is not installed: pip install 'lcgnn[report]'"
    assert done.stdout.rstrip().endswith(sentence.format("plotly"))
    for library in ("plotly", "jinja2"):
        assert_one_line(without([library], "report", "small.toml"), sentence.format(library))
    assert not (tmp_path / "results" / "report.html").exists()


def test_a_cluster_without_dask_says_what_to_install(without, tmp_path):
    (tmp_path / "small.toml").write_text(SMALL_STUDY)
    done = without(["distributed"], "reproduce", "small.toml", "--cluster", "tcp://127.0.0.1:1")
    assert_one_line(done, "A cluster needs distributed, which is not installed: pip install 'lcgnn[cluster]'")


def test_to_pyg_without_torch_geometric_says_what_to_install(without):
    code = """
from lcgnn import load
from lcgnn.errors import ExtraError
from lcgnn.sources.pyg import to_pyg
try:
    to_pyg(*load("cora"))
except ExtraError as error:
    print(error)
"""
    done = without(["torch_geometric"], code=code)
    sentence = (
        "A graph of PyTorch Geometric needs torch_geometric, which is not installed: pip install 'lcgnn[pyg]'"
    )
    assert done.stdout == f"{sentence}\n", done.stderr


def test_a_library_that_lacks_one_of_its_own_names_what_is_missing(tmp_path, monkeypatch):
    (tmp_path / "pymetis.py").write_text("import a_library_that_nobody_has\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pymetis", raising=False)
    with pytest.raises(ExtraError, match="This needs a_library_that_nobody_has, which is not installed"):
        need("pymetis", "This")


def test_a_library_that_is_broken_is_told_with_the_reason(tmp_path, monkeypatch):
    (tmp_path / "pymetis.py").write_text("from json import nothing_of_that_name\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pymetis", raising=False)
    expected = r"This needs pymetis, which cannot be imported \(.*nothing_of_that_name.*\). Install it again: "
    with pytest.raises(ExtraError, match=expected + re.escape("pip install 'lcgnn[partition]'")):
        need("pymetis", "This")
