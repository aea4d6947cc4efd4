"""What the user names is one source, decided once; every source keeps the same promises."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from lcgnn.compute.placement.cutting import assign, cut
from lcgnn.errors import ConfigError, DataError, InputError, LCGNNError
from lcgnn.graph import Graph
from lcgnn.sources.arrays import ArrayFolder, save_arrays
from lcgnn.sources.benchmarks import BENCHMARKS, Benchmark
from lcgnn.sources.benchmarks.rescaled import Rescaled
from lcgnn.sources.choice import source_at, source_of
from lcgnn.sources.examples import write_example
from lcgnn.sources.in_python import Frames, Given, NetworkX, PyG
from lcgnn.sources.labelled import Labelled
from lcgnn.sources.npz import Npz, save_npz
from lcgnn.sources.parts.files import write_parts
from lcgnn.sources.parts.parted import Parts
from lcgnn.sources.pyg import to_pyg
from lcgnn.sources.source import FileSource, Known, Source
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.source import Tables


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[type[Source], Any]:
    """The same small graph in every form that there is, by the class that is to read it."""
    folder = tmp_path_factory.mktemp("places")
    write_example(folder / "tables")
    loaded = Tables(str(folder / "tables")).load()
    graph, split = loaded.graph, loaded.split
    save_npz(folder / "graph.npz", graph, split)
    save_arrays(graph, split, folder / "arrays")
    described = {"name": "graph", "checksum": graph.checksum, "split": split.name}
    write_parts(folder / "parts", graph, split, cut(graph, split, assign(graph, 2)), described)
    nodes, edges = (pd.read_csv(folder / "tables" / f"{name}.csv") for name in ("nodes", "edges"))
    return {
        Tables: folder / "tables",
        Npz: str(folder / "graph.npz"),
        ArrayFolder: str(folder / "arrays"),
        Parts: folder / "parts",
        Frames: (nodes, edges),
        NetworkX: club(),
        PyG: to_pyg(graph, split),
        Given: loaded,
    }


def club() -> nx.Graph:
    graph = nx.karate_club_graph()
    for number, member in enumerate(graph):
        graph.nodes[member]["age"] = 20 + number
        if number % 3:
            del graph.nodes[member]["club"]
    return graph


COLUMNS: dict[type[Source], Columns] = {NetworkX: Columns(label="club")}


def subclasses(cls: type) -> set[type]:
    below: list[type] = cls.__subclasses__()
    return {cls}.union(*(subclasses(item) for item in below))


def concrete() -> set[type]:
    """Every class of source that can be made; abstract ones have names that say what they have in common."""
    return {cls for cls in subclasses(Source) if not getattr(cls, "__abstractmethods__", None)}


def test_every_class_of_source_is_in_these_tests(places: dict[type[Source], Any]) -> None:
    # A rescaled benchmark is of a study's rows, nobody names one; labels over others are in test_labelled.py.
    others = {Rescaled, Labelled}
    assert {cls for cls in concrete() if not issubclass(cls, Benchmark)} - others == set(places)


@pytest.fixture(params=["Tables", "Npz", "ArrayFolder", "Parts", "Frames", "NetworkX", "PyG", "Given"])
def source(request: pytest.FixtureRequest, places: dict[type[Source], Any]) -> Source:
    kind = next(cls for cls in places if cls.__name__ == request.param)
    found = source_of(places[kind], COLUMNS.get(kind))
    assert type(found) is kind
    return found


def test_a_source_gives_a_graph_with_labels_to_train_on(source: Source) -> None:
    loaded = source.load()
    loaded.split.check(loaded.graph)
    assert source.name
    assert source.benchmark is None
    assert loaded.graph.num_features > 0


def test_a_source_reads_the_same_graph_for_a_model_that_was_trained_on_it(source: Source) -> None:
    if source.parts is not None:
        with pytest.raises(DataError, match="a graph in parts, which is only trained on"):
            source.load_known(Known(None, ("a", "b")))
        return
    loaded = source.load()
    known = source.load_known(Known(loaded.form, loaded.graph.class_names))
    assert known.graph.checksum == loaded.graph.checksum
    assert known.split.checksum == loaded.split.checksum
    assert known.form == loaded.form


def test_a_source_with_files_is_found_again_at_its_place(source: Source) -> None:
    place = source.place()
    assert place is not None
    if not isinstance(source, FileSource):
        with pytest.raises(DataError, match="only in memory"):
            source_at(source.name, place)
        return
    assert type(source_at(source.name, place)) is type(source)
    assert source_of(source) is source


def test_tables_are_found_again_with_the_columns_that_were_named(places: dict[type[Source], Any]) -> None:
    named = Columns(id="id", label="topic", ignore=("year",))
    source = source_of(places[Tables], named)
    again = source_at(source.name, json.loads(json.dumps(source.place())))
    assert again == source


@pytest.mark.parametrize("content", [None, 7, [], {"id": 7, "ignore": 7}, {"split": "x", "ignore": [7]}])
def test_columns_that_a_record_does_not_name_are_guessed(content: Any) -> None:
    assert Columns.from_json(content) == Columns()


def test_columns_are_named_only_where_there_are_columns(source: Source, places: dict[type[Source], Any]) -> None:
    named = Columns(label="topic")
    if isinstance(source, Tables | Frames | NetworkX):
        assert source_of(places[type(source)], named).columns == named  # type: ignore[attr-defined]
    else:
        with pytest.raises(ConfigError, match="Columns can be named for a folder of tables"):
            source_of(places[type(source)], named)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_is_named_in_upper_or_lower_case(name: str) -> None:
    found = source_of(name.upper())
    assert (found.name, found.benchmark, found.place()) == (name, name, None)
    assert source_at(name, None) == found


def test_a_folder_with_a_benchmarks_name_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_example(tmp_path / "cora")
    found = source_of("cora")
    assert isinstance(found, Benchmark)
    assert "cora is the benchmark. For what is here under that name: ./cora" in found.load().notes
    assert isinstance(source_of("./cora"), Tables)


@pytest.mark.parametrize(
    ("what", "error", "words"),
    [
        ("karate", ConfigError, f"neither a benchmark ({', '.join(BENCHMARKS)}) nor a folder"),
        ("citeser", ConfigError, "Did you mean 'citeseer'?"),
        (3.5, InputError, "float is no graph"),
        ((1, 2), InputError, "tuple is no graph"),
        (None, InputError, "NoneType is no graph"),
    ],
)
def test_what_is_no_graph_is_refused(what: Any, error: type[LCGNNError], words: str) -> None:
    with pytest.raises(error) as raised:
        source_of(what)
    assert words in str(raised.value)


def test_processes_that_train_together_need_as_many_parts(places: dict[type[Source], Any]) -> None:
    with pytest.raises(ConfigError, match=r"3 processes were started, and .* First: lcgnn partition .* --parts 3"):
        source_of(places[Tables], processes=3)
    assert source_of(places[Parts], processes=2).parts == places[Parts]
    graph = places[Given].graph
    write_parts(places[Tables] / "parts-1", graph, places[Given].split, cut_into(graph, 1), PARTED)
    assert isinstance(source_of(places[Tables], processes=1), Parts)


PARTED = {"name": "graph", "checksum": "", "split": ""}


def cut_into(graph: Graph, count: int) -> Any:
    return cut(graph, Given.of(graph).loaded.split, assign(graph, count))


def test_a_graph_with_other_classes_is_read_with_the_models(places: dict[type[Source], Any]) -> None:
    """A class that the model does not know counts as none."""
    loaded = dataclasses.replace(places[Given], form=None)
    first, second, third = loaded.graph.class_names
    known = Given(loaded).load_known(Known(None, (third, "unheard of", first)))
    expected = np.array([2, -1, 0, -1])[loaded.graph.labels]
    np.testing.assert_array_equal(known.graph.labels, expected)
    np.testing.assert_array_equal(known.split.train, loaded.split.train[expected[loaded.split.train] >= 0])
    assert second not in known.graph.class_names


def test_a_benchmark_that_is_registered_is_found_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = dataclasses.replace(BENCHMARKS["cora"], key="mine", title="Mine")
    monkeypatch.setitem(BENCHMARKS, "mine", mine)
    assert source_of("mine") == mine
    assert source_of("Mine").benchmark == "mine"
