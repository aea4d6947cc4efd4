"""Tables as people write them: numbers with commas and signs, columns that are not to be used, odd classes."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from lcgnn import from_frames
from lcgnn.errors import DataError
from lcgnn.features.encoding import Encoding
from lcgnn.features.numbers import notation_of, plain_numbers, written_numbers
from lcgnn.sources.frames import table_of
from lcgnn.sources.links import links_of, links_of_edges
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.source import Tables

EDGES = "source,target\na,b\nb,c\nc,d\n"


def load(folder: Path, nodes: str | bytes, edges: str = EDGES, **columns: Any) -> Loaded:
    (folder / "nodes.csv").write_bytes(nodes if isinstance(nodes, bytes) else nodes.encode())
    (folder / "edges.csv").write_text(edges)
    return Tables(str(folder), Columns(**columns)).load()


WRITTEN = {
    "decimal commas": (["3,5", "1,25", "-0,5", "12"], [3.5, 1.25, -0.5, 12]),
    "decimal commas and points for thousands": (["1.234,5", "12", "1.000", "3,25"], [1234.5, 12, 1000, 3.25]),
    "thousands": (["1,000", "2,000.5", "7", "-3,000"], [1000, 2000.5, 7, -3000]),
    "apostrophes": (["1'000", "20'000", "7", "8.5"], [1000, 20000, 7, 8.5]),
    "spaces": (["1 000", "20 000", "7", "8.5"], [1000, 20000, 7, 8.5]),
    "percent": (["5%", "7.5 %", "-1%", "0%"], [5, 7.5, -1, 0]),
    "a currency": (["$5", "$1,000.50", "-$3", "7"], [5, 1000.5, -3, 7]),
    "a currency behind": (["5 €", "1.000,5 €", "3 €", "7"], [5, 1000.5, 3, 7]),
    "plus signs": (["+5", "-3", "+0.5", "+£7"], [5, -3, 0.5, 7]),
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_numbers_are_numbers_however_they_are_written_and_it_is_told(kind: str, tmp_path: Path) -> None:
    cells, expected = WRITTEN[kind]
    rows = "".join(f'{name},{label},"{cell}"\n' for name, label, cell in zip("abcd", "xyxy", cells, strict=True))
    made = load(tmp_path, "id,label,amount\n" + rows)
    assert [column.kind for column in made.encoding.columns] == ["number"]
    values = np.asarray(made.graph.features)[:, 0] * made.encoding.columns[0].scale + made.encoding.columns[0].mean
    np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-3)
    assert any("'amount': numbers are written as" in note for note in made.notes)
    again = Encoding.from_json(made.encoding.to_json())
    frame = pd.DataFrame({"amount": cells})
    np.testing.assert_array_equal(again.apply(table_of(frame, "X"))[0], made.graph.features)


@pytest.mark.parametrize("cells", [["5%", "7", "1", "2"], ["$5", "€5", "1", "2"], ["1,2,3", "4", "5", "6"]])
def test_what_may_mean_several_numbers_is_told_with_what_to_do(cells: list[str], tmp_path: Path) -> None:
    rows = "".join(f'{name},{label},"{cell}"\n' for name, label, cell in zip("abcd", "xyxy", cells, strict=True))
    made = load(tmp_path, "id,label,amount\n" + rows)
    assert not made.encoding.columns
    told = [note for note in made.notes if "'amount'" in note]
    assert len(told) == 1
    assert "is not a number, so the column is left out. If it should be one, write it as 12.5" in told[0]
    assert "looks like a name" not in told[0]


def test_weights_may_be_written_so_too(tmp_path: Path) -> None:
    made = load(tmp_path, "id,label\na,x\nb,y\n", 'source,target,weight\na,b,"0,5"\n')
    assert set(made.graph.adjacency.data.tolist()) == {0.5}
    assert any("weight" in note and "'0,5', which is read as 0.5" in note for note in made.notes)


@given(values=st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=5), places=st.integers(0, 3))
def test_a_number_that_python_writes_with_separators_is_read_back(values: list[int], places: int) -> None:
    numbers = [value / 10**places for value in values]
    english = [f"{number:,.{places}f}" for number in numbers]
    german = [text.translate(str.maketrans(",.", ".,")) for text in english]
    column = pa.chunked_array([english])
    notation = notation_of(column)
    assert notation is not None
    np.testing.assert_allclose(written_numbers(column, notation), numbers)
    column = pa.chunked_array([german])
    if any("," in text and len(text.rpartition(",")[2]) != 3 for text in german):
        np.testing.assert_allclose(written_numbers(column, notation_of(column)), numbers)


def test_plain_numbers_need_no_telling() -> None:
    for cells in (["1", "2.5", "-3e5", ".5"], ["NA", "1", None, "nan"], [None, None]):
        assert plain_numbers(pa.chunked_array([pa.array(cells, pa.string())])) is not None


IGNORED: dict[str, str | bytes] = {
    "twins": "id,label,odd,odd,age\na,x,1,1,1\nb,y,2,2,2\nc,,1,1,3\nd,,2,2,4\n",
    "infinity": "id,label,odd,age\na,x,inf,1\nb,y,2,2\nc,,1,3\nd,,2,4\n",
    "not UTF-8": b"id,label,odd,age\na,x,\xff,1\nb,y,\xfe,2\nc,,x,3\nd,,y,4\n",
    "the label again": "id,label,odd,age\na,x,x,1\nb,y,y,2\nc,,x,3\nd,,y,4\n",
    "a second label": "id,label,odd,age\na,x,x,1\nb,y,y,2\nc,,x,3\nd,,y,4\n".replace("odd", "class"),
    "a second id": "id,label,odd,age\na,x,x,1\nb,y,y,2\nc,,x,3\nd,,y,4\n".replace("odd", "node"),
    "one value": "id,label,odd,age\na,x,1,1\nb,y,1,2\nc,,1,3\nd,,1,4\n",
    "gaps": "id,label,odd,age\na,x,,1\nb,y,NA,2\nc,,1,3\nd,,,4\n",
}


@pytest.mark.parametrize("kind", IGNORED)
def test_nothing_is_said_of_a_column_that_is_not_to_be_used(kind: str, tmp_path: Path) -> None:
    name = {"a second label": "class", "a second id": "node"}.get(kind, "odd")
    made = load(tmp_path, IGNORED[kind], ignore=(name,))
    assert [column.name for column in made.encoding.columns] == ["age"]
    assert not [note for note in made.notes if f"'{name}'" in note]


def test_a_column_of_another_type_is_not_looked_at_if_it_is_not_to_be_used(tmp_path: Path) -> None:
    cells = {
        "id": list("abcd"),
        "label": ["x", "y", None, None],
        "age": [1, 2, 3, 4],
        "odd": [["1"], ["2"], ["3"], ["4"]],
    }
    parquet.write_table(pa.table(cells), tmp_path / "nodes.parquet")
    parquet.write_table(pa.table({"source": ["a"], "target": ["b"]}), tmp_path / "edges.parquet")
    with pytest.raises(DataError, match="one value a cell"):
        Tables(str(tmp_path)).load()
    made = Tables(str(tmp_path), Columns(ignore=("odd",))).load()
    mixed = pd.DataFrame({**cells, "odd": [1, "x", None, []]})
    edges = pd.DataFrame({"source": ["a"], "target": ["b"]})
    of_frames = from_frames(mixed, edges, ignore=["odd"], name=made.graph.name)
    assert of_frames.graph.checksum == made.graph.checksum
    with pytest.raises(DataError, match=r"no column 'od' \(ignore=...\). Did you mean"):
        from_frames(mixed.drop(columns="odd").assign(odt=1), edges, ignore=["od"])


@pytest.mark.parametrize("header", ["id_1,id_2", "ID_1,ID_2", "id1,id2", "node_1,node_2"])
def test_numbered_ids_are_the_ends_of_edges(header: str, tmp_path: Path) -> None:
    nodes = "id,label,age\na,x,1\nb,y,2\nc,,3\nd,,4\n"
    assert load(tmp_path, nodes, EDGES.replace("source,target", header)).graph.num_edges == 3


def test_classes_that_may_be_no_classes_or_the_same_one_are_told(tmp_path: Path) -> None:
    labels = ["1", "1.0", "01", "?", "unknown", "-", "-7", "A", "a"]
    nodes = "id,label\n" + "".join(f"n{place},{label}\n" for place, label in enumerate(labels))
    notes = " ".join(load(tmp_path, nodes, "source,target\nn0,n1\n").notes)
    assert "'-', '?', 'unknown' are taken as classes. If they mean that the label is unknown, leave" in notes
    assert "'-7' is taken as a class" in notes
    assert "'01', '1', '1.0' are kept apart, though they are one number" in notes
    assert "differ only in upper and lower case" in notes


@pytest.mark.parametrize("bom", ["utf-32", "utf-32-be"])
def test_text_of_four_bytes_a_character_is_refused_by_its_name(bom: str, tmp_path: Path) -> None:
    content = "\ufeff" * (bom != "utf-32") + "id,label\na,x\nb,y\n"
    with pytest.raises(DataError, match=r"nodes\.csv is UTF-32 text.*Save the file as UTF-8"):
        load(tmp_path, content.encode(bom))


@pytest.mark.parametrize("column", ["id", "label", "word"])
def test_text_in_parquet_that_is_no_text_is_refused(column: str, tmp_path: Path) -> None:
    offsets = pa.array([0, 1, 4, 5, 8], pa.int32()).buffers()[1]
    broken = pa.Array.from_buffers(pa.string(), 4, [None, offsets, pa.py_buffer(b"aa\xffabb\xfeb")])
    cells = {"id": pa.array(list("abcd")), "label": pa.array(list("xyxy")), "word": pa.array(list("pqpq"))}
    parquet.write_table(pa.table({**cells, column: broken}), tmp_path / "nodes.parquet")
    parquet.write_table(pa.table({"source": ["a"], "target": ["b"]}), tmp_path / "edges.parquet")
    with pytest.raises(DataError, match=rf"nodes\.parquet, column '{column}': .*UTF-?8"):
        Tables(str(tmp_path)).load()


def test_a_list_with_every_edge_once_is_not_called_asymmetric() -> None:
    once = np.array([[0, 2, 2, 1, 1], [1, 1, 3, 1, 3]])
    assert links_of(once, 4).notes == ()
    assert links_of_edges(once, np.array([1.0, 2, 3, 4, 5]), 4).notes == ()
    assert links_of(np.concatenate([once, once[::-1]], axis=1), 4).notes == ()
    some = np.concatenate([once, once[::-1, :1]], axis=1)
    assert "3 edges are there in one direction only" in links_of(some, 4).notes[0]
    one = np.array([[0, 1, 2], [1, 0, 3]])
    assert links_of(one, 4).notes[0].startswith("adjacency: not symmetric: 1 edge is there in one direction only")
    assert " It counts in both directions" in links_of(one, 4).notes[0]
    both = np.concatenate([once, once[::-1]], axis=1)
    weights = np.arange(1.0, 11)
    assert "with another weight" in links_of_edges(both, weights, 4).notes[0]
