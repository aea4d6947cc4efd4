"""What a graph looks like before any training, and whether its edges are likely to help."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from lcgnn.graph import UNLABELLED, Graph

# Fewer pairs of labelled nodes than this give no verdict. Of generated graphs with 4 to 6 pairs, 38 % got the
# opposite of the verdict that all labels give (likely for unlikely, or the reverse), with 7 to 15 pairs 24 %, with
# 31 to 50 pairs 11 %, with more 3 %.
_ENOUGH_PAIRS = 30
# Nor do pairs of which fewer would have different labels by chance, as where nearly all are of one class.
_ENOUGH_TO_DIFFER = 10
# Fewer pairs of one kind are not spoken of.
_WORTH_A_WORD = 10
# How far agreement goes beyond chance (0: not at all, 1: always) for each of the verdicts; what training then gave
# on generated graphs is in benchmarks/results/trust.md.
_STRONG, _WEAK = 0.4, 0.15
# How much likelier (in natural logarithms) negative agreement must be to be believed.
_CLEARLY = 3.0
# What to compare where neighbours differ: a method that can learn that, one without edges, and the usual one.
LEARNS_DIFFERENCES = "cheby"
_WHERE_THEY_DIFFER = f"lcgnn compare GRAPH --methods {LEARNS_DIFFERENCES},mlp,lc-gcn"
# A label in a part of the graph with fewer nodes is not worth a word.
_WORTH_A_LABEL = 5
# Beyond so many labels a class the network alone has enough to learn from.
_MANY_LABELS = 50


@dataclass(frozen=True)
class Agreement:
    """How often two labelled nodes that are close have the same label.

    Args:
        pairs: How many pairs of labelled nodes there are.
        share: The share of them with the same label; None for no pair.
        by_chance: The share to expect if labels were spread over the same nodes at random.
    """

    pairs: int
    share: float | None
    by_chance: float | None

    @property
    def beyond_chance(self) -> float | None:
        """0 if labels agree no more than by chance, 1 if they always agree, negative if they avoid each other."""
        if self.share is None or self.by_chance is None or self.by_chance >= 1:
            return None
        return (self.share - self.by_chance) / (1 - self.by_chance)

    def log_likelihood(self, beyond_chance: NDArray[np.float64]) -> NDArray[np.float64]:
        """How likely so many pairs with the same label are, for each of several agreements beyond chance."""
        chance, same = self.by_chance or 0.0, self.pairs * (self.share or 0.0)
        share = np.clip(chance + (1 - chance) * beyond_chance, 1e-3, 1 - 1e-3)
        return np.asarray(same * np.log(share) + (self.pairs - same) * np.log(1 - share))

    @classmethod
    def of(cls, mixing: NDArray[np.float64]) -> Agreement:
        """From a symmetric (C, C) count of ordered pairs by their labels."""
        total = float(mixing.sum())
        if not total:
            return cls(0, None, None)
        shares = mixing.sum(axis=1) / total
        return cls(round(total / 2), float(np.trace(mixing)) / total, float((shares**2).sum()))


@dataclass(frozen=True)
class ClassDiagnosis:
    """One class: how many labels it has, and the share of its nodes' labelled neighbours that are of it, too."""

    name: str
    labels: int
    consistency: float | None


