"""Every reader with a valid input, how to damage it, and what to do with what comes out."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from pyarrow import parquet
from safetensors.numpy import load, save
from tests.fuzz.mutate import mutated_array, mutated_bytes, mutated_json, mutated_text

from lcgnn import LCGNNClassifier, TrainedModel
from lcgnn.compute.placement.cutting import assign, cut
from lcgnn.compute.tensor_files import read_tensors, write_tensors
from lcgnn.experiments.store import Store, read_pack, write_pack
from lcgnn.features.encoding import ColumnEncoding, Encoding
from lcgnn.files import read_json
from lcgnn.graph import Graph, Split
from lcgnn.methods import create
from lcgnn.report.own import own_section
from lcgnn.runs.records import Environment, FoldRecord, Record, StageRecord, Summary
from lcgnn.runs.spec import SplitSpec
from lcgnn.runs.train import train
from lcgnn.sources.arrays import load_arrays, save_arrays
from lcgnn.sources.npz import load_known_npz, load_npz, save_npz
from lcgnn.sources.parts.files import read_manifest, read_part, write_parts
from lcgnn.sources.parts.parted import load_parted
from lcgnn.sources.source import Known
from lcgnn.sources.tables.columns import Roles
from lcgnn.sources.tables.form import TableForm
from lcgnn.sources.tables.source import Tables

NODES = "id,label,f,g,text\na,x,1,red,one two\nb,y,2.5,blue,three four\nc,,0,red,five\nd,x,,blue,six seven\n"
EDGES = "source,target,weight\na,b,1\nb,c,0.5\nc,d,2\n"
FORM = TableForm(
    Roles("id", "label", None, "source", "target", None),
    Encoding((ColumnEncoding("f", "number"), ColumnEncoding("g", "category", categories=("blue", "red")))),
)


@dataclass(frozen=True)
class Reader:
    """A way in.

    Args:
        write: Writes a valid input into a folder.
        damage: Changes it.
        read: Reads it, and looks at what came out.
    """

    write: Callable[[Path], None]
    damage: Callable[[Path, Random], None]
    read: Callable[[Path], None]


@cache
def valid() -> tuple[Graph, Split]:
    """Six nodes in a ring, with sparse features."""
    edges = np.array([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])
    features = np.eye(6, 4, dtype=np.float32) + (np.arange(24).reshape(6, 4) % 5 == 0)
    labels = np.array([0, 1, -1, 0, 1, 0])
    from scipy.sparse import csr_array

    graph = Graph.from_edges(
        "ring", edges, 6, labels, ("a", "b"), features=csr_array(features), node_names=np.array(list("uvwxyz"))
    )
    return graph, Split(np.array([0, 1]), np.array([3]), np.array([4]))


def used(graph: Graph, split: Split) -> None:
    """What any method would do first."""
    split.check(graph)
    assert graph.checksum
    assert np.isfinite(graph.adjacency @ np.ones(graph.num_nodes)).all()
    assert graph.label_consistency.shape == (graph.num_nodes,)
    if graph.features is not None:
        assert graph.features.T.shape[1] == graph.num_nodes


def _npz(folder: Path) -> None:
    save_npz(folder / "graph.npz", *valid())


def _damage_npz(folder: Path, random: Random) -> None:
    path = folder / "graph.npz"
    if random.random() < 0.3:
        path.write_bytes(mutated_bytes(path.read_bytes(), random))
        return
    with np.load(path) as stored:
        arrays = dict(stored)
    for name in random.sample(sorted(arrays), random.randint(1, 3)):
        arrays[name] = mutated_array(arrays[name], random)
    if random.random() < 0.3:
        del arrays[random.choice(sorted(arrays))]
    if random.random() < 0.5:
        arrays.pop("scaling", None)
    np.savez(path, **arrays)


def _read_npz(folder: Path) -> None:
    try:
        load_known_npz(folder / "graph.npz", ("a", "b"), name="graph")
    finally:
        made = load_npz(folder / "graph.npz")
        used(made.graph, made.split)


def _arrays(folder: Path) -> None:
    save_arrays(*valid(), folder / "graph")


def _damage_arrays(folder: Path, random: Random) -> None:
    path = random.choice(sorted((folder / "graph").iterdir()))
    if path.suffix == ".json":
        path.write_bytes(mutated_json(json.loads(path.read_text()), random))
    elif random.random() < 0.4:
        path.write_bytes(mutated_bytes(path.read_bytes(), random))
    else:
        np.save(path, mutated_array(np.load(path), random))


def _read_arrays(folder: Path) -> None:
    used(*load_arrays(folder / "graph"))


def _csv(folder: Path) -> None:
    (folder / "nodes.csv").write_text(NODES)
    (folder / "edges.csv").write_text(EDGES)


def _damage_csv(folder: Path, random: Random) -> None:
    path = folder / random.choice(["nodes.csv", "nodes.csv", "edges.csv"])
    text = path.read_text()
    path.write_bytes(mutated_bytes(text.encode(), random) if random.random() < 0.4 else mutated_text(text, random))
    if random.random() < 0.1:
        path.rename(path.with_suffix(".tsv"))


def _parquet(folder: Path) -> None:
    cells: dict[str, Any] = {"id": list("abcd"), "label": ["x", "y", None, "x"], "f": [1.0, 2.5, 0.0, None]}
    nodes = pa.table({**cells, "g": ["red", "blue", "red", "blue"], "when": pa.array([1, 2, 3, 4], pa.date32())})
    edges = pa.table({"source": list("abc"), "target": list("bcd"), "weight": [1.0, 0.5, 2.0]})
    parquet.write_table(nodes, folder / "nodes.parquet")
    parquet.write_table(edges, folder / "edges.parquet", compression="zstd")


def _damage_parquet(folder: Path, random: Random) -> None:
    path = folder / random.choice(["nodes.parquet", "nodes.parquet", "edges.parquet"])
    if random.random() < 0.7:
        path.write_bytes(mutated_bytes(path.read_bytes(), random))
        return
    table = parquet.read_table(path)
    name = random.choice(table.column_names)
    kind = random.choice([pa.binary(), pa.large_string(), pa.int8(), pa.bool_(), pa.float16(), pa.null()])
    broken = pa.Array.from_buffers(
        pa.string(), 4, [None, pa.array([0, 1, 2, 3, 4], pa.int32()).buffers()[1], pa.py_buffer(b"a\xffb\xfe")]
    )
    cells = random.choice([pa.nulls(table.num_rows, kind), broken, pa.array([[1]] * table.num_rows)])
    if len(cells) == table.num_rows:
        table = table.set_column(table.column_names.index(name), name, cells)
    parquet.write_table(table, path)


def _read_tables(folder: Path) -> None:
    tables = Tables(str(folder))
    try:
        tables.load_known(Known(FORM, ("x", "y")))
    finally:
        made = tables.load()
        used(made.graph, made.split)


def _parts(folder: Path) -> None:
    graph, split = valid()
    described = {"name": "ring", "checksum": graph.checksum, "split": split.name}
    write_parts(folder / "parts", graph, split, cut(graph, split, assign(graph, 2)), described)


def _damage_parts(folder: Path, random: Random) -> None:
    path = random.choice(sorted((folder / "parts").iterdir()))
    manifest = folder / "parts" / "parts.json"
    if path == manifest:
        path.write_bytes(mutated_json(json.loads(path.read_text()), random))
        return
    if path.suffix == ".safetensors" and random.random() < 0.7:
        arrays = load(path.read_bytes())
        name = random.choice(sorted(arrays))
        arrays[name] = np.ascontiguousarray(mutated_array(arrays[name], random))
        if arrays[name].dtype.kind not in "USMc" and arrays[name].dtype.isnative:
            path.write_bytes(save(arrays))
    else:
        path.write_bytes(mutated_bytes(path.read_bytes(), random))
    # Whoever crafts a part makes its checksum right.
    told = json.loads(manifest.read_text())
    for item in (told["nodes"], *(part["file"] for part in told["parts"])):
        content = (folder / "parts" / item["name"]).read_bytes()
        item |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest.write_text(json.dumps(told))


def _read_parts(folder: Path) -> None:
    manifest = read_manifest(folder / "parts")
    for number in range(len(manifest.parts)):
        part = read_part(folder / "parts", manifest, number)
        assert np.asarray(part.adjacency @ np.ones(part.adjacency.shape[1])).shape == (part.num_nodes,)
    load_parted(folder / "parts")


def _model(folder: Path) -> None:
    model = TrainedModel("gcn", create("gcn"), ("a", "b"), 3, {"weight": torch.ones(3, 2)}, form=FORM)
    model.save(folder / "model.safetensors")


def _damage_model(folder: Path, random: Random) -> None:
    path = folder / "model.safetensors"
    if random.random() < 0.4:
        path.write_bytes(mutated_bytes(path.read_bytes(), random))
        return
    tensors, description = read_tensors(path)
    try:
        changed = json.loads(mutated_json(description, random))
    except (ValueError, RecursionError):
        return
    if isinstance(changed, dict):
        changed.pop("checksum", None)
        write_tensors(path, tensors, changed)


def _read_model(folder: Path) -> None:
    TrainedModel.load(folder / "model.safetensors")


@cache
def _fitted() -> bytes:
    from tempfile import TemporaryDirectory

    values = np.random.default_rng(0).normal(size=(6, 2))
    quick = LCGNNClassifier(base="mlp", label_consistency=False, epochs=1, base_epochs=1, random_state=0)
    with TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quick.fit(values, np.array([0, 1, 0, 1, 0, 1])).save(Path(name) / "model.safetensors")
        return (Path(name) / "model.safetensors").read_bytes()


def _classifier(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(_fitted())


def _read_classifier(folder: Path) -> None:
    LCGNNClassifier.load(folder / "model.safetensors")


RECORD = Record(
    run="r",
    dataset="d",
    method="m",
    settings={"a": 1},
    split=SplitSpec(),
    seed=0,
    graph="g",
    seconds=1.0,
    stages=(StageRecord("base", 1, 1, None, None, 0.5),),
    environment=Environment(),
)


def _records(folder: Path) -> None:
    Store(folder / "runs").add(RECORD)
    write_pack(folder / "pack.jsonl", [RECORD])


def _damage_records(folder: Path, random: Random) -> None:
    path = random.choice([folder / "runs" / "r.json", folder / "pack.jsonl"])
    path.write_bytes(mutated_json(json.loads(path.read_text()), random))


def _read_records(folder: Path) -> None:
    Store(folder / "runs").all()
    read_pack(folder / "pack.jsonl")


def _train(folder: Path) -> None:
    """Label propagation, which takes no time: what is refused is made again."""
    train(folder / "graph.npz", "lp", folds=2, workers=1, out=folder / "run")


def _training(folder: Path) -> None:
    graph, _ = valid()
    save_npz(folder / "graph.npz", graph, Split(graph.labelled, np.empty(0, np.int64), np.empty(0, np.int64)))
    _train(folder)


def _damage_training(folder: Path, random: Random) -> None:
    """Any of the files that a training leaves and looks at again."""
    paths = sorted((folder / "run").rglob("*.json"))
    for path in random.sample(paths, random.choice([1, 1, 2])):
        path.write_bytes(mutated_json(json.loads(path.read_text()), random))
    if random.random() < 0.1:
        (folder / "run" / "seed-0" / "predictions.csv").unlink()


def _read_training(folder: Path) -> None:
    own_section(folder)
    _train(folder)
    # Whatever was damaged is whole again.
    assert Summary.from_json(read_json(folder / "run" / "summary.json")).expected is not None
    assert len(FoldRecord.from_json(read_json(folder / "run" / "folds" / "fold-1.json")).nodes)
    assert (folder / "run" / "seed-0" / "predictions.csv").exists()


READERS = {
    "npz": Reader(_npz, _damage_npz, _read_npz),
    "arrays": Reader(_arrays, _damage_arrays, _read_arrays),
    "csv": Reader(_csv, _damage_csv, _read_tables),
    "parquet": Reader(_parquet, _damage_parquet, _read_tables),
    "parts": Reader(_parts, _damage_parts, _read_parts),
    "model": Reader(_model, _damage_model, _read_model),
    "classifier": Reader(_classifier, _damage_model, _read_classifier),
    "training": Reader(_training, _damage_training, _read_training),
    "records": Reader(_records, _damage_records, _read_records),
}


@cache
def template(name: str) -> dict[str, bytes]:
    """The files of a reader's valid input, by their paths."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        READERS[name].write(Path(folder))
        READERS[name].read(Path(folder))
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()
        }


def damaged(name: str, number: int, folder: Path) -> None:
    """Write the input of this number into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, content in template(name).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    READERS[name].damage(folder, Random(f"{name} {number}"))


def content_of(folder: Path) -> bytes:
    """All that is in a folder, to keep or to compare."""
    stream = io.BytesIO()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            stream.write(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return stream.getvalue()
