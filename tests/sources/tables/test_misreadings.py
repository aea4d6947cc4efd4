"""What a table might be misread as without a word: quotes, gaps, ids, dates and names that only look the same."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from pyarrow import parquet

import lcgnn
from lcgnn.errors import DataError
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.npz import load_npz
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.source import Tables

EDGES = "source,target\na,b\nb,c\nc,d\n"


def load(folder: Path, nodes: str, edges: str = EDGES, table: str = "nodes.csv", **columns: Any) -> Loaded:
    (folder / table).write_text(nodes, encoding="utf-8")
    (folder / "edges.csv").write_text(edges, encoding="utf-8")
    return Tables(str(folder), Columns(**columns)).load()


def dense(made: Loaded) -> NDArray[np.float32]:
    features = made.graph.features
    return features if isinstance(features, np.ndarray) else features.toarray()


def test_a_column_of_the_nodes_that_is_not_to_be_used_says_nothing_of_the_edges(tmp_path: Path) -> None:
    nodes = "id,label,weight,source\na,x,1,u\nb,y,2,v\nc,,3,u\nd,,4,v\n"
    edges = "source,target,weight\na,b,1\nb,c,2\nc,d,3\n"
    made = load(tmp_path, nodes, edges, ignore=("weight", "source"))
    assert sorted(set(made.graph.adjacency.data.tolist())) == [1, 2, 3]
    with pytest.raises(DataError, match=r"could both be the weight\. Say which with --weight-column\.$"):
        load(tmp_path, nodes, "source,target,weight,weights\na,b,1,1\n")


@pytest.mark.parametrize(("written", "there"), [("1.0", "1"), ("001", "1"), ("A1", "a1"), ("e\u0301", "\u00e9")])
def test_labels_of_nodes_that_the_edges_call_otherwise_are_refused(
    written: str, there: str, tmp_path: Path
) -> None:
    with pytest.raises(
        DataError, match=r"labels.csv, line 2, column 'id': no edge ends at node .*write ids the same"
    ):
        load(
            tmp_path,
            f"id,label\n{written},x\nb,y\n",
            f"source,target\n{there},b\nb,c\n",
            table="labels.csv",
        )


def test_an_id_in_another_form_of_unicode_is_found(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"There it is '\\xe9': write ids the same way"):
        load(tmp_path, "id,label\n\u00e9,x\nb,y\n", "source,target\ne\u0301,b\n")


def test_ids_that_are_decimals_keep_all_their_figures(tmp_path: Path) -> None:
    ids = [Decimal(12345678901234560000 + 100 * place) for place in range(6)]
    kind = pa.decimal128(38, 0)
    nodes = {"id": pa.array(ids, kind), "label": ["x", "y", "x", None, None, None]}
    parquet.write_table(pa.table(nodes), tmp_path / "nodes.parquet")
    edges = {"source": pa.array(ids[:-1], kind), "target": pa.array(ids[1:], kind)}
    parquet.write_table(pa.table(edges), tmp_path / "edges.parquet")
    made = Tables(str(tmp_path), Columns()).load()
    assert made.graph.num_edges == 5
    assert made.graph.node_names is not None
    assert made.graph.node_names[1] == "12345678901234560100"


def test_decimals_with_a_fraction_are_numbers(tmp_path: Path) -> None:
    amounts = pa.array([Decimal("1.50"), Decimal("2.25"), Decimal("4.00"), None], pa.decimal128(10, 2))
    nodes = pa.table({"id": list("abcd"), "label": ["x", "y", None, None], "amount": amounts})
    parquet.write_table(nodes, tmp_path / "nodes.parquet")
    (tmp_path / "edges.csv").write_text(EDGES)
    made = Tables(str(tmp_path), Columns()).load()
    assert made.encoding.columns[0].mean == pytest.approx(7.75 / 3)


def test_a_quote_after_a_space_is_not_taken_as_part_of_a_label(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nodes.csv, line 3, column 'label': a quote after a space"):
        load(tmp_path, 'id, label\na,x\nb, "y"\nc, ""\nd,x\n')


@pytest.mark.parametrize("gap", ["\\N", "<NA>", "Null", "NAN"])
def test_what_databases_and_pandas_write_for_nothing_is_no_class(gap: str, tmp_path: Path) -> None:
    made = load(tmp_path, f"id,label\na,x\nb,y\nc,{gap}\nd,{gap}\n")
    assert made.graph.class_names == ("x", "y")


@pytest.mark.parametrize("sign", ["na", "n.a.", "(null)", "#REF!"])
def test_what_may_be_a_gap_is_told(sign: str, tmp_path: Path) -> None:
    made = load(tmp_path, f"id,label\na,x\nb,y\nc,{sign}\nd,x\n")
    assert any(f"'{sign}' is taken as a class" in note for note in made.notes)


@pytest.mark.parametrize("names", ["TY", "FN", "TFN", "YNF"])
def test_letters_are_truth_values_only_of_one_kind(names: str, tmp_path: Path) -> None:
    nodes = "abcdefghijkl"
    rows = "".join(f"{node},{'xy'[place % 2]},{names[place % len(names)]}\n" for place, node in enumerate(nodes))
    made = load(tmp_path, "id,label,code\n" + rows)
    assert [column.kind for column in made.encoding.columns] == ["category"]
    assert len({tuple(row) for row in dense(made).tolist()}) == len(names)


@pytest.mark.parametrize(
    "times",
    [
        ["2024-05-01T10:00:00Z", "2024-05-02T10:00:00Z", "2024-05-04T10:00:00Z", ""],
        ["2024-05-01 10:00:00.123", "2024-05-02 10:00:00", "2024-05-04 10:00:00.5", ""],
        ["2024-05-01 12:00:00+02:00", "2024-05-02 10:00:00+00:00", "2024-05-04 09:00:00-01:00", ""],
        ["01.05.2024", "02.05.2024", "04.05.2024", ""],
        ["01.05.2024 10:00", "02.05.2024 10:00", "04.05.2024 10:00", ""],
    ],
)
def test_dates_and_times_are_read_as_people_and_programs_write_them(times: list[str], tmp_path: Path) -> None:
    rows = "".join(f"{node},{'xy'[place % 2]},{times[place]}\n" for place, node in enumerate("abcd"))
    made = load(tmp_path, "id,label,opened\n" + rows)
    assert [column.kind for column in made.encoding.columns] == ["date"]
    first, second, third = dense(made)[:3, 0]
    assert (third - second) / (second - first) == pytest.approx(2, abs=1e-3)


def test_a_date_that_may_be_of_two_months_is_told_how_to_be_written(tmp_path: Path) -> None:
    rows = "".join(f"{node},{'xy'[place % 2]},0{place + 1}/06/2024\n" for place, node in enumerate("abcd"))
    made = load(tmp_path, "id,label,opened\n" + rows)
    assert any("is not a date as dates are written here" in note and "2024-05-31" in note for note in made.notes)


@pytest.mark.parametrize(
    "cells",
    [
        ["1.2.3", "3.4.10", "1.10.2", "2.0.1"],
        ["31.05.24", "30.05.2024", "29.05.2024", "28.05.2024"],
        ["31.02.2024", "30.05.2024", "29.05.2024", "28.05.2024"],
    ],
)
def test_versions_short_years_and_days_that_do_not_exist_are_no_dates(cells: list[str], tmp_path: Path) -> None:
    rows = "".join(f"{node},{'xy'[place % 2]},{cells[place]}\n" for place, node in enumerate("abcd"))
    made = load(tmp_path, "id,label,opened\n" + rows)
    assert "date" not in [column.kind for column in made.encoding.columns]


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (
            ["2024-05-01", "2024-05-02", "unknown", "2024-05-04"],
            "nodes.csv, line 4, column 'opened': 'unknown' is not",
        ),
        (
            ["2024-05-01", "02.05.2024", "2024-05-03", "2024-05-04"],
            "column 'opened': dates are not all written in one",
        ),
    ],
)
def test_what_keeps_a_column_from_being_dates_is_named(cells: list[str], told: str, tmp_path: Path) -> None:
    rows = "".join(f"{node},{'xy'[place % 2]},{cells[place]}\n" for place, node in enumerate("abcd"))
    made = load(tmp_path, "id,label,opened\n" + rows)
    assert any(told in note and "2024-05-31" in note for note in made.notes), made.notes


@pytest.mark.parametrize("first", ["10.10.10.0", "2024-05-01 was a fine day"])
def test_addresses_and_text_that_begins_with_a_date_are_not_said_to_be_nearly_dates(
    first: str, tmp_path: Path
) -> None:
    cells = [first, "a walk by the sea", "none of it", "one more"]
    rows = "".join(f"{node},{'xy'[place % 2]},{cells[place]}\n" for place, node in enumerate("abcd"))
    made = load(tmp_path, "id,label,opened\n" + rows)
    assert not any("date" in note for note in made.notes if "opened" in note)


def test_quotes_around_a_part_of_a_cell_are_its_own(tmp_path: Path) -> None:
    made = load(tmp_path, 'id,label,title\na,x," ""Graphs"" and more"\nb,y,two\nc,,three\nd,,four\n')
    assert made.graph.num_nodes == 4


def test_ids_that_the_table_lists_both_are_two_nodes_however_alike(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source,target\nA,b\nb,c\n1,c\n")
    (tmp_path / "labels.csv").write_text("id,label\na,x\nA,y\n01,x\n1,y\n")
    made = Tables(str(tmp_path), Columns()).load()
    assert made.graph.num_nodes == 6


def test_cells_over_several_lines_are_told_with_the_first(tmp_path: Path) -> None:
    nodes = 'id,label,title\na,x,one\nb,y,"two\nc,,three\nd,,four"\nc,,five\nd,,six\n'
    made = load(tmp_path, nodes)
    assert made.graph.num_nodes == 4
    assert any(
        "1 cell goes over several lines (one that ends in line 5 is the first)" in note for note in made.notes
    )


def test_classes_that_look_the_same_are_told_apart(tmp_path: Path) -> None:
    made = load(tmp_path, "id,label\na,caf\u00e9\nb,cafe\u0301\nc,tea\nd,tea\n")
    assert any("'cafe\\u0301'" in note and "look the same" in note for note in made.notes)


def test_edges_that_could_be_weighed_are_told_how(tmp_path: Path) -> None:
    made = load(tmp_path, "id,label\na,x\nb,y\nc,\nd,\n", "source,target,amount\na,b,1.5\nb,c,2\nc,d,7\n")
    assert "edges.csv: not used: 'amount'. Edges are weighed with --weight-column amount." in made.notes


def test_frames_whose_columns_are_not_used_may_hold_anything_for_a_model_too(tmp_path: Path) -> None:
    nodes = pd.DataFrame({"id": range(24), "label": (["x", "y"] * 6) + [None] * 12, "junk": [1, "a"] * 12})
    nodes["size"] = np.arange(24) % 5
    edges = pd.DataFrame({"source": range(23), "target": range(1, 24)})
    columns = Columns(ignore=("junk",))
    training = lcgnn.train(
        (nodes, edges), "gcn", columns=columns, settings={"epochs": 3}, folds=0, out=tmp_path / "run"
    )
    assert training.predict().loaded.graph.num_nodes == 24


def npz(path: Path, labels: Any, **more: Any) -> Path:
    ring = np.stack([np.arange(12), (np.arange(12) + 1) % 12])
    np.savez(path, labels=labels, edge_index=ring, features=np.eye(12, dtype=np.float32), **more)
    return path


@pytest.mark.parametrize("more", [{}, {"class_names": np.array(["x", "y"])}])
def test_labels_as_floats_with_nan_are_whole_numbers_for_training_and_for_a_model(
    more: Any, tmp_path: Path
) -> None:
    whole = np.array([0, 1] * 3 + [-1] * 6)
    files = [
        npz(tmp_path / "float.npz", np.where(whole < 0, np.nan, whole), **more),
        npz(tmp_path / "whole.npz", whole, **more),
    ]
    graphs = [load_npz(path).graph for path in files]
    assert graphs[0].class_names == graphs[1].class_names
    assert graphs[0].labels.tolist() == graphs[1].labels.tolist() == whole.tolist()
    training = lcgnn.train(str(files[0]), "gcn", settings={"epochs": 3}, folds=0, out=tmp_path / "run")
    for path in files:
        found = lcgnn.predict(training.folder, str(path))
        assert found.loaded.graph.labels.tolist() == whole.tolist()


def test_names_in_bytes_that_are_no_ascii_are_told(tmp_path: Path) -> None:
    path = npz(tmp_path / "bytes.npz", np.array([0, 1] * 6), class_names=np.array([b"x", b"\xc3\xa9"]))
    with pytest.raises(DataError, match="class_names: bytes that are not ASCII"):
        load_npz(path)


def test_weights_of_which_a_few_decide_are_told(tmp_path: Path) -> None:
    edges = "source,target,weight\na,b,1\nb,c,2\nc,d,700\n"
    made = load(tmp_path, "id,label\na,x\nb,y\nc,\nd,\n", edges)
    assert any(
        "weights go from 1 to 700, half of them are below 2: a few edges decide" in note for note in made.notes
    )
    assert not any(
        "decide" in note for note in load(tmp_path, "id,label\na,x\nb,y\n", "source,target\na,b\n").notes
    )
