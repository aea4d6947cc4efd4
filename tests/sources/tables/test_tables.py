"""A folder of tables becomes the graph that it describes, and what was done to it is told."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from lcgnn.graph import Graph
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.source import Tables

NODES = "id,label,age\na,x,1\nb,y,2\nc,,3\nd,,4\n"
EDGES = "source,target\na,b\nb,c\nc,d\n"


def load(folder: Path, nodes: str | bytes = NODES, edges: str | bytes = EDGES, **columns: Any) -> Loaded:
    for name, content in (("nodes.csv", nodes), ("edges.csv", edges)):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return Tables(str(folder), Columns(**columns)).load()


def told(made: Loaded, *words: str) -> bool:
    return any(all(word in note for word in words) for note in made.notes)


def edges_of(graph: Graph) -> set[tuple[str, str]]:
    rows, columns = graph.adjacency.nonzero()
    return {
        (str(graph.node_names[i]), str(graph.node_names[j])) for i, j in zip(rows, columns, strict=True) if i < j
    }


def test_two_tables_become_a_graph(tmp_path: Path) -> None:
    made = load(tmp_path)
    assert made.graph.name == tmp_path.name
    assert made.graph.node_names.tolist() == ["a", "b", "c", "d"]
    assert made.graph.labels.tolist() == [0, 1, -1, -1]
    assert made.graph.class_names == ("x", "y")
    assert edges_of(made.graph) == {("a", "b"), ("b", "c"), ("c", "d")}
    assert np.asarray(made.graph.features).mean() == pytest.approx(0, abs=1e-6)


def test_every_given_label_is_trained_on_by_default(tmp_path: Path) -> None:
    split = load(tmp_path).split
    assert split.train.tolist() == [0, 1]
    assert split.validation.size == split.test.size == 0


def test_a_split_column_is_obeyed_and_is_no_feature(tmp_path: Path) -> None:
    nodes = "id,label,split,age\na,x,train,1\nb,y,Train,2\nc,x,val,3\nd,y,test,4\ne,x,,5\nf,,test,6\n"
    made = load(tmp_path, nodes)
    assert [part.tolist() for part in (made.split.train, made.split.validation, made.split.test)] == [
        [0, 1],
        [2],
        [3],
    ]
    assert [column.name for column in made.form.encoding.columns] == ["age"]
    assert told(made, "2 for train, 1 for validation, 1 for test, 1 not used")
    assert told(made, "1 nodes of the test part have no label")


@pytest.mark.parametrize(
    ("header", "edge_header"),
    [
        ("id,label,age", "source,target"),
        ("node,class,age", "src,dst"),
        ("node_id,target,age", "from,to"),
        ("NodeId,y,age", "u,v"),
        ("ID,Label,age", "Source,Target"),
        (" id , label , age ", "source, target"),
        ('"id","label","age"', '"source","target"'),
    ],
)
def test_column_names_are_guessed(header: str, edge_header: str, tmp_path: Path) -> None:
    made = load(tmp_path, NODES.replace("id,label,age", header), EDGES.replace("source,target", edge_header))
    assert made.graph.checksum == load(tmp_path).graph.checksum


def test_columns_can_be_named(tmp_path: Path) -> None:
    nodes = NODES.replace("id,label,age", "who,topic,age")
    edges = "one,two,much\na,b,1\nb,c,2\nc,d,3\n"
    made = load(tmp_path, nodes, edges, id="who", label="topic", source="one", target="two", weight="much")
    assert sorted(set(made.graph.adjacency.data.tolist())) == [1.0, 2.0, 3.0]
    assert made.graph.class_names == ("x", "y")


def test_a_column_can_be_left_out(tmp_path: Path) -> None:
    nodes = "id,label,age,class\na,x,1,x\nb,y,2,y\nc,,3,x\nd,,4,y\n"
    made = load(tmp_path, nodes, ignore=("class",))
    assert [column.name for column in made.form.encoding.columns] == ["age"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_every_format_gives_the_same_graph(ending: str, tmp_path: Path) -> None:
    expected = load(tmp_path).graph.checksum
    folder = tmp_path / "other"
    folder.mkdir()
    if ending == "parquet":
        nodes = {"id": list("abcd"), "label": ["x", "y", None, None], "age": [1, 2, 3, 4]}
        parquet.write_table(pa.table(nodes), folder / "nodes.parquet")
        parquet.write_table(pa.table({"source": list("abc"), "target": list("bcd")}), folder / "edges.parquet")
    else:
        for name, text in (("nodes", NODES), ("edges", EDGES)):
            (folder / f"{name}.{ending}").write_text(text if ending == "csv" else text.replace(",", "\t"))
    assert Tables(str(folder)).load().graph.checksum == expected


def test_parquet_columns_of_every_plain_type_are_read(tmp_path: Path) -> None:
    import datetime
    from decimal import Decimal

    days = [datetime.date(2024, 1, day) for day in range(1, 7)]
    nodes = pa.table(
        {
            "id": pa.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            "label": pa.array([0, 1, None, None, None, None]),
            "kind": pa.array(["r", "g", "r", "g", "r", None]).dictionary_encode(),
            "sure": pa.array([True, False, None, True, False, True]),
            "price": pa.array([Decimal("1.5"), None, Decimal("2"), Decimal("3"), Decimal("4"), Decimal("5")]),
            "day": pa.array(days),
            "large": pa.array(["u v w", "v w x", "w x y", "x y z", "y z u", "z u v"], pa.large_string()),
            "nothing": pa.nulls(6),
        }
    )
    parquet.write_table(nodes, tmp_path / "nodes.parquet")
    parquet.write_table(pa.table({"source": [1, 2], "target": [2, 3]}), tmp_path / "edges.parquet")
    made = Tables(str(tmp_path)).load()
    kinds = {column.name: column.kind for column in made.form.encoding.columns}
    assert kinds == {"kind": "category", "sure": "boolean", "price": "number", "day": "date", "large": "text"}
    assert made.graph.node_names.tolist() == ["1", "2", "3", "4", "5", "6"]
    assert told(made, "'nothing'", "every cell is empty")


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(lambda text: b"\xef\xbb\xbf" + text.encode(), id="byte-order mark"),
        pytest.param(lambda text: text.replace("\n", "\r\n").encode(), id="Windows line ends"),
        pytest.param(lambda text: text.replace("\n", "\n\n").encode(), id="blank lines"),
        pytest.param(lambda text: text.rstrip("\n").encode(), id="no line end at the end"),
        pytest.param(lambda text: text.replace(",", ";").encode(), id="semicolons"),
        pytest.param(lambda text: text.replace(",", "|").encode(), id="bars"),
        pytest.param(lambda text: text.replace(",", "\t").encode(), id="tabs in csv"),
        pytest.param(lambda text: text.encode("utf-16"), id="UTF-16"),
        pytest.param(lambda text: text.replace(",", " , ").encode(), id="spaces around cells"),
    ],
)
def test_a_csv_file_may_be_written_otherwise(written: Any, tmp_path: Path) -> None:
    expected = load(tmp_path).graph.checksum
    assert load(tmp_path, written(NODES), written(EDGES)).graph.checksum == expected


def test_another_delimiter_or_encoding_is_told(tmp_path: Path) -> None:
    made = load(tmp_path, NODES.replace(",", ";").encode("utf-16"))
    assert told(made, "nodes.csv", "semicolons")
    assert told(made, "nodes.csv", "UTF-16")


def test_text_that_arrow_does_not_read_itself_is_decoded_before_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, given = arrow_csv.read_csv, []

    def remember(what: Any, **named: Any) -> Any:
        given.append(what)
        return read(what, **named)

    monkeypatch.setattr(arrow_csv, "read_csv", remember)
    load(tmp_path, NODES.encode("utf-16"))
    assert any(isinstance(what, pa.BufferReader) for what in given)


def test_a_column_without_a_name_is_left_out_and_told(tmp_path: Path) -> None:
    made = load(tmp_path, ",id,label,age\n0,a,x,1\n1,b,y,2\n2,c,,3\n3,d,,4\n")
    assert made.graph.num_features == 1
    assert told(made, "column 1 has no name")


def test_self_loops_and_repeated_edges_are_merged_and_told(tmp_path: Path) -> None:
    made = load(tmp_path, edges=EDGES + "a,a\nb,a\na,b\n")
    assert edges_of(made.graph) == {("a", "b"), ("b", "c"), ("c", "d")}
    assert made.graph.num_source_links == 6
    assert told(made, "1 edge from a node to itself")
    assert told(made, "2 edges repeat another")


def test_nodes_without_an_edge_are_told(tmp_path: Path) -> None:
    made = load(tmp_path, edges="source,target\na,b\n")
    assert told(made, "2 nodes have no edge; only their features tell their class.")


def test_a_node_without_an_edge_or_a_feature_is_said_to_have_nothing_that_tells_its_class(tmp_path: Path) -> None:
    made = load(tmp_path, "id,label\na,x\nb,y\nc,\nd,\n", "source,target\na,b\nb,c\n")
    assert told(made, "1 node has no edge; nothing tells its class.")


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ("xyxx", "2 nodes have no edge, but labels."),
        ("xyx-", "2 nodes have no edge; nothing tells the class of the one without a label."),
        ("xy--", "2 nodes have no edge; nothing tells their class."),
    ],
)
def test_of_nodes_without_an_edge_only_those_without_a_label_have_nothing_that_tells_their_class(
    tmp_path: Path, labels: str, words: str
) -> None:
    rows = [f"{name},{label.strip('-')}" for name, label in zip("abcd", labels, strict=True)]
    made = load(tmp_path, "\n".join(["id,label", *rows]) + "\n", "source,target\na,b\n")
    assert told(made, words)


@pytest.mark.parametrize("first", [0, 1, 1700])
def test_a_column_that_numbers_the_rows_is_left_out_and_told(tmp_path: Path, first: int) -> None:
    rows = [f"n{row},{'xy'[row % 2]},{first + 7 * row % 20},{row % 3}" for row in range(20)]
    nodes = "\n".join(["id,label,number,age", *rows])
    made = load(tmp_path, nodes, "source,target\nn0,n1\n")
    assert made.graph.num_features == 1
    assert told(made, f"column 'number': the numbers {first} to {first + 19}, one in each row", "left out")


@pytest.mark.parametrize("change", [{3: 4}, {3: 3.5}, {19: 20}], ids=["twice", "a fraction", "a gap"])
def test_whole_numbers_that_are_not_one_a_row_are_a_feature(tmp_path: Path, change: dict[int, float]) -> None:
    rows = [f"n{row},{'xy'[row % 2]},{change.get(row, row)}" for row in range(20)]
    nodes = "\n".join(["id,label,age", *rows])
    assert load(tmp_path, nodes, "source,target\nn0,n1\n").graph.num_features == 1


def test_whole_numbers_as_ids_and_labels_stay_as_they_are_written(tmp_path: Path) -> None:
    made = load(tmp_path, "id,label\n010,2\n20,10\n30,\n", "source,target\n010,20\n20,30\n")
    assert made.graph.node_names.tolist() == ["010", "20", "30"]
    assert made.graph.class_names == ("2", "10")


def test_words_for_missing_labels_count_as_empty_and_are_told(tmp_path: Path) -> None:
    made = load(tmp_path, NODES.replace("c,,", "c,NA,"))
    assert made.graph.labels.tolist() == [0, 1, -1, -1]
    assert told(made, "1 cell with NA counts as empty")


def test_labels_that_may_be_mistakes_are_told(tmp_path: Path) -> None:
    made = load(tmp_path, "id,label\na,-1\nb,Cat\nc,cat\nd,\n")
    assert told(made, "'-1' is taken as a class")
    assert told(made, "upper and lower case")
    assert told(made, "of each of '-1', 'Cat', 'cat' only one node is labelled; label more of them if you can.")
    assert told(made, "3 labels of 3 classes in 4 rows.")


def test_one_label_is_counted_as_one(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,label\na,x\nb,\n")
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    made = Tables(str(tmp_path)).load_for_labelling()
    assert told(made, "1 label of 1 class in 2 rows.")
    assert told(made, "only one node is labelled 'x'; label more of them if you can.")


def test_a_class_that_is_called_like_a_number_column_is_kept_as_text(tmp_path: Path) -> None:
    assert load(tmp_path, "id,label\na,1.50\nb,1.5\n", "source,target\na,b\n").graph.class_names == ("1.5", "1.50")


def test_a_feature_that_is_the_label_again_is_warned_of(tmp_path: Path) -> None:
    rows = "".join(f"n{number},{'xy'[number % 2]},{number % 2},{number}\n" for number in range(12))
    made = load(tmp_path, "id,label,code,age\n" + rows, "source,target\nn0,n1\n")
    assert told(made, "Warning", "'code'", "--ignore-column code")
    assert not told(made, "Warning", "'age'")


def test_unused_columns_of_the_edges_are_told(tmp_path: Path) -> None:
    assert told(load(tmp_path, edges="source,target,kind\na,b,k\n"), "not used: 'kind'")


def test_an_edge_list_with_labels_alone_gets_structural_features_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("id,label\nb,x\nd,y\nlonely,x\n")
    (tmp_path / "edges.csv").write_text(EDGES)
    made = Tables(str(tmp_path)).load()
    assert made.graph.node_names.tolist() == ["b", "d", "lonely", "a", "c"]
    assert made.graph.labels.tolist() == [0, 1, 0, -1, -1]
    assert edges_of(made.graph) == {("b", "a"), ("b", "c"), ("d", "c")}
    assert made.form.encoding.columns == ()
    assert made.graph.num_features > 0
    assert told(made, "no feature columns", "made from the edges")


def test_structural_features_tell_communities_apart(tmp_path: Path) -> None:
    ring = [(i, (i + step) % 20) for i in range(20) for step in (1, 2, 3)]
    edges = ring + [(a + 20, b + 20) for a, b in ring] + [(0, 20)]
    (tmp_path / "labels.csv").write_text("id,label\n0,x\n20,y\n")
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in edges))
    graph = Tables(str(tmp_path)).load().graph
    second = np.array([int(name) >= 20 for name in graph.node_names])
    features = np.asarray(graph.features)
    features = features / np.linalg.norm(features, axis=1, keepdims=True)
    similarity = features @ features.T
    within = (similarity[np.ix_(second, second)].mean() + similarity[np.ix_(~second, ~second)].mean()) / 2
    assert within > similarity[np.ix_(second, ~second)].mean() + 0.1


def test_the_same_tables_give_the_same_graph_from_anywhere(tmp_path: Path) -> None:
    first = load(tmp_path).graph.checksum
    other = tmp_path / "elsewhere"
    other.mkdir()
    assert load(other).graph.checksum == first


def test_a_cell_over_several_lines_keeps_line_numbers_right(tmp_path: Path) -> None:
    from lcgnn.errors import DataError

    nodes = 'id,label,text\na,x,"one\ntwo"\nb,y,three\na,,four\n'
    with pytest.raises(DataError, match="line 5"):
        load(tmp_path, nodes)
