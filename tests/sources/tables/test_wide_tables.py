"""Tables of very many columns: read in time that grows with their cells, and spoken of in a few lines."""

import copy
from pathlib import Path

import numpy as np
import pytest

from lcgnn.features.notes import Note, in_full
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.tables.source import Tables


def write(folder: Path, values: np.ndarray, prefix: str = "gene") -> Tables:
    folder.mkdir(exist_ok=True)
    rows, columns = values.shape
    header = ",".join(["id", "label", *(f"{prefix}_{number}" for number in range(columns))])
    lines = [f"n{row},{'xy'[row % 2]}," + ",".join(map(str, values[row])) for row in range(rows)]
    (folder / "nodes.csv").write_text("\n".join([header, *lines]) + "\n")
    edges = [f"n{row},n{(row + 1) % rows}" for row in range(rows)]
    (folder / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    return Tables(str(folder))


def load(folder: Path, values: np.ndarray, prefix: str = "gene") -> Loaded:
    return write(folder, values, prefix).load()


def test_a_header_longer_than_any_buffer_is_read(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(4, 5000)).round(3)
    made = load(tmp_path, values, "a gene with quite a long name")
    assert (tmp_path / "nodes.csv").read_text().index("\n") > 1 << 17
    assert made.graph.num_features == 5000
    expected = (values - values.mean(axis=0)) / values.std(axis=0) * 2 / np.sqrt(5000)
    np.testing.assert_allclose(made.graph.features, expected, atol=1e-6)


def test_many_columns_with_one_thing_in_common_are_one_line_with_all_of_them_at_hand(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(12, 400)).round(3)
    values[:, :345] = 7
    notes = load(tmp_path, values).notes
    assert len(notes) < 8
    summed = next(note for note in notes if "345 columns have the same cell in every row" in note)
    assert "'gene_0', 'gene_1', 'gene_2', 'gene_3', 'gene_4', ..." in summed
    assert sum("every cell is '7.0'" in note for note in in_full(notes)) == 345
    # As workers get it, which it reaches in another process.
    assert isinstance(summed, Note)
    assert copy.deepcopy(summed).details == summed.details


@pytest.mark.parametrize("count", [1, 3, 4])
def test_a_few_columns_are_spoken_of_one_by_one(count: int, tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(12, 9)).round(3)
    values[:, :count] = 7
    notes = load(tmp_path, values).notes
    assert sum("every cell is '7.0'; left out" in note for note in notes) == (count if count <= 3 else 0)
    assert sum("4 columns have the same cell" in note for note in notes) == (count == 4)


def test_many_columns_that_say_the_label_are_one_warning(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(12, 40)).round(3)
    values[:, :30] = np.arange(12)[:, None] % 2
    warnings = [note for note in load(tmp_path, values).notes if note.startswith("Warning")]
    assert len(warnings) == 1
    assert "30 columns say the same as 'label'" in warnings[0]
