"""Labels in a file of their own, wherever it is, count alike for every kind of graph."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.labelling.page.tables import write_ledger

import lcgnn
from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import UNLABELLED, Graph, Split
from lcgnn.sources.arrays import save_arrays
from lcgnn.sources.choice import source_at, source_of
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.npz import save_npz
from lcgnn.sources.source import Known

NAMES = np.array([f"n{number}" for number in range(12)])
GIVEN = {"n0": "left", "n1": "right", "n6": "up", "n11": "left"}


def ring(labels: list[int]) -> Graph:
    nodes = np.arange(12)
    features = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)
    ends = np.stack([nodes, np.roll(nodes, 1)])
    return Graph.from_edges(
        "ring", ends, 12, np.array(labels), ("left", "right"), features=features, node_names=NAMES
    )


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    """The same twelve nodes with two labels of their own, n2 and n3, in every form that has a place."""
    graph = ring([-1, -1, 0, 1] + [-1] * 8)
    split = Split(np.array([2, 3]), np.array([], dtype=np.int64), np.array([], dtype=np.int64))
    save_npz(tmp_path / "ring.npz", graph, split)
    save_arrays(
        Graph(graph.name, graph.adjacency, graph.labels, graph.class_names, graph.features),
        split,
        tmp_path / "arrays",
    )
    folder = tmp_path / "tables"
    folder.mkdir()
    rows = [["id", "size", "label"]] + [
        [name, str(number), {2: "left", 3: "right"}.get(number, "")] for number, name in enumerate(NAMES)
    ]
    with (folder / "nodes.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    with (folder / "edges.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["source", "target"], *zip(NAMES, np.roll(NAMES, 1), strict=True)])
    return {"npz": str(tmp_path / "ring.npz"), "arrays": str(tmp_path / "arrays"), "tables": str(folder)}


@pytest.fixture(params=["ledger", "table"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The labels as the page writes them, and as anybody would."""
    path = tmp_path / f"given {request.param}.csv"
    labels = {**GIVEN, "gone": "left"}
    if request.param == "ledger":
        write_ledger(path, labels)
    else:
        path.write_text("id,label\n" + "".join(f"{node},{label}\n" for node, label in labels.items()))
    return path


def labels_of(loaded: Loaded) -> dict[str, str]:
    graph = loaded.graph
    names = map(str, range(graph.num_nodes)) if graph.node_names is None else graph.node_names.tolist()
    return {
        f"n{name}" if graph.node_names is None else name: graph.class_names[label]
        for name, label in zip(names, graph.labels, strict=True)
        if label != UNLABELLED
    }


@pytest.mark.parametrize("kind", ["npz", "tables"])
def test_labels_of_a_file_are_laid_over_those_of_the_graph(places: dict[str, str], file: Path, kind: str) -> None:
    loaded = source_of(places[kind], labels_from=file).load()
    assert labels_of(loaded) == {**GIVEN, "n2": "left", "n3": "right"}
    assert loaded.split.train.tolist() == [0, 1, 2, 3, 6, 11]
    assert any("not in" in note for note in loaded.notes)


@pytest.mark.parametrize("kind", ["npz", "tables"])
def test_labels_of_the_page_were_suggested_and_those_of_a_table_may_be_drawn(
    places: dict[str, str], file: Path, kind: str
) -> None:
    assert source_of(places[kind], labels_from=file).load().split.chosen is (file.name == "given ledger.csv")
    assert not source_of(places[kind]).load().split.chosen


def test_labels_of_the_page_beside_a_table_of_many_more_were_drawn_with_these(tmp_path: Path) -> None:
    names = [f"n{number:02}" for number in range(12)]
    labels = {name: str(name < "n05") for name in names[:9]}
    (tmp_path / "nodes.csv").write_text(
        "id,label\n" + "".join(f"{name},{labels.get(name, '')}\n" for name in names)
    )
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"n00,{name}\n" for name in names[1:]))
    assert not source_of(tmp_path).load().split.chosen
    write_ledger(tmp_path / "labels.lcgnn.csv", dict.fromkeys(names[9:], "True"))
    assert source_of(tmp_path).load().split.train.size == 12
    assert not source_of(tmp_path).load().split.chosen
    # The others are confirmed, which the table had of chance, and some lines are of nodes that are not there.
    confirmed = labels | dict.fromkeys([*names[9:], *(f"gone{number}" for number in range(20))], "True")
    write_ledger(tmp_path / "labels.lcgnn.csv", confirmed)
    assert not source_of(tmp_path).load().split.chosen
    rows = "".join(f"{name},{labels[name] if name in names[3:6] else ''}\n" for name in names)
    (tmp_path / "nodes.csv").write_text("id,label\n" + rows)
    assert source_of(tmp_path).load().split.chosen


