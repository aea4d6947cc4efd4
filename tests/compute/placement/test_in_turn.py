"""A graph in parts, one in memory at a time: the result of training on the whole graph, with less memory."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from lcgnn.compute.placement.disk import disk_tensor
from lcgnn.compute.placement.in_turn import PartwiseTensors
from lcgnn.compute.placement.whole import GraphTensors
from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import Graph
from lcgnn.methods import Context, create
from lcgnn.sources.arrays import load_arrays
from lcgnn.sources.generated.blocks import Blocks
from lcgnn.sources.generated.writing import write_arrays

BLOCKS = Blocks(1200, 6000, num_features=40, num_classes=4, labels_per_class=10, community_size=100)


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated") / "graph"
    write_arrays(BLOCKS, folder)
    return load_arrays(folder)


@pytest.fixture(scope="module")
def whole(generated):
    return create("lc-gcn", base_epochs=50, base_stop_window=0, epochs=50).fit(*generated)


@pytest.mark.parametrize("parts", [2, 3, 4])
def test_training_in_parts_gives_the_result_of_training_on_the_whole(generated, whole, parts):
    method = create("lc-gcn", base_epochs=50, base_stop_window=0, epochs=50)
    fit = method.fit(generated[0], generated[1], context=Context(parts=parts))
    for ours, expected in zip(fit.stages, whole.stages, strict=True):
        np.testing.assert_allclose(ours.history[:, :2], expected.history[:, :2], rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(ours.history[:, 2], expected.history[:, 2])
        assert ours.best_epoch == expected.best_epoch
        np.testing.assert_allclose(ours.label_distribution, expected.label_distribution, atol=1e-4)
    for name, value in whole.tensors.items():
        torch.testing.assert_close(fit.tensors[name], value, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("parts", [1, 3, 20])
def test_the_parts_products_make_up_the_whole_one(generated, parts):
    graph, _ = generated
    dense = torch.randn(graph.num_nodes, 5, generator=torch.Generator().manual_seed(0))
    tensors = PartwiseTensors(graph, parts)
    assert len(tensors.parts) == parts
    result = torch.cat([part.product(dense) for part in tensors.parts])
    torch.testing.assert_close(result, GraphTensors(graph).adjacency.product(dense), rtol=1e-5, atol=1e-6)


def test_self_loops_and_weights_are_taken_as_they_are():
    edges, weights = np.array([[0, 1, 2], [1, 2, 3]]), np.array([0.5, 2, 3])
    graph = Graph.from_edges("path", edges, 5, np.zeros(5), ("a",), weights=weights, features=np.eye(5))
    adjacency = graph.adjacency.toarray()
    adjacency[1, 1] = 4
    graph = replace(graph, adjacency=type(graph.adjacency)(adjacency))
    tensors = PartwiseTensors(graph, 3)
    result = torch.cat([part.product(torch.eye(5)) for part in tensors.parts])
    torch.testing.assert_close(result, GraphTensors(graph).adjacency.product(torch.eye(5)))


def test_wide_features_are_propagated_some_columns_at_a_time(generated):
    graph, _ = generated
    torch.testing.assert_close(
        PartwiseTensors(graph, 3).propagated, GraphTensors(graph).propagated, rtol=1e-5, atol=1e-6
    )


def test_a_tensor_on_disk_leaves_no_file_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tensor = disk_tensor(3, 2)
    tensor[1] = 7
    assert tensor.sum() == 14
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", ["lc-gat", "gcn-adjacency", "gcn-kipf"])
def test_what_cannot_be_trained_in_parts_says_so(generated, method):
    with pytest.raises(ConfigError, match="without parts"):
        create(method).fit(generated[0], generated[1], context=Context(parts=3))


def test_sparse_features_are_refused(cora):
    with pytest.raises(DataError, match="sparse features"):
        create("lc-gcn").fit(cora[0], cora[1], context=Context(parts=3))


def test_a_graph_has_at_most_as_many_parts_as_nodes(generated):
    with pytest.raises(ConfigError, match="1 to 1200 parts"):
        PartwiseTensors(generated[0], 1201)


_PEAK = """
import re, sys, threading
from pathlib import Path
from lcgnn.sources.arrays import load_arrays
from lcgnn.methods import Context, create

def anonymous():
    return int(re.search(r"RssAnon:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

context = Context(parts=int(sys.argv[3]))
method = create("lc-gcn", base_epochs=1, epochs=1)
method.fit(*load_arrays(Path(sys.argv[1])), context=context)  # Compiles.
graph, split = load_arrays(Path(sys.argv[2]))
before, peak = anonymous(), 0
done = threading.Event()
def watch():
    global peak
    while not done.wait(0.002):
        peak = max(peak, anonymous())
watcher = threading.Thread(target=watch)
watcher.start()
method.fit(graph, split, context=context)
done.set()
watcher.join()
print(peak - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_falls_with_the_number_of_parts(tmp_path):
    write_arrays(BLOCKS, tmp_path / "small")
    write_arrays(Blocks(40_000, 200_000, num_features=128, labels_per_class=10), tmp_path / "large")
    peaks = []
    for parts in ("1", "8"):
        command = [sys.executable, "-c", _PEAK, str(tmp_path / "small"), str(tmp_path / "large"), parts]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(tmp_path)}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        peaks.append(float(done.stdout))
    assert peaks[1] < 0.5 * peaks[0]
