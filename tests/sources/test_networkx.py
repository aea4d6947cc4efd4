"""A NetworkX graph with attributes becomes the graph of its nodes and edges."""

from typing import Any

import networkx as nx
import numpy as np
import pytest

from lcgnn import from_networkx
from lcgnn.errors import DataError


def friends() -> nx.Graph:
    graph = nx.Graph(name="friends")
    graph.add_node("ann", label="red", age=30, vector=[1.0, 2.0])
    graph.add_node("bob", label="blue", age=40, vector=[3.0, 1.0])
    graph.add_node("cem", age=None, vector=[0.0, 4.0])
    graph.add_node("dan", label=float("nan"), age=20)
    graph.add_edge("ann", "bob", weight=2.0)
    graph.add_edge("bob", "cem")
    return graph


def test_nodes_keep_their_order_names_labels_and_edges() -> None:
    made = from_networkx(friends())
    assert made.graph.name == "friends"
    assert made.graph.node_names.tolist() == ["ann", "bob", "cem", "dan"]
    assert made.graph.class_names == ("blue", "red")
    assert made.graph.labels.tolist() == [1, 0, -1, -1]
    expected = nx.to_numpy_array(friends())
    np.testing.assert_array_equal(made.graph.adjacency.toarray(), expected)


def test_attributes_become_features_and_lists_a_column_for_each_place() -> None:
    made = from_networkx(friends())
    assert [column.name for column in made.form.encoding.columns] == ["age", "vector[0]", "vector[1]"]
    assert all(column.marks_missing for column in made.form.encoding.columns)
    without = from_networkx(friends(), ignore=["vector"])
    assert [column.name for column in without.form.encoding.columns] == ["age"]


def test_without_attributes_features_are_made_of_the_edges() -> None:
    made = from_networkx(friends(), ignore=["vector", "age"])
    assert made.graph.num_features > 0
    assert not made.form.encoding.columns
    assert "made from the edges" in made.notes[-1]


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_directions_and_parallel_edges_are_merged(kind: Any) -> None:
    graph = kind(friends())
    graph.add_edge("bob", "ann", weight=5.0)
    adjacency = from_networkx(graph).graph.adjacency.toarray()
    assert adjacency[0, 1] == adjacency[1, 0] == 5.0
    assert adjacency[1, 2] == adjacency[2, 1] == 1.0


def test_the_weights_can_be_left_alone() -> None:
    adjacency = from_networkx(friends(), weight=None).graph.adjacency
    assert set(adjacency.data.tolist()) == {1.0}


def with_attribute(**values: Any) -> nx.Graph:
    graph = friends()
    graph.nodes["ann"].update(values)
    return graph


BAD = {
    "no graph": ([[0, 1]], {}, "list is no NetworkX graph"),
    "no such label": (friends(), {"label": "colour"}, "attribute 'colour'; there are 'label', 'age'"),
    "no attribute at all": (nx.path_graph(3), {}, "attribute 'label'; there are none"),
    "no edges": (nx.create_empty_copy(friends()), {}, "edges: the graph has none"),
    "values of several types": (with_attribute(age="thirty"), {}, "attribute 'age' has values of several types"),
    "lists of several lengths": (
        with_attribute(vector=[1.0]),
        {},
        "attribute 'vector' is a list of another length",
    ),
    "a list and a number": (with_attribute(vector=1.0), {}, "attribute 'vector' is a list of another length"),
    "two nodes of one name": (
        nx.relabel_nodes(friends(), {"ann": 1, "bob": "1"}),
        {},
        "node '1' was there before",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_graph_gets_one_line(kind: str) -> None:
    graph, named, message = BAD[kind]
    with pytest.raises(DataError) as caught:
        from_networkx(graph, **named)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