@dataclass(frozen=True)
class Diagnosis:
    """What a graph looks like for the purpose of spreading few labels.

    Args:
        nodes, edges, features, classes, labelled: Sizes.
        components: Connected parts of the graph.
        largest_component: Share of the nodes in the largest of them.
        isolated: Nodes without an edge.
        out_of_reach: Nodes in parts of the graph that have no label at all.
        degree: The least, middle, mean and highest number of neighbours.
        degree_counts: How many nodes have 0, 1, 2-3, 4-7, ... neighbours.
        by_class: The classes.
        by_node: Mean over labelled nodes of the share of labelled neighbours that have their label.
        by_edge: Agreement of the two ends of an edge.
        by_two_steps: Agreement of two nodes with a common neighbour; they count once for each that they share.
        largest_out_of_reach: Nodes in the largest part of the graph that has no label at all.
        made_of_edges: Whether the features were made from the edges, and tell nothing beside them.
    """

    nodes: int
    edges: int
    features: int
    classes: int
    labelled: int
    components: int
    largest_component: float
    isolated: int
    out_of_reach: int
    degree: dict[str, float]
    degree_counts: tuple[int, ...]
    by_class: tuple[ClassDiagnosis, ...]
    by_node: float | None
    by_edge: Agreement
    by_two_steps: Agreement
    largest_out_of_reach: int = 0
    made_of_edges: bool = False

    @property
    def beyond_chance(self) -> float | None:
        """How far neighbours agree beyond chance, by edges and common neighbours together; None for too few pairs.

        If neighbours agree by lambda beyond chance, nodes two steps apart do by its square. The most likely
        lambda, given how many pairs of either kind have the same label, makes use of both. Only edges tell its
        sign, which is taken as positive unless they say clearly that neighbours differ.
        """
        kinds = [(self.by_edge, 1), (self.by_two_steps, 2)]
        known = [(kind, steps) for kind, steps in kinds if kind.beyond_chance is not None]
        if sum(kind.pairs for kind, _ in known) < _ENOUGH_PAIRS:
            return None
        if sum(kind.pairs * (1 - (kind.by_chance or 0.0)) for kind, _ in known) < _ENOUGH_TO_DIFFER:
            return None
        candidates = np.linspace(-1, 1, 201)
        likelihood = np.sum([kind.log_likelihood(candidates**steps) for kind, steps in known], axis=0)
        return float(candidates[np.argmax(likelihood - _CLEARLY * (candidates < 0))])

    @property
    def neighbours_differ(self) -> bool:
        """Whether neighbours clearly have the same label less often than by chance."""
        return (self.beyond_chance or 0.0) <= -_WEAK

    @property
    def alike_at_two_steps(self) -> float:
        """How far nodes with a common neighbour agree beyond chance; 0 for too few pairs to speak of."""
        return (self.by_two_steps.beyond_chance or 0.0) if self.by_two_steps.pairs >= _WORTH_A_WORD else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain data, with the verdict in words."""
        content = dataclasses.asdict(self)
        for name in ("by_edge", "by_two_steps"):
            content[name]["beyond_chance"] = getattr(self, name).beyond_chance
        return {**content, "beyond_chance": self.beyond_chance, "verdict": verdict(self)}


def diagnose_by(graph: Graph, nodes: NDArray[np.int64]) -> Diagnosis:
    """The same by the labels of these nodes alone."""
    labels = np.full(graph.num_nodes, UNLABELLED)
    labels[nodes] = graph.labels[nodes]
    return diagnose(dataclasses.replace(graph, labels=labels))


def diagnose(graph: Graph, *, made_of_edges: bool = False) -> Diagnosis:
    """Look at a graph and the labels that it has; nothing is trained.

    Args:
        graph: The graph.
        made_of_edges: Whether its features were made from its edges.
    """
    degrees = np.diff(graph.adjacency.indptr)
    count, component = connected_components(graph.adjacency, directed=False)
    sizes = np.bincount(component)
    unreached = np.setdiff1d(np.arange(count), component[graph.labelled])
    links = csr_array(graph.adjacency.astype(bool).astype(np.float64))
    one_hot = _one_hot(graph)
    around = csr_array(links @ one_hot)  # (N, C) labelled neighbours of every node, by class
    one_step = (one_hot.T @ around).toarray()
    # Walks a - b - c between labelled nodes; those that come back to where they began are no pair.
    two_steps = (around.T @ around).toarray() - np.diag(np.asarray(around.sum(axis=0)).ravel())
    return Diagnosis(
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        features=graph.num_features,
        classes=graph.num_classes,
        labelled=int(graph.labelled.size),
        components=int(count),
        largest_component=float(sizes.max() / graph.num_nodes),
        isolated=int((degrees == 0).sum()),
        out_of_reach=int(sizes[unreached].sum()),
        degree={
            "least": float(degrees.min()),
            "median": float(np.median(degrees)),
            "mean": float(degrees.mean()),
            "highest": float(degrees.max()),
        },
        degree_counts=_degree_counts(degrees),
        by_class=_by_class(graph, one_step),
        by_node=_by_node(graph),
        by_edge=Agreement.of(one_step),
        by_two_steps=Agreement.of(two_steps),
        largest_out_of_reach=int(sizes[unreached].max(initial=0)),
        made_of_edges=made_of_edges,
    )


def _one_hot(graph: Graph) -> csr_array:
    nodes = graph.labelled
    ones = np.ones(nodes.size)
    return csr_array((ones, (nodes, graph.labels[nodes])), shape=(graph.num_nodes, graph.num_classes))


def _degree_counts(degrees: NDArray[np.int32]) -> tuple[int, ...]:
    bins = np.where(degrees == 0, 0, np.floor(np.log2(np.maximum(degrees, 1))).astype(np.int64) + 1)
    return tuple(np.bincount(bins).tolist())


def _by_class(graph: Graph, mixing: NDArray[np.float64]) -> tuple[ClassDiagnosis, ...]:
    labels = np.bincount(graph.labels[graph.labelled], minlength=graph.num_classes)
    totals = mixing.sum(axis=1)
    return tuple(
        ClassDiagnosis(name, int(labels[row]), float(mixing[row, row] / totals[row]) if totals[row] else None)
        for row, name in enumerate(graph.class_names)
    )


def _by_node(graph: Graph) -> float | None:
    consistency = graph.label_consistency
    known = consistency[~np.isnan(consistency)]
    return float(known.mean()) if known.size else None


def verdict(diagnosis: Diagnosis) -> list[str]:
    """Whether the edges are likely to help, and why, a sentence each.

    How far neighbours agree does not tell whether label consistency adds to what its base makes of the edges.
    """
    if not diagnosis.labelled:
        return [
            "No node has a label yet. A page suggests which to label first: lcgnn label GRAPH. If the labels are "
            "in a column of another name: --label-column NAME."
        ]
    too_few = _too_few_labels(diagnosis)
    if too_few is not None:
        return [too_few, *_out_of_reach_in_words(diagnosis)]
    sentences = [_first_sentence(diagnosis)]
    fewest = min((one.labels for one in diagnosis.by_class), default=0)
    if fewest > _MANY_LABELS:
        sentences.append(
            f"With {fewest:,} labels of each class or more, the network alone may do as well as with label "
            "consistency: lcgnn compare GRAPH tells."
        )
    elif (diagnosis.beyond_chance or 0) >= _WEAK:
        sentences.append("Whether label consistency adds to that, lcgnn compare GRAPH tells.")
    return [*sentences, *_out_of_reach_in_words(diagnosis)]


def _out_of_reach_in_words(diagnosis: Diagnosis) -> list[str]:
    count, largest = diagnosis.out_of_reach, diagnosis.largest_out_of_reach
    if not count:
        return []
    share = f"{count / diagnosis.nodes:.0%}"
    which = f"{count:,} nodes ({share})" if share != "0%" else f"{count:,} nodes"
    where = "are in parts" if largest < count else "are in a part"
    described = diagnosis.features and not diagnosis.made_of_edges
    tells = "only their features tell their class" if described else "nothing tells their class"
    if count == 1:
        which, where, tells = "1 node", "is in a part", tells.replace("their", "its")
    said = f"{which} {where} of the graph without any label; {tells}."
    if largest < _WORTH_A_LABEL:
        return [said]
    return [f"{said} A label in the largest such part, of {largest:,} nodes, helps most."]


def _too_few_labels(diagnosis: Diagnosis) -> str | None:
    """What to do where no label of a class can be held out beside one of another; None where one can."""
    counts = [one.labels for one in diagnosis.by_class if one.labels]
    if len(counts) > 1 and max(counts) > 1:
        return None
    why = "All labels are of one class" if len(counts) == 1 else "No class has two labels"
    which = "nodes of other classes" if len(counts) == 1 else "more nodes"
    return (
        f"{why}, which cannot tell whether the edges help: label {which}. lcgnn suggest GRAPH says which nodes "
        "are worth it, and lcgnn label GRAPH shows them on a page."
    )


def _first_sentence(diagnosis: Diagnosis) -> str:
    beyond = diagnosis.beyond_chance
    if beyond is None:
        pairs = diagnosis.by_edge.pairs + diagnosis.by_two_steps.pairs
        if pairs >= _ENOUGH_PAIRS:
            return (
                f"Of the {pairs} pairs of labelled nodes that are close to each other nearly all are of one "
                "class, which cannot tell whether the edges help: label more nodes of other classes, or compare "
                "methods with and without edges (lcgnn compare GRAPH)."
            )
        return (
            f"Too few labelled nodes are close to each other to tell whether the edges help ({pairs} "
            f"pair{'s' * (pairs != 1)}; a verdict takes {_ENOUGH_PAIRS}): label more, or compare methods with and "
            "without edges (lcgnn compare GRAPH)."
        )
    seen = _seen(diagnosis)
    if beyond >= _STRONG:
        return f"The edges are likely to help: {seen}."
    if beyond >= _WEAK:
        return f"The edges may help a little: {seen}."
    if diagnosis.neighbours_differ and diagnosis.alike_at_two_steps >= _WEAK:
        much = "a lot" if diagnosis.alike_at_two_steps >= _STRONG else "something"
        return (
            f"Neighbours tend to differ, but nodes with a common neighbour are alike: {seen}. So the edges tell "
            f"{much} to a method that can learn that: {_WHERE_THEY_DIFFER}."
        )
    why = "They say little about the labels: lcgnn compare GRAPH tells whether methods without them do better"
    if diagnosis.neighbours_differ:
        why = f"Neighbours tend to differ: try {_WHERE_THEY_DIFFER}"
    return f"The edges are unlikely to help: {seen}. {why}."


def advice_where_neighbours_differ(diagnosis: Diagnosis) -> str | None:
    """What to try beside methods for neighbours that are alike; None where neighbours do not clearly differ."""
    if not diagnosis.neighbours_differ:
        return None
    alike = " and nodes with a common neighbour are alike" if diagnosis.alike_at_two_steps >= _WEAK else ""
    return f"a method that can learn that neighbours differ{alike}: {_WHERE_THEY_DIFFER}."


def _seen(diagnosis: Diagnosis) -> str:
    kinds = (diagnosis.by_edge, "that an edge joins"), (diagnosis.by_two_steps, "that share a neighbour")
    return "; ".join(
        f"of {kind.pairs:,} pairs of labelled nodes {where}, {kind.share:.0%} have the same label "
        f"({kind.by_chance:.0%} would by chance)"
        for kind, where in kinds
        if kind.share is not None and kind.pairs >= _WORTH_A_WORD
    )
