"""Which nodes are suggested on graphs where that can be told by hand, and what holds for every strategy."""

from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lcgnn.assessment.suggestion import (
    Landscape,
    Question,
    Strategy,
    Suggester,
    coverage,
    register,
    strategies,
    strategy,
)
from lcgnn.assessment.suggestion.clusters import far_apart, k_means, nearest
from lcgnn.assessment.suggestion.pairs import Among, Pairs
from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import UNLABELLED, Graph

EVERY = sorted(strategies())
# Those that look for parts of the graph that nothing labelled is near.
SPREADING = ("spread", "featprop", "coverage")


def cliques(*sizes: int, features: bool = True, width: int = 8) -> tuple[Graph, NDArray[np.int64]]:
    """Cliques side by side, each with features of its own (with a little noise), and which clique nodes are in."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    edges = [
        pair for number in range(len(sizes)) for pair in combinations(np.flatnonzero(group == number).tolist(), 2)
    ]
    noise = np.random.default_rng(0).random((group.size, width)).astype(np.float32)
    values = np.eye(len(sizes), width, dtype=np.float32)[group] + 0.02 * noise
    ends = np.array(edges).T if edges else np.empty((2, 0), dtype=np.int64)
    graph = Graph.from_edges(
        "cliques", ends, group.size, np.full(group.size, UNLABELLED), (), features=values if features else None
    )
    return graph, group


def suggested(graph: Graph, name: str, labelled: list[int], count: int, **given: object) -> list[int]:
    return [item.node for item in Suggester(graph, name).suggest(labelled, count, **given)]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SPREADING)
def test_two_cliques_get_one_suggestion_each(name: str) -> None:
    graph, group = cliques(6, 6)
    assert sorted(group[suggested(graph, name, [], 2)]) == [0, 1]


@pytest.mark.parametrize("name", SPREADING)
def test_the_clique_without_a_label_is_suggested_next(name: str) -> None:
    graph, group = cliques(7, 5, 6)
    for other in range(3):
        labelled = [int(np.flatnonzero(group == number)[0]) for number in range(3) if number != other]
        assert group[suggested(graph, name, labelled, 1)].tolist() == [other]


def test_the_largest_part_of_a_graph_comes_first() -> None:
    graph, group = cliques(10, 30, 20)
    assert group[suggested(graph, "spread", [], 3)].tolist() == [1, 2, 0]


def test_a_suggestion_says_how_many_nodes_it_stands_for() -> None:
    graph, _ = cliques(10, 30, 20)
    found = Suggester(graph).suggest([], 3)
    assert [item.stands_for for item in found] == [30, 20, 10]
    assert found[0].reason == "Stands for about 30 nodes."
    (last,) = Suggester(graph).suggest([0, 10], 1)
    assert (last.stands_for, last.reason) == (20, "Stands for about 20 nodes that nothing labelled is near.")


def test_nodes_where_a_labelled_one_lies_are_not_said_to_have_nothing_labelled_near() -> None:
    # One feature at unit length is one of two places.
    features = np.where(np.arange(12) < 8, 1.0, -1.0).astype(np.float32)[:, None]
    graph = Graph.from_edges("line", np.array([[0], [1]]), 12, np.full(12, -1), (), features=features)
    on_top = Suggester(graph).suggest([0, 11], 3)
    assert {item.reason for item in on_top} == {"Stands for itself alone."}
    (other,) = Suggester(graph).suggest([0], 1)
    assert other.reason == "Stands for about 4 nodes that nothing labelled is near."


def test_cliques_are_told_apart_by_their_edges_where_there_are_no_features() -> None:
    graph, group = cliques(12, 12, 12, features=False)
    assert sorted(group[suggested(graph, "spread", [], 3)]) == [0, 1, 2]


def test_of_equal_clusters_the_one_comes_first_that_the_model_is_unsure_of() -> None:
    graph, group = cliques(8, 8, 8)
    sure, unsure = [0.98, 0.01, 0.01], [0.4, 0.3, 0.3]
    for other in (1, 2):
        answers = np.array([unsure if number == other else sure for number in group], dtype=np.float32)
        (first, second) = Suggester(graph).suggest([0], 2, labels=[0], distribution=answers)
        assert (group[first.node], group[second.node]) == (other, 3 - other)
        assert first.reason.startswith("The model is unsure (no class has more than 40%); stands for")
        assert second.reason.startswith("Stands for")


def test_the_least_sure_node_is_the_first_by_uncertainty() -> None:
    graph, _ = cliques(4)
    answers = np.array([[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [1.0, 0.0]], dtype=np.float32)
    assert suggested(graph, "uncertainty", [], 4, distribution=answers) == [1, 2, 0, 3]


def test_the_centre_of_a_star_has_the_highest_degree() -> None:
    ends = np.array([[5, 0], [5, 1], [5, 2], [5, 3], [3, 4]]).T
    graph = Graph.from_edges("star", ends, 6, np.full(6, -1), ())
    found = Suggester(graph, "degree").suggest([], 2)
    assert [item.node for item in found] == [5, 3]
    assert found[0].reason.startswith("Has 4 neighbours; stands for")


def test_pagerank_is_that_of_networkx() -> None:
    known = nx.gnm_random_graph(40, 60, seed=3)
    ends = np.array(known.edges).T
    graph = Graph.from_edges("random", ends, 40, np.full(40, -1), ())
    assert (np.diff(graph.adjacency.indptr) == 0).any()
    expected = nx.pagerank(known, alpha=0.85, tol=1e-12)
    np.testing.assert_allclose(Landscape(graph).pagerank, [expected[node] for node in range(40)], atol=1e-8)


def test_age_without_a_model_and_without_labels_ranks_by_pagerank_almost_alone() -> None:
    ends = np.array([[0, node] for node in range(1, 30)]).T
    graph = Graph.from_edges("star", ends, 30, np.full(30, -1), (), features=np.eye(30, dtype=np.float32))
    assert suggested(graph, "age", [], 1) == [0]


def test_one_medoid_has_the_least_distance_to_all_others() -> None:
    graph, _ = cliques(9, 5, 4)
    places = Landscape(graph).propagated
    total = np.linalg.norm(places[:, None] - places[None], axis=2).sum(axis=1)
    assert suggested(graph, "featprop", [], 1) == [int(total.argmin())]


def test_coverage_is_greedy_over_what_is_activated_and_what_is_near_it() -> None:
    known = nx.gnm_random_graph(30, 35, seed=1)
    values = np.random.default_rng(0).random((30, 3)).astype(np.float32)
    graph = Graph.from_edges("random", np.array(known.edges).T, 30, np.full(30, -1), (), features=values)
    places = Landscape(graph).propagated.astype(np.float64)
    unit = places / np.linalg.norm(places, axis=1, keepdims=True)
    balls = [set(np.flatnonzero(np.linalg.norm(unit - row, axis=1) / 2 <= 0.05).tolist()) for row in unit]
    activated = [set(nx.ego_graph(known, node, radius=2)) for node in range(30)]
    covered = [set().union(*(balls[other] for other in activated[node])) for node in range(30)]
    expected: list[int] = []
    for _ in range(5):
        seen = [set().union(*(sets[node] for node in expected)) for sets in (activated, covered)]
        gains = [len(activated[node] - seen[0]) + len(covered[node] - seen[1]) for node in range(30)]
        expected.append(max((node for node in range(30) if node not in expected), key=lambda node: gains[node]))
    assert suggested(graph, "coverage", [], 5) == expected


def test_coverage_refuses_a_graph_whose_pairs_do_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, _ = cliques(50, 50)
    monkeypatch.setenv("LCGNN_MEMORY_GB", "1e-6")
    with pytest.raises(DataError, match="'coverage', which compares all pairs of nodes, needs"):
        suggested(graph, "coverage", [], 2)


def test_coverage_compares_all_pairs_at_its_first_question_only(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, _ = cliques(9, 5, 4)
    suggester = Suggester(graph, "coverage")
    first = [item.node for item in suggester.suggest([], 2)]
    monkeypatch.setattr(coverage, "_balls", None)
    assert [item.node for item in suggester.suggest(first[:1], 1)] == first[1:]


@pytest.mark.parametrize("width", [3, 300])
def test_pairs_are_as_far_apart_kept_or_not(width: int) -> None:
    places = np.random.default_rng(0).random((40, width)).astype(np.float32)
    some, others = np.array([3, 1, 7]), np.arange(10, 30)
    expected = ((places[some][:, None].astype(np.float64) - places[others]) ** 2).sum(axis=2)
    np.testing.assert_allclose(Pairs(places).squared(some, others), expected, rtol=1e-4)
    which, distance = Among(Pairs(places), others).nearest(some)
    np.testing.assert_array_equal(which, expected.argmin(axis=0))
    np.testing.assert_allclose(distance, expected.min(axis=0), rtol=1e-4)


@pytest.mark.parametrize("name", EVERY)
def test_the_graphs_own_labels_are_not_read(name: str) -> None:
    graph, group = cliques(9, 5, 4)
    told = replace(graph, labels=group, class_names=("a", "b", "c"))
    assert suggested(told, name, [1, 2], 6) == suggested(graph, name, [1, 2], 6)


def rings(*sizes: int) -> Graph:
    """Rings side by side, each with features of its own; unlike those of a clique, no two nodes are alike."""
    graph, group = cliques(*sizes)
    starts = np.cumsum([0, *sizes[:-1]])
    following = [
        start + (node + 1) % size for start, size in zip(starts, sizes, strict=True) for node in range(size)
    ]
    ends = np.stack([np.arange(group.size), following])
    return Graph.from_edges("rings", ends, group.size, graph.labels, (), features=graph.features)


@pytest.mark.parametrize("name", ["spread", "featprop"])
def test_other_numbers_for_the_nodes_give_the_same_nodes(name: str) -> None:
    graph = rings(11, 9, 7, 6)
    order = np.random.default_rng(5).permutation(graph.num_nodes)
    assert isinstance(graph.features, np.ndarray)
    moved = Graph("moved", csr_array(graph.adjacency[order][:, order]), graph.labels, (), graph.features[order])
    found, again = suggested(graph, name, [0], 3), suggested(moved, name, [int(np.flatnonzero(order == 0)[0])], 3)
    assert sorted(order[again]) == sorted(found)


def test_the_places_of_few_features_are_the_propagated_ones_at_unit_length() -> None:
    graph, _ = cliques(4, 3)
    loops = graph.adjacency.toarray() + np.eye(7)
    scale = 1 / np.sqrt(loops.sum(axis=1))
    smooth = scale[:, None] * loops * scale
    expected = smooth @ smooth @ graph.features
    np.testing.assert_allclose(Landscape(graph).propagated, expected, rtol=1e-5)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(Landscape(graph).places, expected, rtol=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
def test_main_directions_keep_all_distances_of_features_that_have_no_more(sparse: bool) -> None:
    graph, _ = cliques(20, 15, 25)
    random = np.random.default_rng(2)
    values = (random.normal(size=(60, 6)) @ random.normal(size=(6, 200))).astype(np.float32)
    wide = replace(graph, features=csr_array(values) if sparse else values)
    exact, found = Landscape(wide).propagated, Landscape(wide).directions
    assert found.shape == (60, 16)
    np.testing.assert_allclose(
        found @ found.T, exact @ exact.T, rtol=1e-3, atol=1e-3 * float(np.abs(exact).max()) ** 2
    )


@pytest.mark.parametrize("unit", [2.0**100, 2.0**-100])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_unit_of_the_features_does_not_matter(unit: float, sparse: bool) -> None:
    graph = rings(12, 9, 7)
    assert isinstance(graph.features, np.ndarray)
    values = graph.features * np.float32(unit)
    scaled = replace(graph, features=csr_array(values) if sparse else values)
    for name in SPREADING:
        assert suggested(scaled, name, [0], 4) == suggested(graph, name, [0], 4)


@st.composite
def questions(draw: st.DrawFn) -> tuple[Graph, list[int], list[int], int, NDArray[np.float32] | None]:
    """A graph of any shape, labelled and excluded nodes, a number that may be asked for, and what a model says."""
    size = draw(st.integers(2, 14))
    nodes = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(nodes, nodes), max_size=30))
    width = draw(st.sampled_from([None, 1, 3, 20]))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    features = None if width is None else random.integers(0, 2, (size, width)).astype(np.float32)
    ends = np.array(edges).reshape(-1, 2).T
    graph = Graph.from_edges("any", ends, size, np.full(size, -1), (), features=features)
    labelled = sorted(draw(st.sets(nodes, max_size=size - 1)))
    excluded = sorted(draw(st.sets(nodes, max_size=3)) - set(labelled))
    answers = random.dirichlet([0.5] * 3, size).astype(np.float32) if draw(st.booleans()) else None
    return graph, labelled, excluded, draw(st.integers(1, size + 1)), answers


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=25)
@given(asked=questions())
def test_suggestions_are_different_free_nodes_as_many_as_asked_for_and_the_same_again(
    name: str, asked: tuple[Graph, list[int], list[int], int, NDArray[np.float32] | None]
) -> None:
    graph, labelled, excluded, count, answers = asked
    suggester = Suggester(graph, name)
    found = suggester.suggest(labelled, count, distribution=answers, excluded=excluded, seed=4)
    free = set(range(graph.num_nodes)) - set(labelled) - set(excluded)
    nodes = [item.node for item in found]
    assert len(set(nodes)) == len(nodes) == min(count, len(free))
    assert set(nodes) <= free
    assert 0 <= sum(item.stands_for for item in found) <= graph.num_nodes - len(labelled)
    for item in found:
        assert item.reason[0].isupper()
        assert item.reason.endswith(".")
        assert "\n" not in item.reason
    assert (
        Suggester(graph, name).suggest(labelled, count, distribution=answers, excluded=excluded, seed=4) == found
    )


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 99))
def test_the_nearest_centre_is_the_nearest_by_all_distances(size: int, count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    places, centres = (random.normal(size=(rows, 3)).astype(np.float32) for rows in (size, count))
    squared = ((places[:, None] - centres[None]) ** 2).sum(axis=2)
    which, distance = nearest(places, centres)
    np.testing.assert_allclose(distance, squared.min(axis=1), atol=1e-4)
    np.testing.assert_allclose(squared[np.arange(size), which], squared.min(axis=1), atol=1e-4)


def test_clusters_are_those_of_scikit_learn() -> None:
    from sklearn.cluster import KMeans

    random = np.random.default_rng(0)
    places = np.concatenate([random.normal(middle, 0.1, (20, 2)) for middle in (0, 3, 7)]).astype(np.float32)
    weights = random.random(60)
    theirs = KMeans(3, n_init=5, random_state=0).fit(places, sample_weight=weights)
    ours = k_means(places, 3, np.random.default_rng(1), weights=weights)
    assert ours.scatter == pytest.approx(theirs.inertia_, rel=1e-3)
    np.testing.assert_allclose(np.sort(ours.centres[:, 0]), np.sort(theirs.cluster_centers_[:, 0]), rtol=1e-4)


def test_clusters_leave_room_for_what_is_given() -> None:
    places = np.array([[0, 0], [0, 1], [5, 5], [5, 6]], dtype=np.float32)
    beside = nearest(places, places[:1])[1]
    found = k_means(places, 1, np.random.default_rng(0), beside=beside)
    np.testing.assert_allclose(found.centres, [[5, 5.5]])
    assert found.members(places, beside).tolist() == [1, 1, 0, 0]


def test_places_that_are_all_the_same_are_still_drawn_once_each() -> None:
    assert sorted(far_apart(np.ones((5, 2), dtype=np.float32), 5, np.random.default_rng(0))) == list(range(5))


def test_with_many_labels_the_part_without_one_is_found_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lcgnn.assessment.suggestion.spread._MOST_WITH_CLUSTERS", 3)
    graph, group = cliques(12, 9, 9)
    labelled = np.flatnonzero(group != 1)[:-1].tolist()
    assert group[suggested(graph, "spread", labelled, 1)].tolist() == [1]


def test_clusters_of_a_large_graph_are_found_on_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lcgnn.assessment.suggestion.spread._SAMPLE", 20)
    monkeypatch.setattr("lcgnn.assessment.suggestion.spread._SAMPLE_OF_CLUSTER", 5)
    graph, group = cliques(40, 30, 30)
    assert sorted(group[suggested(graph, "spread", [], 3)]) == [0, 1, 2]


def test_a_strategy_is_one_class_and_a_registration() -> None:
    @register("last", "The nodes with the highest numbers.")
    class Last(Strategy):
        def choose(self, landscape: Landscape, question: Question) -> NDArray[np.int64]:  # noqa: ARG002
            return question.candidates[::-1][: question.count]

        def reason(self, landscape: Landscape, question: Question, node: int) -> str:  # noqa: ARG002
            return f"is number {node}"

    try:
        found = Suggester(cliques(4)[0], "last").suggest([3], 2)
        assert [item.node for item in found] == [2, 1]
        assert found[0].reason.startswith("Is number 2; stands for")
    finally:
        from lcgnn.assessment.suggestion import base

        del base._REGISTRY["last"]


def test_a_strategy_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(
        ConfigError, match=r"no strategy 'spred'. Did you mean 'spread'\? There are: age, coverage"
    ):
        strategy("spred")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"labelled": [], "count": 0}, "0 suggestions asked for"),
        ({"labelled": [9], "count": 1}, "labelled nodes must be a list of numbers from 0 to 4"),
        ({"labelled": [0.5], "count": 1}, "labelled nodes must be a list of numbers"),
        ({"labelled": [], "count": 1, "excluded": [-1]}, "excluded nodes must be"),
        ({"labelled": [1], "count": 1, "labels": [0, 1]}, "2 labels for 1 labelled nodes"),
        (
            {"labelled": [1], "count": 1, "distribution": np.ones((4, 2))},
            "distribution for 4 nodes; the graph has 5",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Suggester(cliques(5)[0]).suggest(**given)  # type: ignore[arg-type]


def test_where_nothing_is_left_nothing_is_suggested() -> None:
    assert Suggester(cliques(3)[0]).suggest([0, 1, 2], 5) == ()
