"""Suggestions for graphs as users have them: with none, some or all labels, from files and from Python."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.docs.follow import blocks_of

import lcgnn
from lcgnn.errors import ConfigError, DataError, OutputError
from lcgnn.graph import UNLABELLED, Graph, Split
from lcgnn.methods import create
from lcgnn.runs import suggest as module
from lcgnn.runs.suggest import Suggestions
from lcgnn.sources.npz import save_npz
from lcgnn.sources.tables.ledger import HEADER, Line

PAGE = Path(__file__).parents[2] / "docs" / "which-nodes.md"

NONE = np.empty(0, dtype=np.int64)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model that is asked learns for a moment only."""
    quick: dict[str, Any] = {"selection": "last", "base_stop_window": 0, "base_epochs": 5, "epochs": 5}
    monkeypatch.setattr(module, "consulted", lambda: create("lc-gcn", **quick))


@pytest.fixture
def graph(small_graph: Callable[..., tuple[Graph, Split]]) -> Graph:
    return small_graph(named=True)[0]


@pytest.fixture
def tables(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """A folder of tables: two squares of nodes, labelled as said."""

    def write(labels: dict[str, str], column: bool = True) -> Path:
        names = [f"{side}{number}" for side in "ab" for number in range(4)]
        rows = [f"{name},{labels.get(name, '')},{name[0]}x" if column else f"{name},{name[0]}x" for name in names]
        head = "id,label,kind" if column else "id,kind"
        (tmp_path / "nodes.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
        edges = [f"{side}{number},{side}{(number + 1) % 4}" for side in "ab" for number in range(4)]
        (tmp_path / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n", encoding="utf-8")
        return tmp_path

    return write


def labelled_at(graph: Graph, nodes: list[int]) -> Graph:
    labels = np.full(graph.num_nodes, UNLABELLED)
    labels[nodes] = graph.labels[nodes]
    return replace(graph, labels=labels)


def test_what_the_page_says_for_python_is_possible_without_any_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"n{number}" for number in range(30)]
    (tmp_path / "my_graph").mkdir()
    rows = [f"{name},,{number}" for number, name in enumerate(names)]
    (tmp_path / "my_graph" / "nodes.csv").write_text("\n".join(["id,label,x", *rows]) + "\n", encoding="utf-8")
    edges = [f"{one},{other}" for one, other in pairwise(names)]
    (tmp_path / "my_graph" / "edges.csv").write_text("\n".join(["source,target", *edges]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    said = [text for language, text in blocks_of(PAGE) if language == "python"]
    assert len(said) == 2
    names_of_block: dict[str, Any] = {}
    for text in said:
        exec(compile(text, str(PAGE), "exec"), names_of_block)  # noqa: S102
    assert len(names_of_block["more"]) == 5


def test_a_table_without_a_label_gets_a_suggestion_in_each_part(tables: Any) -> None:
    found = lcgnn.suggest(tables({}), 2)
    assert sorted(name[0] for name in found.ids) == ["a", "b"]
    assert (found.labelled, found.asked) == (0, False)


def test_a_table_without_a_column_of_labels_will_do(tables: Any) -> None:
    assert sorted(name[0] for name in lcgnn.suggest(tables({}, column=False), 2).ids) == ["a", "b"]


def test_with_one_class_labelled_the_other_part_is_suggested_and_no_model_is_asked(tables: Any) -> None:
    found = lcgnn.suggest(tables({"a1": "left"}), 1)
    assert found.ids[0][0] == "b"
    assert (found.labelled, found.asked) == (1, False)


def test_with_two_classes_a_model_is_trained_and_asked(tables: Any) -> None:
    found = lcgnn.suggest(tables({"a1": "left", "b2": "right"}), 3)
    assert found.asked
    assert not {"a1", "b2"} & set(found.ids)


def test_no_model_is_trained_if_none_is_wanted_or_the_strategy_asks_none(graph: Graph) -> None:
    some = labelled_at(graph, list(range(30)))
    assert lcgnn.suggest(some, 3).asked
    assert not lcgnn.suggest(some, 3, model=False).asked
    assert not lcgnn.suggest(some, 3, strategy="featprop").asked


def test_a_large_graph_is_not_trained_on_and_that_is_said(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGEST_TRAINED", 100)
    found = lcgnn.suggest(labelled_at(graph, list(range(30))), 3)
    assert not found.asked
    assert any("too large to train a model" in note for note in found.notes)


def test_the_model_of_a_run_is_asked(graph: Graph, tmp_path: Path) -> None:
    some = labelled_at(graph, list(range(60)))
    settings = {"base_epochs": 5, "epochs": 5}
    run = lcgnn.train(some, "lc-gcn", settings=settings, out=tmp_path / "run", estimate=False, workers=1)
    assert lcgnn.suggest(some, 3, run=run.folder).asked


def test_of_a_benchmark_the_training_part_is_labelled_and_the_rest_is_hidden(cora: tuple[Graph, Split]) -> None:
    found = lcgnn.suggest("cora", 5, model=False)
    assert found.labelled == 140
    assert not set(found.nodes) & set(cora[1].train)
    assert lcgnn.suggest("cora", 5, labels="none").labelled == 0


def test_validation_and_test_nodes_of_ones_own_are_labelled_too(graph: Graph) -> None:
    nodes = np.arange(90)
    some = labelled_at(graph, nodes.tolist())
    found = lcgnn.suggest((some, Split(nodes[:30], nodes[30:60], nodes[60:])), 150, model=False)
    assert sorted(found.nodes) == list(range(90, 240))


def test_as_if_none_had_a_label_every_node_may_be_suggested(graph: Graph) -> None:
    assert sorted(lcgnn.suggest(graph, 240, labels="none", strategy="degree").nodes) == list(range(240))


@pytest.mark.parametrize("count", [0, -3, 1.5, True, "many"])
def test_a_count_that_is_none_is_refused(count: Any, graph: Graph) -> None:
    with pytest.raises(ConfigError, match=r"suggestions asked for. Ask for a whole number from 1 on"):
        lcgnn.suggest(graph, count)


def test_more_than_there_are_is_refused_with_how_many_there_are(graph: Graph) -> None:
    with pytest.raises(ConfigError, match=r"241 suggestions asked for, and 240 nodes have no label"):
        lcgnn.suggest(graph, 241, labels="none")


def test_a_graph_that_is_labelled_all_over_is_refused(graph: Graph) -> None:
    with pytest.raises(DataError, match=r"all 240 nodes have a label; none is left .* --labels none"):
        lcgnn.suggest(graph)


@pytest.mark.parametrize(
    ("given", "words"),
    [({"labels": "some"}, "Labels can be 'given' or 'none'"), ({"strategy": "best"}, "no strategy 'best'")],
)
def test_names_that_there_are_not_are_refused_before_anything_is_read(given: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        lcgnn.suggest("nowhere/at/all", 3, **given)


PASSED_OVER = HEADER + "a1,left,,,,label\nb2,right,,,,label\na2,,,,,skip\nb3,,,,,unsure\ngone,,,,,skip\n"


@pytest.mark.parametrize("column", [True, False])
def test_nodes_that_were_skipped_or_that_nobody_could_tell_are_not_suggested_again(
    tables: Any, column: bool
) -> None:
    folder = tables({"b3": "right"} if column else {}, column=column)
    (folder / "labels.csv").write_text(PASSED_OVER, encoding="utf-8")
    found = lcgnn.suggest(folder, 4, model=False)
    assert sorted(found.ids) == ["a0", "a3", "b0", "b1"]
    assert found.labelled == 2
    assert len(lcgnn.suggest(folder, 8, labels="none", model=False)) == 8


def test_of_edges_alone_and_of_arrays_skipped_nodes_are_not_suggested_either(
    tables: Any, graph: Graph, tmp_path: Path
) -> None:
    folder = tables({})
    (folder / "nodes.csv").unlink()
    (folder / "labels.csv").write_text(PASSED_OVER, encoding="utf-8")
    assert sorted(lcgnn.suggest(folder, 4, model=False).ids) == ["a0", "a3", "b0", "b1"]
    save_npz(tmp_path / "graph.npz", labelled_at(graph, list(range(200))))
    names = graph.node_names
    assert names is not None
    rows = [Line(id=str(names[node]), action="skip").text() for node in range(230, 240)]
    (tmp_path / "given.csv").write_text(HEADER + "".join(rows), encoding="utf-8")
    found = lcgnn.suggest(tmp_path / "graph.npz", 30, labels_from=tmp_path / "given.csv", model=False)
    assert sorted(found.nodes) == list(range(200, 230))


def test_no_more_are_promised_than_are_left_beside_those_that_were_skipped(tables: Any) -> None:
    folder = tables({})
    (folder / "labels.csv").write_text(PASSED_OVER, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"5 suggestions asked for, and 4 nodes are left to label"):
        lcgnn.suggest(folder, 5)
    rest = "".join(Line(id=name, action="unsure").text() for name in ("a0", "a3", "b0", "b1"))
    (folder / "labels.csv").write_text(PASSED_OVER + rest, encoding="utf-8")
    with pytest.raises(DataError, match=r"all 8 nodes have a label, were skipped or are 'not sure'; none is left"):
        lcgnn.suggest(folder, 1)


@pytest.mark.parametrize(
    ("gone", "words"), [(1, "1 label is of a node that is not"), (2, "2 labels are of nodes")]
)
def test_labels_of_nodes_that_are_gone_are_counted_in_good_english(tables: Any, gone: int, words: str) -> None:
    folder = tables({})
    rows = "".join(Line(id=f"gone {number}", label="left").text() for number in range(gone))
    (folder / "labels.csv").write_text(HEADER + rows, encoding="utf-8")
    assert any(words in note for note in lcgnn.suggest(folder, 1).notes)


def saved(found: Suggestions, path: Path) -> Path:
    found.save(path)
    return path


def test_suggestions_are_written_as_csv_and_as_json(graph: Graph, tmp_path: Path) -> None:
    found = lcgnn.suggest(graph, 3, labels="none")
    with saved(found, tmp_path / "next.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == list(found.ids)
    assert [int(row["stands_for"]) for row in rows] == [item.stands_for for item in found]
    content = json.loads(saved(found, tmp_path / "next.json").read_text(encoding="utf-8"))
    assert [(item["id"], item["node"]) for item in content["suggestions"]] == [
        (name, item.node) for name, item in zip(found.ids, found, strict=True)
    ]
    # Written again over its own earlier ones.
    for ending in ("csv", "json"):
        saved(found, tmp_path / f"next.{ending}")


def test_nothing_that_is_somebody_elses_is_written_over(graph: Graph, tmp_path: Path) -> None:
    found = lcgnn.suggest(graph, 1, labels="none")
    for name in ("mine.csv", "mine.json"):
        (tmp_path / name).write_text("id,label\n1,2\n", encoding="utf-8")
        with pytest.raises(OutputError, match="is there already"):
            found.save(tmp_path / name)
    with pytest.raises(ConfigError, match="what a table of a graph is called"):
        found.save(tmp_path / "nodes.csv")
    with pytest.raises(ConfigError, match=r"must end in .csv or .json"):
        found.save(tmp_path / "next.txt")


def test_a_name_that_a_spreadsheet_would_compute_is_only_a_name(graph: Graph, tmp_path: Path) -> None:
    risky = replace(graph, node_names=np.array([f"=cmd|{number}" for number in range(240)]))
    text = saved(lcgnn.suggest(risky, 1, labels="none"), tmp_path / "next.csv").read_text(encoding="utf-8")
    assert ",'=cmd|" in text
