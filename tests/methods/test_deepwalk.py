"""DeepWalk: walks that only use edges, vectors that repeat, nodes that no walk visits."""

from typing import Any

import numpy as np
import pytest

from lcgnn.compute.kernels.walks import random_walks
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, create

SPLIT = Split(np.array([0, 1, 10, 11]), np.array([2, 12]), np.arange(13, 20))


def two_cliques() -> Graph:
    """Nodes 0 to 9 and 10 to 19, one edge between them; node 20 is alone. No features."""
    cliques = [(i, j) for first in (0, 10) for i in range(first, first + 10) for j in range(first, i)]
    edges = np.array([*cliques, (9, 10)]).T
    labels = np.repeat([0, 1, 0], [10, 10, 1])
    return Graph.from_edges("cliques", edges, 21, labels, ("left", "right"))


def test_walks_only_use_edges(cora):
    graph, _ = cora
    walks = random_walks(graph.adjacency, np.arange(graph.num_nodes), 12, key=5)
    np.testing.assert_array_equal(walks[:, 0], np.arange(graph.num_nodes))
    steps = np.unique(np.stack([walks[:, :-1].ravel(), walks[:, 1:].ravel()]), axis=1)
    assert (graph.adjacency[steps[0], steps[1]] > 0).all()


def test_a_walk_from_a_node_without_neighbours_stays_there():
    assert (random_walks(two_cliques().adjacency, np.array([20]), 5, key=1) == 20).all()


def test_every_neighbour_is_equally_likely():
    walks = random_walks(two_cliques().adjacency, np.full(20_000, 10), 2, key=7)
    counts = np.bincount(walks[:, 1], minlength=20)[9:20]
    assert counts[1] == 0
    np.testing.assert_allclose(np.delete(counts, 1), 2000, rtol=0.1)


def test_the_same_key_gives_the_same_walks_and_another_key_others():
    adjacency, starts = two_cliques().adjacency, np.arange(20)
    walks = random_walks(adjacency, starts, 10, key=3)
    np.testing.assert_array_equal(walks, random_walks(adjacency, starts, 10, key=3))
    assert not np.array_equal(walks, random_walks(adjacency, starts, 10, key=4))


def test_two_cliques_without_features_are_told_apart():
    result = create("deepwalk", epochs=20).fit(two_cliques(), SPLIT)
    predictions = result.label_distribution.argmax(axis=1)
    assert (predictions[:20] == np.repeat([0, 1], 10)).mean() >= 0.95


def test_a_node_without_neighbours_gets_the_class_prior():
    split = Split(np.array([0, 1, 2, 10]), np.array([3, 12]), np.arange(13, 20))
    result = create("deepwalk", epochs=2).fit(two_cliques(), split)
    np.testing.assert_allclose(result.label_distribution[20], [0.75, 0.25])
    assert not result.tensors["vectors"][20].any()


def test_vectors_repeat_to_the_bit_and_differ_between_seeds():
    method: Any = create("deepwalk", epochs=3)
    graph = two_cliques()
    np.testing.assert_array_equal(method.embed(graph, seed=1), method.embed(graph, seed=1))
    assert not np.array_equal(method.embed(graph, seed=1), method.embed(graph, seed=2))


def test_progress_is_told_after_every_round_of_walks():
    told: list[Any] = []
    create("deepwalk", epochs=3).fit(two_cliques(), SPLIT, context=Context(progress=told.append))
    assert [progress.epoch for progress in told] == [1, 2, 3]
    assert {progress.epochs for progress in told} == {3}


def test_vectors_do_not_depend_on_pythons_hash_seed(tmp_path):
    """Two interpreters with different hash seeds, as two runs of the command line are."""
    import os
    import subprocess
    import sys

    script = tmp_path / "vectors.py"
    script.write_text(
        "import numpy as np, hashlib\n"
        "from lcgnn.graph import Graph\n"
        "from lcgnn.methods import create\n"
        "edges = np.array([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 2]])\n"
        "graph = Graph.from_edges('ring', edges, 5, np.zeros(5, int), ('only',))\n"
        "print(hashlib.sha256(create('deepwalk', epochs=2).embed(graph, 0).tobytes()).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, str(script)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.parametrize("train", [[20], [0, 1]])
def test_training_nodes_without_walks_or_of_one_class_break_nothing(train):
    split = Split(np.array(train), np.array([3, 12]), np.array([], dtype=np.int64))
    result = create("deepwalk", epochs=1).fit(two_cliques(), split)
    np.testing.assert_allclose(result.label_distribution.sum(axis=1), 1, rtol=1e-6)
