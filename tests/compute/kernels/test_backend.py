"""The compiled kernels where they do not work: one line says so, and the plain ones take over."""

import functools
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from llvmlite import ir

import lcgnn
from lcgnn.compute.kernels import backend, fused, use
from lcgnn.compute.kernels.activation import activate
from lcgnn.compute.kernels.compiled import probe
from lcgnn.compute.kernels.compiled.jit import compiled
from lcgnn.compute.kernels.walks import random_walks
from lcgnn.sources.generated.blocks import Blocks
from lcgnn.sources.generated.writing import write_arrays

PACKAGE = Path(lcgnn.__file__).parent
NOTICE = "lcgnn: the plain kernels, which are slower, take over from the compiled ones:"
NOBODY = 65534


@pytest.fixture
def untried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a process that has not used any kernel."""
    monkeypatch.setenv("LCGNN_KERNELS", "fused")
    backend._work.cache_clear()
    with use("fused"):
        yield
    backend._work.cache_clear()


def run(*arguments: object, launcher: tuple[str, ...] = (), **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "LCGNN_KERNELS")}
    command = [*launcher, sys.executable, "-m", "lcgnn", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**environment, **variables}, cwd="/")


def raising(error: Exception):
    def fail(*_arguments, **_options):
        raise error

    return fail


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (raising(ImportError("No module named 'numba'")), "ImportError: No module named 'numba'"),
        (raising(RuntimeError("Failed in nopython mode pipeline\n(step: lowering)\n")), "RuntimeError: Failed in"),
        (raising(OSError()), "OSError: "),
        (lambda: 0.25, "what they compute is off by 0.2"),
        (lambda: np.inf, "what they compute is off by inf"),
    ],
)
def test_whatever_is_wrong_is_told_once_in_one_line_and_the_plain_kernels_take_over(
    found, reason, monkeypatch, caplog
):
    monkeypatch.setattr(probe, "deviation", found)
    values = torch.linspace(-1, 1, 6).view(2, 3)
    torch.testing.assert_close(activate(values, torch.zeros(3), "elu"), torch.nn.functional.elu(values))
    assert not fused(values)
    (line,) = (record.getMessage() for record in caplog.records)
    assert line.startswith(f"{NOTICE} {reason}")
    assert "\n" not in line
    assert os.environ["LCGNN_KERNELS"] == "plain"  # for the processes that this one starts


@pytest.mark.usefixtures("untried")
def test_a_change_of_llvmlite_is_noticed_before_any_kernel_is_used(monkeypatch):
    """What loads and stores the processor's vectors is not what it was."""
    monkeypatch.setattr(ir.IRBuilder, "gep", raising(TypeError("gep() got an unexpected keyword argument")))
    kernel: Any = probe.probe
    again = compiled(kernel.py_func)
    monkeypatch.setattr(again._cache, "load_overload", lambda *_: None)
    monkeypatch.setattr(probe, "probe", again)
    assert not fused()


@pytest.mark.usefixtures("untried")
def test_where_all_is_well_nothing_is_said(caplog):
    assert fused()
    assert not caplog.records


def test_a_kernel_that_gives_no_number_counts_as_wrong(monkeypatch):
    monkeypatch.setattr(probe, "probe", lambda *_: None)
    assert probe.deviation() == np.inf


def test_pointers_without_a_type_can_be_loaded_from_and_stored_to():
    """As llvmlite's will be; numba's have one still."""
    from llvmlite import binding

    from lcgnn.compute.kernels.compiled import lanes

    four, position = ir.VectorType(ir.FloatType(), 4), ir.IntType(64)
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [ir.PointerType(), position]), "copy")
    builder = ir.IRBuilder(function.append_basic_block())
    array, first = function.args
    read, written = (lanes._place(builder, array, first, start, four) for start in (0, 4))
    builder.store(builder.load(read, align=4, typ=four), written, align=4)
    builder.ret_void()
    text = str(binding.parse_assembly(str(module)))
    assert "bitcast" not in text
    assert "load <4 x float>, ptr" in text


@pytest.mark.parametrize("key", [0, 7, 2**32 - 1])
def test_plain_walks_are_the_compiled_ones(key, cora):
    graph, _ = cora
    starts = np.arange(graph.num_nodes)
    with use("plain"):
        plain = random_walks(graph.adjacency, starts, 12, key)
    with use("fused"):
        np.testing.assert_array_equal(plain, random_walks(graph.adjacency, starts, 12, key))


# Whole processes from here on, on a small graph.


@pytest.fixture(scope="module")
def graph_folder() -> Iterator[Path]:
    """In a folder that every user may write to."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    write_arrays(Blocks(300, 1500, 16, 3), folder / "graph")
    yield folder
    shutil.rmtree(folder)


def training(folder: Path, method: str, *options: object) -> tuple[object, ...]:
    few = ("--set", "epochs=3", "--set", "base_epochs=3", "--json")
    return ("train", folder / "graph", "-m", method, *few, *options)


def test_a_process_without_numba_and_its_workers_say_so_once_and_train(graph_folder, tmp_path):
    (tmp_path / "numba.py").write_text("raise ImportError('made to fail')\n")
    path = os.pathsep.join([str(tmp_path), str(PACKAGE.parent)])
    command = training(graph_folder, "lc-gcn", "--seeds", 2, "--workers", 2, "--out", graph_folder / "two")
    done = run(*command, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    notices = [line for line in done.stderr.splitlines() if line.startswith("lcgnn:")]
    assert notices == [f"{NOTICE} ImportError: made to fail"]
    assert "Traceback" not in done.stderr


@functools.cache
def as_nobody() -> tuple[str, ...]:
    """What starts a process as a user that owns nothing and may write nothing; it may read this interpreter."""
    if os.name != "posix" or os.getuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("Only root can become another user.")
    other = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    reading = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    for launcher in (other, (*other, *reading)):
        if subprocess.run([*launcher, sys.executable, "-c", ""], capture_output=True).returncode == 0:
            return launcher
    pytest.skip("Another user cannot run this interpreter.")


@pytest.fixture(scope="module")
def read_only_package(graph_folder: Path) -> Path:
    shutil.copytree(PACKAGE, graph_folder / "site" / "lcgnn", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (graph_folder / "site").rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    (graph_folder / "site").chmod(0o555)
    return graph_folder / "site"


@pytest.mark.parametrize("kernels", ["fused", "plain"])
@pytest.mark.parametrize("method", ["lc-gcn", "lc-gat"])
def test_another_user_without_home_can_train_with_a_package_that_nobody_can_write_to(
    method, kernels, graph_folder, read_only_package
):
    temporary = graph_folder / f"temporary-{method}-{kernels}"
    temporary.mkdir()
    temporary.chmod(0o777)
    # Somebody else's, so that machine code can be kept nowhere.
    (temporary / f"lcgnn-{NOBODY}").mkdir(mode=0o755)
    done = run(
        *training(graph_folder, method, "--out", graph_folder / f"{method}-{kernels}"),
        launcher=as_nobody(),
        PYTHONPATH=str(read_only_package),
        TMPDIR=str(temporary),
        LCGNN_KERNELS=kernels,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    notices = [line for line in done.stderr.splitlines() if line.startswith("lcgnn:")]
    assert [("NUMBA_CACHE_DIR" in line, "plain" in line) for line in notices] == [(True, False)] * (
        kernels == "fused"
    )
    predictions = graph_folder / f"{method}-{kernels}" / "seed-0" / "predictions.csv"
    assert predictions.stat().st_uid == NOBODY
    assert stat.S_IMODE(predictions.stat().st_mode) & 0o200
