"""A sparse matrix from outside is the matrix that its arrays describe, or refused before scipy touches it."""

import ast
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array

import lcgnn
from lcgnn import LCGNNClassifier, from_arrays
from lcgnn.csr import checked_csr, is_symmetric
from lcgnn.errors import DataError
from lcgnn.graph import Graph
from lcgnn.sources.links import links_of

# Differences of these wrap in 32 bits, and the last is negative: scipy's own check lets them pass.
WRAPPING = np.array([0, 2**30, 2**30 + 1, 2**31 - 1, -5], dtype=np.int32)
ENTRIES, COLUMNS = np.ones(6), np.zeros(6, dtype=np.int32)


def test_offsets_that_wrap_are_refused() -> None:
    with pytest.raises(DataError, match="rows start at 0 and end at -5, with 6 entries"):
        checked_csr(ENTRIES, COLUMNS, WRAPPING, (4, 4), "it")


def test_a_crafted_file_gets_one_line_and_no_crash(tmp_path: Path) -> None:
    parts: dict[str, Any] = {"data": ENTRIES, "indices": COLUMNS, "indptr": WRAPPING, "shape": np.array([4, 4])}
    crafted = {f"adjacency_{part}": array for part, array in parts.items()}
    np.savez(tmp_path / "crafted.npz", labels=np.array([0, 1, -1, 0]), **crafted)
    command = [sys.executable, "-m", "lcgnn", "inspect", "crafted.npz"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert "the sparse adjacency is no CSR matrix" in done.stderr


def is_matrix(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> bool:
    """The definition, in Python's whole numbers."""
    starts = [int(start) for start in indptr]
    return (
        len(data) == len(indices)
        and len(starts) == shape[0] + 1
        and starts[0] == 0
        and starts[-1] == len(indices)
        and all(start <= end for start, end in pairwise(starts))
        and all(0 <= int(column) < shape[1] for column in indices)
    )


SMALL = st.sampled_from([0, 0, 1, 1, 2, 3, 4, -1, -5, 2**30, 2**31 - 1, -(2**31)])


@given(
    starts=st.lists(SMALL, min_size=1, max_size=5),
    columns=st.lists(SMALL, max_size=4),
    shape=st.tuples(st.integers(0, 4), st.integers(0, 4)),
    kind=st.sampled_from(["<i4", "<i8", ">i4"]),
)
def test_what_is_accepted_is_exactly_what_the_definition_says(
    starts: list[int], columns: list[int], shape: tuple[int, int], kind: str
) -> None:
    data, indices, indptr = np.ones(len(columns)), np.array(columns, dtype=kind), np.array(starts, dtype=kind)
    if not is_matrix(data, indices, indptr, shape):
        with pytest.raises(DataError, match="no CSR matrix"):
            checked_csr(data, indices, indptr, shape, "it")
        return
    made = checked_csr(data, indices, indptr, shape, "it")
    expected = np.zeros(shape)
    for row in range(shape[0]):
        for entry in range(starts[row], starts[row + 1]):
            expected[row, columns[entry]] += 1
    np.testing.assert_array_equal(made.toarray(), expected)


@pytest.mark.parametrize("shape", [(4,), (4, 4, 4), (4.0, 4.0), (-4, 4), (2**40, 4), "44", None])
def test_a_shape_that_is_none_is_refused(shape: Any) -> None:
    with pytest.raises(DataError, match="no CSR matrix"):
        checked_csr(np.ones(0), COLUMNS[:0], np.zeros(5, dtype=np.int32), shape, "it")


@pytest.mark.parametrize("data", [np.array(["a"] * 6), np.ones(6, dtype=complex), np.ones((6, 1)), np.ones(5)])
def test_entries_that_are_no_numbers_or_not_as_many_are_refused(data: Any) -> None:
    with pytest.raises(DataError, match="entries of"):
        checked_csr(data, COLUMNS, np.array([0, 6, 6, 6, 6]), (4, 4), "it")


def crafted(form: str) -> Any:
    """A matrix that scipy has built and somebody has altered since."""
    if form == "coo":
        matrix = coo_array((np.ones(2), ([0, 1], [1, 0])), shape=(4, 4))
        matrix.coords = (np.array([0, 9], dtype=np.int32), matrix.coords[1])
        return matrix
    kinds = {"csr": csr_array, "csc": csc_array, "bsr": bsr_array}
    matrix = kinds[form](np.eye(4))
    matrix.indptr = WRAPPING
    return matrix


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo"])
@pytest.mark.parametrize("way", ["links", "features", "graph", "rows"])
def test_an_altered_scipy_matrix_is_refused_wherever_it_comes_in(form: str, way: str) -> None:
    matrix, labels = crafted(form), np.array([0, 1, -1, 0])
    ways = {
        "links": lambda: links_of(matrix, 4),
        "features": lambda: from_arrays(matrix, labels, np.eye(4)),
        "graph": lambda: Graph("it", matrix, labels, ("a", "b")),
        "rows": lambda: LCGNNClassifier().fit(matrix, labels, adjacency=np.eye(4)),
    }
    with pytest.raises(DataError, match="no CSR matrix"):
        ways[way]()


def test_nothing_else_in_the_package_builds_a_matrix_from_three_arrays() -> None:
    root = Path(lcgnn.__file__).parent
    found = []
    for room in ("sources", "features", "estimator", "graph.py"):
        for path in [root / room] if room.endswith(".py") else sorted((root / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Call) or ast.unparse(node.func) not in ("csr_array", "csr_matrix"):
                    continue
                if node.args and isinstance(node.args[0], ast.Tuple) and len(node.args[0].elts) == 3:
                    found.append(f"{path.relative_to(root)}, line {node.lineno}")
    assert not found, f"{found}: build it with lcgnn.csr.checked_csr"


@given(
    st.integers(1, 12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.sampled_from([0.5, 1.0, 2.0])), max_size=40),
    st.integers(1, 30),
    st.booleans(),
)
def test_symmetry_is_told_by_some_rows_at_a_time_as_by_the_transpose(
    size: int, entries: list[tuple[int, int, float]], at_once: int, both_ways: bool
) -> None:
    dense = np.zeros((size, size), dtype=np.float32)
    for row, column, value in entries:
        dense[row % size, column % size] = value
        if both_ways:
            dense[column % size, row % size] = value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lcgnn.csr._TRANSPOSED", at_once)
        assert is_symmetric(csr_array(dense)) == bool((dense == dense.T).all())
