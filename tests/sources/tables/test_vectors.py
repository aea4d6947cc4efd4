"""A column of vectors is as many columns of numbers, from Parquet and from frames."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lcgnn import LCGNNClassifier, from_frames
from lcgnn.errors import DataError
from lcgnn.features.encoding import Encoding
from lcgnn.sources.frames import table_of
from lcgnn.sources.tables.source import Tables

ROWS = 30
VECTORS = np.random.default_rng(0).normal(size=(ROWS, 5)).astype(np.float32)
LABELS = ["a" if row % 2 else "b" for row in range(ROWS)]
EDGES = pa.table({"source": [str(row) for row in range(ROWS - 1)], "target": [str(row) for row in range(1, ROWS)]})
LISTS = [row.tolist() for row in VECTORS]


def nodes(vectors: Any) -> pa.Table:
    return pa.table({"id": [str(row) for row in range(ROWS)], "label": LABELS, "embedding": vectors})


def in_folder(folder: Path, table: pa.Table) -> Tables:
    pq.write_table(table, folder / "nodes.parquet")
    pq.write_table(EDGES, folder / "edges.parquet")
    return Tables(str(folder))


FORMS = {
    "lists": pa.array(LISTS, pa.list_(pa.float32())),
    "large lists": pa.array(LISTS, pa.large_list(pa.float64())),
    "lists of one size": pa.array(LISTS, pa.list_(pa.float32(), 5)),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_column_of_vectors_is_as_many_numbers(form: str, tmp_path: Path) -> None:
    made = in_folder(tmp_path, nodes(FORMS[form])).load()
    expected = (VECTORS - VECTORS.mean(axis=0)) / VECTORS.std(axis=0) * 2 / np.sqrt(5)
    np.testing.assert_allclose(made.graph.features, expected, atol=1e-5)
    assert [column.name for column in made.encoding.columns] == [f"embedding[{place}]" for place in range(5)]
    assert any("5 numbers (embedding[0], " in note for note in made.notes)


def test_frames_of_pandas_and_polars_and_the_classifier_take_vectors_too() -> None:
    of_pandas = pd.DataFrame({"id": range(ROWS), "label": LABELS, "embedding": list(VECTORS)})
    of_polars = pl.DataFrame({"id": range(ROWS), "label": LABELS, "embedding": VECTORS})
    edges = EDGES.to_pandas().astype(int)
    features = [from_frames(frame, edges).graph.features for frame in (of_pandas, of_polars)]
    np.testing.assert_array_equal(features[0], features[1])
    y = np.where(np.arange(ROWS) < 10, np.arange(ROWS) % 2, -1)
    classifier = LCGNNClassifier(base_epochs=2, epochs=2).fit(of_pandas[["embedding"]], y)
    assert classifier.predict(of_pandas[["embedding"]][:3]).shape == (3,)


def test_a_vector_that_is_missing_is_filled_and_marked() -> None:
    cells = [None, *LISTS[1:]]
    table = table_of(nodes(pa.array(cells, pa.list_(pa.float32()))), "nodes")
    encoding, _ = Encoding.fit(table, [name for name in table.names if name.startswith("embedding")])
    features = np.asarray(encoding.apply(table)[0])
    assert features[0] == pytest.approx([0, np.sqrt(4 / 5)] * 5)
    assert not features[1:, 1::2].any()


def test_new_rows_are_read_as_those_that_were_trained_on() -> None:
    encoding, _ = Encoding.fit(
        table_of(nodes(FORMS["lists"]), "nodes"), [f"embedding[{place}]" for place in range(5)]
    )
    again = Encoding.from_json(encoding.to_json())
    both = again.apply(table_of(nodes(FORMS["lists of one size"]), "nodes"))[0]
    np.testing.assert_array_equal(both, encoding.apply(table_of(nodes(FORMS["lists"]), "nodes"))[0])


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([[1.0, 2.0], *([[1.0]] * (ROWS - 1))], "column 'embedding': lists of 1 to 2 numbers"),
        ([[]] * ROWS, "lists of 0 to 0 numbers"),
        ([["a"]] * ROWS, "cells of type 'list<"),
        ([[[1.0]]] * ROWS, "cells of type 'list<"),
    ],
)  # fmt: skip
def test_lists_that_are_no_vectors_are_refused_in_one_line_and_may_be_left_out(
    cells: list[Any], message: str, tmp_path: Path
) -> None:
    given = pa.array(cells, pa.list_(pa.float64())) if cells == [[]] * ROWS else pa.array(cells)
    source = in_folder(tmp_path, nodes(given))
    with pytest.raises(DataError, match=message) as refused:
        source.load()
    assert "\n" not in str(refused.value)
    assert from_frames(nodes(given), EDGES, ignore=["embedding"]).made_of_edges


def test_more_numbers_than_fit_are_refused_before_any_room_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LCGNN_MEMORY_GB", "0.000001")
    with pytest.raises(DataError, match="column 'embedding': 5 numbers a row needs"):
        table_of(nodes(FORMS["lists"]), "nodes")
