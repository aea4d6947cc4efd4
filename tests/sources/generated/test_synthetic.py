"""Generated graphs: the same for the same seed, as asked for, and never wholly in memory."""

import dataclasses
import tracemalloc

import numpy as np
import pytest

from lcgnn.errors import ConfigError, OutputError
from lcgnn.graph import UNLABELLED
from lcgnn.sources.arrays import load_arrays
from lcgnn.sources.generated.blocks import BLOCK, Blocks
from lcgnn.sources.generated.writing import write_arrays, write_tables
from lcgnn.sources.tables.source import Tables

SMALL = Blocks(4000, 30_000, num_features=8, num_classes=4, labels_per_class=5, community_size=200)


def generated(tmp_path, blocks, **options):
    write_arrays(blocks, tmp_path / "graph", **options)
    graph, split = load_arrays(tmp_path / "graph")
    return graph, split, np.load(tmp_path / "graph" / "truth.npy")


def endpoints(graph):
    return np.repeat(np.arange(graph.num_nodes), np.diff(graph.adjacency.indptr)), graph.adjacency.indices


def test_the_files_depend_on_the_seed_and_not_on_the_chunks(tmp_path):
    for name, chunk in (("one", 2**22), ("many", 5000), ("odd", 777)):
        write_arrays(SMALL, tmp_path / name, chunk=chunk)
    write_arrays(dataclasses.replace(SMALL, seed=1), tmp_path / "other")
    names = {path.name for path in (tmp_path / "one").iterdir()}
    assert names == {f"{name}.npy" for name in ("indptr", "indices", "features", "labels", "split", "truth")} | {
        "graph.json"
    }
    for name in names - {"graph.json"}:
        content = [(tmp_path / folder / name).read_bytes() for folder in ("one", "many", "odd", "other")]
        assert content[0] == content[1] == content[2]
        assert name == "truth.npy" or content[0] != content[3]


@pytest.mark.parametrize("consistency", [0.2, 0.5, 0.9])
def test_the_label_consistency_is_the_one_asked_for(tmp_path, consistency):
    graph, _, truth = generated(tmp_path, dataclasses.replace(SMALL, label_consistency=consistency))
    rows, columns = endpoints(graph)
    assert (truth[rows] == truth[columns]).mean() == pytest.approx(consistency, abs=0.03)


def test_degrees_have_a_heavy_tail_that_a_larger_exponent_shortens(tmp_path):
    degrees = []
    for name, exponent in (("heavy", 2.8), ("light", 8.0)):
        blocks = Blocks(20_000, 100_000, 2, 2, community_size=20_000, degree_exponent=exponent)
        write_arrays(blocks, tmp_path / name)
        degrees.append(np.diff(np.load(tmp_path / name / "indptr.npy")))
    assert degrees[0].max() > 20 * degrees[0].mean()
    assert degrees[1].max() < 8 * degrees[1].mean()
    # Hill's estimate of the exponent from the largest hundredth.
    largest = np.sort(degrees[0])[-200:]
    assert 1 + 1 / np.log(largest / largest[0]).mean() == pytest.approx(2.8, abs=0.5)


def test_edges_prefer_their_community(tmp_path):
    graph, _, _ = generated(tmp_path, SMALL)
    rows, columns = endpoints(graph)
    # Classes of 1000 nodes in communities of 200: neighbours in number are neighbours in the graph.
    assert (rows // 200 == columns // 200).mean() == pytest.approx(0.8 * (0.75 + 0.25 / 5), abs=0.04)


def test_class_sizes_follow_the_imbalance(tmp_path):
    _, _, truth = generated(tmp_path, dataclasses.replace(SMALL, imbalance=8.0))
    sizes = np.bincount(truth)
    assert sizes.sum() == SMALL.num_nodes
    np.testing.assert_allclose(sizes[:-1] / sizes[1:], 2, rtol=0.01)


def test_the_means_of_two_classes_are_as_far_apart_as_the_signal_says():
    blocks = Blocks(40_000, 10, num_features=64, num_classes=10, feature_signal=3.0)
    features, truth = np.concatenate(list(blocks.features())), blocks.labels(0, blocks.num_nodes)
    means = np.stack([features[truth == label].mean(axis=0) for label in range(10)])
    distances = np.linalg.norm(means[:, None] - means, axis=2)[np.triu_indices(10, 1)]
    assert distances.mean() == pytest.approx(3.0, rel=0.1)
    assert (features - means[truth]).std() == pytest.approx(1, abs=0.01)


def test_the_split_has_so_many_training_labels_of_every_class_and_hides_the_others(tmp_path):
    graph, split, truth = generated(tmp_path, SMALL)
    np.testing.assert_array_equal(np.bincount(truth[split.train]), [5, 5, 5, 5])
    assert split.validation.size == split.test.size == 400
    known = np.concatenate([split.train, split.validation, split.test])
    np.testing.assert_array_equal(graph.labels[known], truth[known])
    assert (np.delete(graph.labels, known) == UNLABELLED).all()


def test_memory_does_not_grow_with_the_number_of_edges(tmp_path):
    peaks = []
    for num_edges in (8 * BLOCK, 32 * BLOCK):
        tracemalloc.start()
        write_arrays(Blocks(10_000, num_edges, 2), tmp_path / str(num_edges), chunk=2**15)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_the_tables_hold_the_same_graph_as_the_arrays(tmp_path):
    graph, split, truth = generated(tmp_path, SMALL)
    write_tables(SMALL, tmp_path / "tables")
    made = Tables(str(tmp_path / "tables")).load()
    np.testing.assert_array_equal(made.graph.adjacency.indices, graph.adjacency.indices)
    np.testing.assert_array_equal(made.graph.labels, graph.labels)
    np.testing.assert_array_equal(made.split.train, split.train)
    lines = (tmp_path / "tables" / "truth.csv").read_text().splitlines()
    assert lines[1 + 3999] == f'3999,"class-{truth[3999]}"'


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"num_nodes": 100, "num_edges": 50, "labels_per_class": 20}, "smallest class has 25 nodes"),
        ({"num_nodes": 100}, "too many for 100 nodes"),
        ({"label_consistency": 1.5}, "in 0..1"),
        ({"num_classes": 1}, "2 or more"),
        ({"num_features": 0}, "1 or more each"),
    ],
)
def test_what_cannot_be_made_is_refused_before_anything_is_written(changed, message):
    with pytest.raises(ConfigError, match=message):
        dataclasses.replace(SMALL, **changed)


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(OutputError, match="there already"):
        write_arrays(SMALL, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
