"""Rows and nodes go together by name or by number; their order says nothing."""

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from lcgnn import LCGNNClassifier, from_arrays
from lcgnn.errors import InputError
from lcgnn.sources.links import links_of, rows_by_name

NAMES = ["dan", "ann", "eve", "bob", "cem", "fay"]
EDGES = [("ann", "bob"), ("bob", "cem"), ("dan", "eve"), ("eve", "fay")]
INSERTED = ["fay", "cem", "ann", "eve", "dan", "bob"]


def graph_of(names: list[Any], edges: list[tuple[Any, Any]]) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(names)
    graph.add_weighted_edges_from((one, two, place + 1.0) for place, (one, two) in enumerate(edges))
    return graph


def expected(names: list[Any]) -> np.ndarray:
    """Entry by entry, by name."""
    matrix = np.zeros((len(names), len(names)))
    for place, (one, two) in enumerate(EDGES):
        matrix[names.index(one), names.index(two)] = matrix[names.index(two), names.index(one)] = place + 1.0
    return matrix


def matrix_of(adjacency: Any, names: list[Any] | None, num_nodes: int = 6) -> np.ndarray:
    links = links_of(adjacency, num_nodes, names)
    matrix = np.zeros((num_nodes, num_nodes))
    matrix[links.edges[0], links.edges[1]] = 1 if links.weights is None else links.weights
    return matrix


@pytest.mark.parametrize("inserted", [NAMES, INSERTED, sorted(NAMES)])
def test_named_nodes_are_found_in_whatever_order_they_were_inserted(inserted: list[str]) -> None:
    graph = graph_of(inserted, EDGES)
    np.testing.assert_array_equal(matrix_of(graph, NAMES), expected(NAMES))
    frame = nx.to_pandas_adjacency(graph)
    np.testing.assert_array_equal(matrix_of(frame, NAMES), expected(NAMES))


@pytest.mark.parametrize("rows", [None, list(range(6)), [3, 1, 4, 0, 5, 2], [str(name) for name in range(6)]])
def test_numbered_nodes_are_found_by_number(rows: list[Any] | None) -> None:
    edges = [(0, 1), (1, 2), (3, 4), (4, 5)]
    graph = graph_of([5, 3, 0, 1, 4, 2], edges)
    names = [int(name) for name in rows or range(6)]
    matrix = matrix_of(graph, rows)
    for place, (one, two) in enumerate(edges):
        assert matrix[names.index(one), names.index(two)] == place + 1


@pytest.mark.parametrize(
    ("nodes", "rows"),
    [
        (NAMES, None),
        (NAMES, ["dan", "ann", "eve", "bob", "cem", "somebody"]),
        (NAMES, list(range(6))),
        (list(range(1, 7)), None),
        (list(range(6)), NAMES),
        ([0.5, 1.5, 2.5, 3.5, 4.5, 5.5], None),
    ],
)
def test_what_cannot_be_matched_is_refused_with_what_to_do(nodes: list[Any], rows: list[Any] | None) -> None:
    with pytest.raises(InputError, match=r"which row it is cannot be known\. Give X as a data frame"):
        rows_by_name(nodes, rows)


@pytest.mark.parametrize("graph", [nx.Graph(), nx.path_graph(5)])
def test_a_graph_of_another_size_is_refused(graph: nx.Graph) -> None:
    with pytest.raises(InputError, match=r"for 6 rows"):
        links_of(graph, 6)


def test_a_weight_that_is_no_number_is_refused() -> None:
    graph = nx.path_graph(6)
    graph.edges[0, 1]["weight"] = "strong"
    with pytest.raises(InputError, match="some weight is not a number"):
        links_of(graph, 6)


def test_arrays_with_node_names_go_by_them() -> None:
    made = from_arrays(np.eye(6), [0, 1, -1, 0, 1, -1], graph_of(INSERTED, EDGES), node_names=NAMES)
    np.testing.assert_array_equal(made.graph.adjacency.toarray(), expected(NAMES))
    with pytest.raises(InputError, match="the rows have no names"):
        from_arrays(np.eye(6), [0, 1, -1, 0, 1, -1], graph_of(INSERTED, EDGES))


def test_the_classifier_gives_every_row_the_same_answer_in_any_order() -> None:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(6, 3)), index=NAMES, columns=list("xyz"))
    y = pd.Series([0, 1, 0, 1, 1, 0], index=NAMES)
    quick: dict[str, Any] = {"base_epochs": 3, "epochs": 2, "random_state": 0}
    ordered = LCGNNClassifier(**quick).fit(frame, y, adjacency=graph_of(NAMES, EDGES))
    other = LCGNNClassifier(**quick).fit(frame, y, adjacency=graph_of(INSERTED, EDGES))
    np.testing.assert_array_equal(other.label_distributions_, ordered.label_distributions_)
    again = ordered.predict_proba(frame, graph_of(INSERTED, EDGES))
    np.testing.assert_allclose(again, ordered.label_distributions_, atol=1e-6)
    assert ordered.score(frame, y, adjacency=graph_of(INSERTED, EDGES)) == ordered.score(frame, y)
    turned = frame.loc[INSERTED]
    np.testing.assert_allclose(
        ordered.predict_proba(turned, graph_of(NAMES, EDGES)),
        ordered.label_distributions_[[NAMES.index(name) for name in INSERTED]],
        atol=1e-6,
    )
    with pytest.raises(InputError, match="the rows have no names"):
        LCGNNClassifier(**quick).fit(frame.to_numpy(), y, adjacency=graph_of(INSERTED, EDGES))
