"""Data frames become the graph that the same tables in files become."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lcgnn import from_frames
from lcgnn.errors import DataError
from lcgnn.sources.examples import write_example
from lcgnn.sources.tables.source import Tables


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example") / "articles"
    write_example(folder)
    return folder


READERS = {
    "pandas": pd.read_csv,
    "polars": pl.read_csv,
    "pyarrow": lambda path: pa.Table.from_pandas(pd.read_csv(path)),
}


@pytest.mark.parametrize("library", READERS)
def test_frames_give_the_graph_of_the_same_files(library: str, folder: Path) -> None:
    read = READERS[library]
    made = from_frames(read(folder / "nodes.csv"), read(folder / "edges.csv"), name="articles")
    expected = Tables(str(folder)).load()
    assert made.graph.checksum == expected.graph.checksum
    assert made.form is not None
    assert made.form == expected.form
    assert made.split.checksum == expected.split.checksum


@pytest.mark.parametrize("library", [pd, pl])
def test_columns_can_be_named_and_left_out(library: Any) -> None:
    nodes = library.DataFrame({"who": [3, 1, 2], "team": ["a", None, "b"], "age": [1.0, 2.0, 4.0], "x": [1, 2, 3]})
    edges = library.DataFrame({"one": [1, 2], "two": [2, 3], "strength": [0.5, 2.0]})
    made = from_frames(
        nodes, edges, id="who", label="team", source="one", target="two", weight="strength", ignore=["x"]
    )
    assert made.graph.node_names.tolist() == ["3", "1", "2"]
    assert made.graph.labels.tolist() == [0, -1, 1]
    assert made.graph.adjacency.toarray().tolist() == [[0, 0, 2], [0, 0, 0.5], [2, 0.5, 0]]
    assert made.graph.num_features == 1


def test_what_pandas_has_for_missing_is_missing() -> None:
    nodes = pd.DataFrame(
        {
            "id": ["a", "b", "c", "d"],
            "label": pd.Series(["x", "y", pd.NA, " "], dtype="string"),
            "age": [1.0, np.nan, 3.0, 5.0],
            "kind": pd.Categorical(["p", "q", None, "p"]),
            "born": pd.to_datetime(["2001-01-01", None, "2003-05-05", "2002-02-02"]),
        }
    )
    made = from_frames(nodes, pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]}))
    assert made.graph.labels.tolist() == [0, 1, -1, -1]
    assert [(column.kind, column.marks_missing) for column in made.form.encoding.columns] == [
        ("number", True),
        ("category", True),
        ("date", True),
    ]


NODES = pd.DataFrame({"id": ["a", "b"], "label": ["x", "y"]})
EDGES = pd.DataFrame({"source": ["a"], "target": ["b"]})
BAD: dict[str, tuple[Any, Any, dict[str, Any], str]] = {
    "no frame": ([1, 2], EDGES, {}, "nodes: list is no data frame"),
    "a lazy frame": (pl.from_pandas(NODES).lazy(), EDGES, {}, "nodes: LazyFrame is no data frame"),
    "no rows": (NODES, EDGES[:0], {}, "edges: the frame has no rows"),
    "no label column": (NODES[["id"]].assign(age=1), EDGES, {}, "Say which it is with label=..., or rename it."),
    "a column that is not there": (NODES, EDGES, {"label": "lable"}, "(label=...). Did you mean 'label'?"),
    "an ignored column that is not there": (NODES, EDGES, {"ignore": ["z"]}, "(ignore=...)"),
    "two ids of one name": (NODES.assign(id="a"), EDGES, {}, "nodes, row 2, column 'id': node 'a' was there"),
    "an edge to nowhere": (NODES, EDGES.assign(target="z"), {}, "edges, row 1, column 'target': node 'z'"),
    "one class": (NODES.assign(label="x"), EDGES, {}, "all labels are 'x'"),
    "no label": (NODES.assign(label=None), EDGES, {}, "no node has a label"),
    "mixed cells": (NODES.assign(age=[1, "x"]), EDGES, {}, "cells of one type"),
    "a negative weight": (NODES, EDGES.assign(weight=-1.0), {}, "edges, row 1, column 'weight': the weight is -1"),
    "two labels": (
        NODES.assign(y=1),
        EDGES,
        {},
        "Say which with label=..., and leave the other out with ignore=...",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_frame_gets_one_line_in_the_words_of_python(kind: str) -> None:
    nodes, edges, named, message = BAD[kind]
    with pytest.raises(DataError) as caught:
        from_frames(nodes, edges, **named)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "--" not in str(caught.value)


def test_a_column_that_says_the_label_is_told_in_the_words_of_python() -> None:
    nodes = pd.DataFrame({"id": range(10), "label": ["x", "y"] * 5, "again": [1, 2] * 5})
    edges = pd.DataFrame({"source": range(9), "target": range(1, 10)})
    notes = from_frames(nodes, edges).notes
    assert any(note.endswith("leave it out: ignore=['again']") for note in notes)
