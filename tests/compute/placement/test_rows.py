"""The normalised adjacency some rows at a time: to the bit what it is as a whole."""

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

from lcgnn.compute.placement import rows
from lcgnn.compute.placement.rows import NormalizedRows, node_blocks
from lcgnn.compute.sparse import normalized_adjacency


@pytest.fixture
def adjacency() -> csr_array:
    """Symmetric, with weights, some self-loops and a node that has no neighbour."""
    generator = np.random.default_rng(0)
    dense = np.triu(generator.random((60, 60)) * (generator.random((60, 60)) < 0.1))
    dense[7] = dense[:, 7] = 0
    return csr_array((dense + np.triu(dense, 1).T).astype(np.float32))


@pytest.mark.parametrize("entries", [1, 17, 2**20])
@pytest.mark.parametrize("nodes", [np.arange(60), np.arange(10, 31), np.array([3, 4, 9, 7, 59, 0])], ids=str)
def test_rows_in_blocks_are_the_rows_of_the_whole(adjacency, nodes, entries, monkeypatch):
    monkeypatch.setattr(rows, "ENTRIES", entries)
    found = csr_array(vstack(list(NormalizedRows.of(adjacency).blocks(nodes))))
    expected = normalized_adjacency(adjacency)[nodes]
    for part in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(found, part), getattr(expected, part))
    assert np.array_equal(NormalizedRows.of(adjacency).counts, np.diff(normalized_adjacency(adjacency).indptr))


def test_blocks_have_the_entries_that_they_may_and_one_node_at_least(adjacency, monkeypatch):
    monkeypatch.setattr(rows, "ENTRIES", 20)
    degree = np.diff(adjacency.indptr)
    found = list(node_blocks(adjacency, np.arange(60)))
    assert np.array_equal(np.concatenate(found), np.arange(60))
    assert all(block.size == 1 or degree[block].sum() <= 20 for block in found)
