"""A graph in parts whose files were altered, checksums and all, is refused with the file that is wrong."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from safetensors.numpy import load, save

from lcgnn.compute.placement.cutting import assign, cut
from lcgnn.errors import DataError
from lcgnn.graph import Graph, Split
from lcgnn.sources.parts import files
from lcgnn.sources.parts.files import read_manifest, read_part, write_parts
from lcgnn.sources.parts.parted import load_parted

EDGES = np.array([[0, 1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 0, 3]])
NAMES = np.array([" a", "b", "c", "d", "e", "f"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    labels = np.array([0, 1, -1, 0, 1, 0])
    features = np.arange(12, dtype=np.float32).reshape(6, 2)
    graph = Graph.from_edges("ring", EDGES, 6, labels, ("x", "y"), features=features, node_names=NAMES)
    split = Split(np.array([0, 1]), np.array([3]), np.array([4]))
    described = {"name": "ring", "checksum": graph.checksum, "split": "own"}
    write_parts(tmp_path / "parts", graph, split, cut(graph, split, assign(graph, 2)), described)
    return tmp_path / "parts"


def alter(folder: Path, **arrays: Any) -> None:
    """Other arrays in the first part, with the checksum made right."""
    path = folder / "part-0.safetensors"
    content = save({**load(path.read_bytes()), **arrays})
    path.write_bytes(content)
    told = json.loads((folder / "parts.json").read_text())
    told["parts"][0]["file"] |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "parts.json").write_text(json.dumps(told))


def test_parts_come_back_with_the_names_of_their_nodes(folder: Path) -> None:
    graph, split = load_parted(folder)
    assert graph.node_names.tolist() == NAMES.tolist()
    assert split.train.tolist() == [0, 1]
    manifest = read_manifest(folder)
    parts = [read_part(folder, manifest, number) for number in range(2)]
    assert sorted(node for part in parts for node in part.nodes) == list(range(6))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("nodes", lambda array: array + 100),
        ("nodes", lambda array: array.astype(np.float32)),
        ("labels", lambda array: array - 5),
        ("uses", lambda array: array + 7),
        ("send_rows", lambda array: array + 100),
        ("send_counts", lambda array: array[:1]),
        ("receive_counts", lambda array: array - 1),
        ("features", lambda array: array[:, :1].copy()),
        ("adjacency.offsets", lambda array: array - 3),
        ("adjacency.columns", lambda array: array + 100),
        ("adjacency.values", lambda array: array[:-1].copy()),
    ],
)
def test_an_altered_array_is_refused(folder: Path, name: str, change: Any) -> None:
    array = load((folder / "part-0.safetensors").read_bytes())[name]
    alter(folder, **{name: np.ascontiguousarray(change(array))})
    with pytest.raises(DataError, match=r"part-0\.safetensors.*(Cut the graph again|Write it anew)"):
        read_part(folder, read_manifest(folder), 0)


@pytest.mark.parametrize("value", [None, -1, 1.5, True, "x", [1], [[]], {"a": 1}])
def test_a_manifest_of_other_types_is_refused_whatever_field_it_is(folder: Path, value: Any) -> None:
    told = json.loads((folder / "parts.json").read_text())
    for field in told:
        (folder / "parts.json").write_text(json.dumps({**told, field: value}))
        with pytest.raises(DataError, match=r"parts\.json is (damaged|of another version)"):
            read_manifest(folder)
    for field in ("nodes", "parts", "graph"):
        (folder / "parts.json").write_text(json.dumps({key: told[key] for key in told if key != field}))
        with pytest.raises(DataError, match=f"'{field}' is missing"):
            read_manifest(folder)


def test_a_manifest_that_names_a_file_elsewhere_or_never_ends_is_refused(folder: Path) -> None:
    told = json.loads((folder / "parts.json").read_text())
    told["nodes"]["name"] = "../nodes.parquet"
    (folder / "parts.json").write_text(json.dumps(told))
    with pytest.raises(DataError, match="no file of this folder"):
        read_manifest(folder)
    (folder / "parts.json").write_text('{"a":' * 10**5)
    with pytest.raises(DataError, match="nested too deeply"):
        read_manifest(folder)


def test_names_that_are_no_text_are_refused(folder: Path) -> None:
    path = folder / "nodes.parquet"
    table = parquet.read_table(path)
    broken = pa.array([b"a", b"\xff\xfe", b"c", b"d", b"e", b"f"], pa.binary()).cast(pa.string(), safe=False)
    parquet.write_table(table.set_column(table.column_names.index("name"), "name", broken), path)
    content = path.read_bytes()
    told = json.loads((folder / "parts.json").read_text())
    told["nodes"] |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "parts.json").write_text(json.dumps(told))
    with pytest.raises(DataError, match=r"nodes\.parquet"):
        load_parted(folder)


def test_a_name_that_no_file_system_takes_is_a_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is missing"):
        files._check(tmp_path / ("é" * 200), files.StoredFile("é" * 200, 1, "0" * 64))
