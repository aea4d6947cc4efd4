"""What would take more memory than there is gets one line with both figures, before the memory is taken."""

import resource
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy.sparse import csr_array

from lcgnn.errors import ConfigError, DataError
from lcgnn.limits import VARIABLE, available, check_memory
from lcgnn.sources.npz import load_npz
from lcgnn.sources.tables.source import Tables


def test_the_bound_is_what_the_machine_has_or_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert 10**7 < available() < 10**14
    check_memory("It", 1)
    monkeypatch.setenv(VARIABLE, "2")
    check_memory("It", 2 * 10**9)
    with pytest.raises(DataError, match=rf"It needs 3\.5 GB of memory, and 2\.0 GB may be used.*{VARIABLE}=4"):
        check_memory("It", 3_500_000_000)
    for wrong in ("much", "-1", "0", "nan"):
        monkeypatch.setenv(VARIABLE, wrong)
        with pytest.raises(ConfigError, match=VARIABLE):
            available()


def repeated_text(folder: Path) -> None:
    """A megabyte of text in every cell, stored once: 50 GB as text."""
    cells = pa.DictionaryArray.from_arrays(pa.array(np.zeros(50_000, dtype=np.int32)), pa.array(["x" * 10**6]))
    write(folder, pa.table({"id": np.arange(50_000).astype(str), "label": cells}))


def many_rows(folder: Path) -> None:
    """The same number in every row of many columns."""
    column = pa.array(np.zeros(10**6, dtype=np.int8))
    table = pa.table({"id": column, "label": column, **{f"x{number}": column for number in range(150)}})
    write(folder, table)


def write(folder: Path, nodes: pa.Table) -> None:
    parquet.write_table(nodes, folder / "nodes.parquet", compression="zstd")
    parquet.write_table(pa.table({"source": ["0"], "target": ["1"]}), folder / "edges.parquet")


@pytest.mark.parametrize("bomb", [repeated_text, many_rows])
def test_a_small_parquet_file_that_unpacks_to_gigabytes_is_refused(
    bomb: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb(tmp_path)
    assert (tmp_path / "nodes.parquet").stat().st_size < 10**6
    monkeypatch.setenv(VARIABLE, "0.5")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError, match=r"nodes\.parquet.* needs .* may be used.*LCGNN_MEMORY_GB="):
        Tables(str(tmp_path)).load()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000


def test_sparse_features_of_a_billion_columns_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "100")
    ring = np.roll(np.eye(4), 1, axis=1)
    wide = csr_array((np.ones(4), (range(4), [0, 1, 2, 999_999_999])), shape=(4, 10**9))
    parts: dict[str, Any] = {
        f"features_{part}": np.array(getattr(wide, part)) for part in ("data", "indices", "indptr", "shape")
    }
    np.savez(tmp_path / "wide.npz", labels=np.array([0, 1, -1, 0]), adjacency=ring, **parts)
    tracemalloc.start()
    with pytest.raises(DataError, match=r"1,000,000,000 features needs 256\.0 GB of memory, and 100\.0 GB"):
        load_npz(tmp_path / "wide.npz")
    assert tracemalloc.get_traced_memory()[1] < 10**8
    tracemalloc.stop()


def test_an_archive_that_unpacks_to_more_than_there_is_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "0.01")
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labels.npy", b"\0" * 20_000_000)
    with pytest.raises(DataError, match=r"bomb\.npz: unpacked, it needs 20\.0 MB of memory, and 10\.0 MB"):
        load_npz(tmp_path / "bomb.npz")
