"""Tables that cannot be used: one line that says where, what and what to do, and nothing left behind."""

import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from lcgnn.cli import main
from lcgnn.errors import DataError
from lcgnn.features.encoding import ColumnEncoding, Encoding
from lcgnn.sources.source import Known
from lcgnn.sources.tables.columns import Roles
from lcgnn.sources.tables.form import TableForm
from lcgnn.sources.tables.source import Tables

NODES = "id,label,age\na,x,1\nb,y,2\nc,,3\nd,,4\n"
EDGES = "source,target\na,b\nb,c\nc,d\n"
Files = dict[str, "str | bytes | pa.Table"]


def write(folder: Path, files: Files) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in {"nodes.csv": NODES, "edges.csv": EDGES, **files}.items():
        if content is None:
            continue
        if isinstance(content, pa.Table):
            parquet.write_table(content, folder / name)
        else:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def labelled(labels: list[str]) -> str:
    return "id,label\n" + "".join(f"n{number},{label}\n" for number, label in enumerate(labels))


# What is in the folder, in place of the good tables; options; what the message says.
BAD: dict[str, tuple[Files, list[str], list[str]]] = {
    "no label at all": ({"nodes.csv": "id,label\na,\nb,\nc,\nd,\n"}, [], ["'label'", "no node has a label"]),
    "only gaps as labels": ({"nodes.csv": "id,label\na,NA\nb,nan\nc,\nd,\n"}, [], ["no node has a label"]),
    "one class only": ({"nodes.csv": "id,label\na,x\nb,x\nc,\nd,\n"}, [], ["all labels are 'x'", "two classes"]),
    "no label column": ({"nodes.csv": "id,age\na,1\nb,2\n"}, [], ["no column is called 'label'", "'age'"]),
    "no id column": ({"nodes.csv": "who,label\na,x\nb,y\n"}, [], ["no column is called 'id'", "--id-column"]),
    "no source column": ({"edges.csv": "one,target\na,b\n"}, [], ["edges.csv", "'source'", "--source-column"]),
    "no target column": ({"edges.csv": "source,other\na,b\n"}, [], ["edges.csv", "'target'", "--target-column"]),
    "edges without a header": ({"edges.csv": "a,b\nb,c\n"}, [], ["no column is called 'source'", "first line"]),
    "two label columns": ({"nodes.csv": "id,label,class\na,x,x\nb,y,y\n"}, [], ["could both be the label"]),
    "two split columns": (
        {"nodes.csv": "id,label,split,Split\na,x,train,train\nb,y,train,train\n"},
        [],
        ["could both be the split", "--ignore-column"],
    ),
    "two id columns": ({"nodes.csv": "id,node,label\na,1,x\nb,2,y\n"}, [], ["could both be the id"]),
    "unknown named label": ({}, ["--label-column", "lable"], ["no column 'lable'", "Did you mean 'label'?"]),
    "unknown named id": ({}, ["--id-column", "key"], ["no column 'key'", "--id-column"]),
    "unknown named source": ({}, ["--source-column", "x"], ["edges.csv", "no column 'x'"]),
    "unknown named target": ({}, ["--target-column", "x"], ["edges.csv", "no column 'x'"]),
    "unknown named weight": ({}, ["--weight-column", "x"], ["edges.csv", "no column 'x'"]),
    "unknown ignored column": ({}, ["--ignore-column", "x"], ["nodes.csv", "no column 'x'", "--ignore-column"]),
    "id is label": ({}, ["--id-column", "label"], ["cannot be id and label"]),
    "source is target": ({}, ["--target-column", "source"], ["cannot be source and target"]),
    "duplicate ids": ({"nodes.csv": "id,label\na,x\nb,y\na,\n"}, [], ["line 4", "was there before, in line 2"]),
    "missing id": ({"nodes.csv": "id,label\na,x\n,y\n"}, [], ["line 3", "the id is missing"]),
    "very long id": ({"nodes.csv": f"id,label\n{'a' * 300},x\nb,y\n"}, [], ["300 characters", "--id-column"]),
    "edge to an unknown node": ({"edges.csv": "source,target\na,b\nb,z\n"}, [], ["line 3", "'z' is not in"]),
    "many unknown nodes": ({"edges.csv": "source,target\na,y\nb,z\n"}, [], ["nor is the end of another edge"]),
    "edge without an end": ({"edges.csv": "source,target\na,b\nb,\n"}, [], ["line 3", "'target'", "empty"]),
    "numbers and text as ids": (
        {"nodes.csv": "id,label\n1,x\n2,y\n", "edges.csv": "source,target\n1.0,2.0\n"},
        [],
        ["line 2", "'1.0' is not in", "There it is '1'", "same way"],
    ),
    "ids with leading zeros": (
        {"nodes.csv": "id,label\n001,x\n002,y\n", "edges.csv": "source,target\n1,2\n"},
        [],
        ["'1' is not in", "There it is '001'"],
    ),
    "ids in another case": ({"edges.csv": "source,target\nA,B\n"}, [], ["'A' is not in", "There it is 'a'"]),
    "empty nodes": ({"nodes.csv": ""}, [], ["nodes.csv is empty", "header"]),
    "nodes of blank lines": ({"nodes.csv": "\n\n  \n"}, [], ["nodes.csv is empty"]),
    "nodes with a header only": ({"nodes.csv": "id,label\n"}, [], ["a header but no rows"]),
    "empty edges": ({"edges.csv": ""}, [], ["edges.csv is empty"]),
    "edges with a header only": ({"edges.csv": "source,target\n"}, [], ["edges.csv", "no rows"]),
    "only self-loops": ({"edges.csv": "source,target\na,a\n"}, [], ["from a node to itself"]),
    "cells separated by spaces": ({"nodes.csv": "id label\na x\nb y\n"}, [], ["only column is 'id label'"]),
    "too few cells": ({"nodes.csv": "id,label,age\na,x,1\nb,y\n"}, [], ["line 3", "2 cells", "header has 3"]),
    "too many cells": ({"nodes.csv": "id,label\na,x\nb,y,z\n"}, [], ["line 3", "3 cells", "header has 2"]),
    "another encoding": ({"nodes.csv": "id,label\na,Käse\nb,y\n".encode("latin-1")}, [], ["line 2", "UTF-8"]),
    "broken UTF-16": ({"nodes.csv": b"\xff\xfei\x00d\x00,\x00l\x00\n"}, [], ["nodes.csv"]),
    "a spreadsheet called csv": ({"nodes.csv": b"PK\x03\x04\x14\x00\x06\x00"}, [], ["not a text file"]),
    "a text called parquet": ({"nodes.csv": None, "nodes.parquet": b"id,label\n"}, [], ["not a readable Parquet"]),
    "a cut Parquet file": ({"nodes.csv": None, "nodes.parquet": b"PAR1" + b"\0" * 40}, [], ["Parquet"]),
    "lists in Parquet": (
        {"nodes.csv": None, "nodes.parquet": pa.table({"id": [*"abcd"], "label": [*"xyxy"], "e": [["1"]] * 4})},
        [],
        ["column 'e'", "one value a cell"],
    ),
    "infinity": ({"nodes.csv": NODES.replace("a,x,1", "a,x,inf")}, [], ["line 2", "'age'", "infinity"]),
    "minus infinity": ({"nodes.csv": NODES.replace("c,,3", "c,,-inf")}, [], ["line 4", "'age'", "infinity"]),
    "a huge value": ({"nodes.csv": NODES.replace("d,,4", "d,,1e300")}, [], ["line 5", "1e+300", "beyond 1e+30"]),
    "negative weight": ({"edges.csv": "source,target,weight\na,b,1\nb,c,-2\n"}, [], ["line 3", "-2", "positive"]),
    "zero weight": ({"edges.csv": "source,target,weight\na,b,0\n"}, [], ["line 2", "weight is 0", "positive"]),
    "two bad weights": ({"edges.csv": "source,target,weight\na,b,0\nb,c,-1\n"}, [], ["(another is not, either)"]),
    "missing weight": ({"edges.csv": "source,target,weight\na,b,\n"}, [], ["line 2", "weight is missing"]),
    "weight in words": ({"edges.csv": "source,target,weight\na,b,strong\n"}, [], ["'weight'", "not a number"]),
    "infinite weight": ({"edges.csv": "source,target,weight\na,b,inf\n"}, [], ["line 2", "inf", "finite"]),
    "weight too large": ({"edges.csv": "source,target,weight\na,b,1e60\n"}, [], ["1e+60", "finite"]),
    "weight too small": ({"edges.csv": "source,target,weight\na,b,1e-60\n"}, [], ["1e-60", "positive"]),
    "10,000 classes": (
        {"nodes.csv": labelled([f"c{number}" for number in range(10_000)])},
        [],
        ["10,000 different labels", "--label-column"],
    ),
    "a label for every node": ({"nodes.csv": labelled([f"{n}.5" for n in range(30)])}, [], ["30 different"]),
    "an unknown part": ({"nodes.csv": "id,label,split\na,x,train\nb,y,tset\n"}, [], ["line 3", "'tset'", "train"]),
    "no label to train on": ({"nodes.csv": "id,label,split\na,x,test\nb,y,test\n"}, [], ["train part"]),
    "twin columns": ({"nodes.csv": "id,label,age,age\na,x,1,1\nb,y,2,2\n"}, [], ["two columns are called 'age'"]),
    "no column has a name": ({"nodes.csv": ",,\na,x,1\n"}, [], ["no column has a name"]),
    "a quote that is not closed": ({"nodes.csv": 'id,label\na,"x\nb,y\n'}, [], ["nodes.csv"]),
    "no edges": ({"edges.csv": None}, [], ["no edges.csv", "source and target"]),
    "no nodes": ({"nodes.csv": None}, [], ["no nodes.csv", "labels.csv"]),
    "nodes twice": ({"nodes.tsv": "id\tlabel\n"}, [], ["both nodes.csv and nodes.tsv"]),
    "edges twice": ({"edges.tsv": "a\tb\n"}, [], ["both edges.csv and edges.tsv"]),
    "nodes and labels": ({"labels.csv": "id,label\n"}, [], ["both nodes.csv and labels.csv"]),
    "selection without validation": ({}, ["--selection", "accuracy"], ["needs validation labels", "last"]),
    "more labels than there are": ({}, ["--labels-per-class", "2"], ["'x'", "at most 1"]),
    "a random split of few labels": ({}, ["--split", "random"], ["20"]),
    "unknown method": ({}, ["--method", "lc-gnc"], ["Did you mean 'lc-gcn'?"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_bad_tables_get_one_line_and_leave_nothing_behind(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files, options, messages = BAD[kind]
    write(tmp_path / "graph", files)
    before = sorted(tmp_path.rglob("*"))
    shown = failing(["train", "graph", *options], tmp_path, monkeypatch, capsys)
    for message in messages:
        assert message in shown
    assert sorted(tmp_path.rglob("*")) == before


def failing(
    arguments: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """The one line that a command ends with."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["lcgnn", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert ended.value.code == 2
    assert shown.out == ""
    assert shown.err.count("\n") == 1, shown.err
    return shown.err


OTHER = {
    "a folder that is not there": (["train", "none/"], "does not exist"),
    "neither a benchmark nor a folder": (["train", "my_graph"], "neither a benchmark"),
    "a file as a folder": (["train", "file"], "is not a folder"),
    "inspecting what is not there": (["inspect", "none/"], "lcgnn init"),
    "columns of a benchmark": (["train", "cora", "--label-column", "topic"], "folder of tables"),
    "init over a file": (["init", "file"], "Choose another"),
    "init over a full folder": (["init", "graph"], "Choose another"),
    "init below a file": (["init", "file/new"], "Choose another"),
    "results below a file": (["train", "graph", "--out", "file/run"], "Choose another"),
    "results into the tables": (["train", "graph", "--out", "graph"], "not a run folder"),
    "a plot below a file": (["inspect", "graph", "--plot", "file/plot.png"], "Choose another"),
}


@pytest.mark.parametrize("kind", OTHER)
def test_a_wrong_argument_gets_one_line_and_leaves_nothing_behind(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, message = OTHER[kind]
    write(tmp_path / "graph", {"nodes.csv": NODES, "edges.csv": EDGES})
    (tmp_path / "file").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    for module in ("display", "watching"):
        monkeypatch.setattr(f"lcgnn.cli.{module}.print_notes", print_nothing)
    assert message in failing(arguments, tmp_path, monkeypatch, capsys)
    assert sorted(tmp_path.rglob("*")) == before


def print_nothing(notes: tuple[str, ...]) -> None:
    """What there is to say of good tables is not part of the error."""


CELLS = st.one_of(
    st.sampled_from(
        ["", "a", "b", "c", "1", "1.0", "-1", "inf", "nan", "NA", "1e999", "true", "no", "2020-01-01"]
    ),
    st.sampled_from(['"', "'", "=1+1", "train", "x y z", "\ufeff", "\u0000", "é", "a,b", "a\nb", " ", "1e-320"]),
    st.text(max_size=5),
)
NAMES = st.sampled_from(["id", "label", "source", "target", "weight", "split", "f", "g", "", "ID", "class"])


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Something like a CSV file, more or less well formed."""
    width = draw(st.integers(1, 4))
    names = draw(st.lists(NAMES, min_size=width, max_size=width))
    rows = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=6))
    delimiter = draw(st.sampled_from([",", ",", ",", ";", "\t"]))
    return "\n".join(delimiter.join(row) for row in [names, *rows])


FORM = TableForm(
    Roles("id", "label", "split", "source", "target", None),
    Encoding((ColumnEncoding("f", "number"), ColumnEncoding("g", "category", categories=("a", "b")))),
)


def load_and_check(tables: Tables) -> None:
    made = tables.load()
    made.split.check(made.graph)


def load_for_a_model(tables: Tables) -> None:
    known = tables.load_known(Known(FORM, ("a", "b")))
    assert known.graph.num_features == 3
    assert (known.graph.labels[known.split.train] >= 0).all()


def attempt(folder: Path, nodes: bytes, edges: bytes, ending: str = ".csv") -> None:
    """Load tables, to train on and for a model; nothing but a DataError of one line may come out."""
    for name, content in (("nodes", nodes), ("edges", edges)):
        (folder / f"{name}{ending}").write_bytes(content)
    for load in (load_and_check, load_for_a_model):
        message = ""
        try:
            load(Tables(str(folder)))
        except DataError as error:
            message = str(error)
        assert "\n" not in message


def utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@settings(max_examples=150)
@given(nodes=tables(), edges=tables())
def test_generated_tables_load_or_are_refused(
    nodes: str, edges: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    attempt(tmp_path_factory.mktemp("graph"), utf8(nodes), utf8(edges))


@settings(max_examples=150)
@given(nodes=tables())
def test_generated_nodes_with_good_edges_load_or_are_refused(
    nodes: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first = utf8("id,label,f\na,x,1\nb,y,2\n") + utf8(nodes)
    attempt(tmp_path_factory.mktemp("graph"), first, b"source,target\na,b\n")


def quoted(cell: str) -> str:
    """A cell as it stands in a CSV file; Python 3.10's own writer refuses a zero byte."""
    return '"{}"'.format(cell.replace('"', '""')) if set(cell) & set('",\r\n') else cell


@settings(max_examples=150)
@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=2, max_size=8), split=st.booleans())
def test_any_cells_in_well_formed_tables_load_or_are_refused(
    rows: list[tuple[str, str, str]], split: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first = [
        ["id", "label", "feature", "split" if split else "other"],
        ["a", "x", "1", "train"],
        ["b", "y", "2", "test"],
    ]
    table = [*first, *([f"n{number}", *cells] for number, cells in enumerate(rows))]
    text = "".join(",".join(map(quoted, cells)) + "\r\n" for cells in table)
    weight = rows[0][0] if not set(rows[0][0]) & set('",\n\r') else ""
    edges = f"source,target,weight\na,b,1\nb,n0,{weight or 1}\n"
    attempt(tmp_path_factory.mktemp("graph"), utf8(text), utf8(edges))


@settings(max_examples=100)
@given(noise=st.binary(max_size=200), position=st.integers(0, 60), ending=st.sampled_from([".csv", ".tsv"]))
def test_random_bytes_in_text_load_or_are_refused(
    noise: bytes, position: int, ending: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    nodes = NODES.encode()
    attempt(tmp_path_factory.mktemp("graph"), nodes[:position] + noise + nodes[position:], EDGES.encode(), ending)


@settings(max_examples=100)
@given(noise=st.binary(min_size=1, max_size=20), position=st.integers(0, 2000))
def test_random_bytes_in_parquet_load_or_are_refused(
    noise: bytes, position: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("graph")
    parquet.write_table(pa.table({"id": ["a", "b"], "label": ["x", "y"], "f": [1.0, 2.0]}), folder / "n")
    parquet.write_table(pa.table({"source": ["a"], "target": ["b"]}), folder / "e")
    nodes, edges = (folder / "n").read_bytes(), (folder / "e").read_bytes()
    attempt(folder, nodes[:position] + noise + nodes[position + len(noise) :], edges, ".parquet")