def test_nodes_without_a_name_go_by_their_number(places: dict[str, str], tmp_path: Path) -> None:
    write_ledger(tmp_path / "given.csv", {node.removeprefix("n"): label for node, label in GIVEN.items()})
    loaded = source_of(places["arrays"], labels_from=tmp_path / "given.csv").load()
    assert labels_of(loaded) == {**GIVEN, "n2": "left", "n3": "right"}


@pytest.mark.parametrize("kind", ["npz", "tables"])
def test_a_run_finds_its_labels_again(places: dict[str, str], file: Path, kind: str) -> None:
    source = source_of(places[kind], labels_from=file)
    loaded = source.load()
    again = source_at(source.name, source.place())
    assert again.load().graph.checksum == loaded.graph.checksum
    known = again.load_known(Known(loaded.form, loaded.graph.class_names))
    assert known.graph.checksum == loaded.graph.checksum
    assert known.split.checksum == loaded.split.checksum


def test_a_file_beside_the_tables_does_not_count_where_another_is_named(
    places: dict[str, str], tmp_path: Path
) -> None:
    write_ledger(Path(places["tables"]) / "labels.csv", {"n5": "left"})
    write_ledger(tmp_path / "other.csv", {"n7": "right"})
    assert set(labels_of(source_of(places["tables"]).load())) == {"n2", "n3", "n5"}
    assert set(labels_of(source_of(places["tables"], labels_from=tmp_path / "other.csv").load())) == {
        "n2",
        "n3",
        "n7",
    }


def test_of_a_benchmark_only_the_labels_of_the_file_are_trained_on_and_others_measure(
    cora: Any, tmp_path: Path
) -> None:
    graph, split = source_of("cora").load().graph, source_of("cora").load().split
    nodes = [int(split.train[0]), int(split.train[20]), int(split.test[0])]
    write_ledger(
        tmp_path / "given.csv",
        {str(graph.node_names[node]): graph.class_names[graph.labels[node]] for node in nodes},
    )
    source = source_of("cora", labels_from=tmp_path / "given.csv")
    loaded = source.load()
    assert source.benchmark is None
    assert loaded.split.train.tolist() == sorted(nodes)
    assert loaded.split.test.tolist() == split.test[1:].tolist()
    assert not loaded.split.validation.size
    assert loaded.graph.labelled.size == 1002
    assert source.load_for_labelling().graph.labelled.tolist() == sorted(nodes)
    assert source_at("cora", source.place()).load().graph.checksum == loaded.graph.checksum


def test_of_a_benchmark_nothing_is_measured_by_classes_that_it_does_not_have(cora: Any, tmp_path: Path) -> None:
    graph = source_of("cora").load().graph
    first = [str(name) for name in graph.node_names[:2]]
    write_ledger(tmp_path / "given.csv", {first[0]: "old", first[1]: "new"})
    loaded = source_of("cora", labels_from=tmp_path / "given.csv").load()
    assert loaded.graph.class_names == ("old", "new")
    assert (loaded.split.test.size, loaded.graph.labelled.size) == (0, 2)


def test_what_is_labelled_in_the_file_is_not_suggested(places: dict[str, str], file: Path) -> None:
    found = lcgnn.suggest(places["npz"], 6, labels_from=file, model=False)
    assert found.labelled == 6
    assert not set(found.ids) & {*GIVEN, "n2", "n3"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "is not there"),
        ("id,label\nn0,left\nn2,left\nn3,left\n", "labels of 1 classes"),
        ("id,colour\nn0,left\n", "no column is called 'label'"),
        ("id,label,was,time,by,action\nn0,left\n", "line 2: not a line of labels"),
    ],
)
def test_a_file_without_labels_of_two_classes_is_refused_in_a_line(
    places: dict[str, str], tmp_path: Path, content: str | None, said: str
) -> None:
    path = tmp_path / "given.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(DataError, match=said) as error:
        source_of(places["npz"], labels_from=path).load()
    assert len(str(error.value).splitlines()) == 1


def test_a_graph_in_parts_keeps_its_own_labels(tmp_path: Path, places: dict[str, str]) -> None:
    from lcgnn.compute.placement.cutting import assign, cut
    from lcgnn.sources.parts.files import write_parts

    loaded = source_of(places["npz"]).load()
    parts = cut(loaded.graph, loaded.split, assign(loaded.graph, 2))
    described = {"name": "ring", "checksum": loaded.graph.checksum, "split": loaded.split.name}
    write_parts(tmp_path / "parts", loaded.graph, loaded.split, parts, described)
    with pytest.raises(ConfigError, match="in parts"):
        source_of(tmp_path / "parts", labels_from=tmp_path / "given.csv")
