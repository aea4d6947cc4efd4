r"""Given labels that look wrong, by what models that had not seen them predict (confident learning).

Northcutt, Jiang and Chuang, *Confident learning: estimating uncertainty in dataset labels* (JAIR 2021): with
:math:`p_j(x)` the held-out probability of class j, a node counts as being of class j if its probability reaches
what the nodes that were given j have on average, the threshold

.. math:: t_j = \frac{1}{|X_j|} \sum_{x \in X_j} p_j(x),

and of several such classes it is of the most probable one. Counted by given and by found class this is the
confident joint; what lies beside its diagonal is doubted, unless the given class is the most probable one after
all; the most probable one is what it looks to be of. The thresholds make up for classes of which a model is less
sure.

A model that had few labels is often wrong itself, and doubts more labels than anybody would look through. So at
most a fifth of the labels is listed, those that fall short of their class's threshold most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.direction import isolated
from lcgnn.errors import InputError
from lcgnn.graph import UNLABELLED, Graph

NONE = -1
"""In place of a class: the node reaches no class's threshold."""

# Classes of neighbours that are named in a reason.
_NAMED = 3
# The share of the labels that is listed at most.
_MOST_DOUBTED = 0.2


@dataclass(frozen=True)
class Doubt:
    """A given label that looks wrong.

    Args:
        node: Whose label it is.
        given: The class that it was given.
        instead: The class that it looks to be of, the most probable one.
        probability: That the models give to that class, without having seen the label.
        reason: Why, in a sentence or two.
        of_given: The probability that they give to the given class.
    """

    node: int
    given: int
    instead: int
    probability: float
    reason: str
    of_given: float = 0.0

    def to_json(self, graph: Graph) -> dict[str, Any]:
        """As plain data, with the names that the graph has for the node and the classes."""
        return {
            "node": self.node,
            "id": name_of_node(graph, self.node),
            "given": graph.class_names[self.given],
            "instead": graph.class_names[self.instead],
            "probability": round(self.probability, 6),
            "probability_of_given": round(self.of_given, 6),
            "reason": self.reason,
        }


def doubtful_labels(
    labels: NDArray[np.int64],
    nodes: NDArray[np.int64],
    held_out: NDArray[np.floating[Any]],
    *,
    graph: Graph | None = None,
    answers: NDArray[np.floating[Any]] | None = None,
) -> tuple[Doubt, ...]:
    """The labels that look wrong, the most doubtful first.

    Args:
        labels: (N,) the given classes of all nodes of the graph, -1 where none is to be known.
        nodes: (n,) those whose label was held out.
        held_out: (n, C) what models that had not seen a node's label predict for it.
        graph: Gives the reasons names and neighbours; None for reasons without.
        answers: (N, C) what is predicted for all nodes, for neighbours without a label; None if that is not known.
    """
    given, distribution = _checked(labels, nodes, held_out)
    found = confident_classes(given, distribution)
    likeliest = distribution.argmax(axis=1)
    doubted = np.flatnonzero((found != NONE) & (found != given) & (likeliest != given))
    # Of equal ones the first node, whatever order they were held out in.
    score = np.round(suspicion(given, distribution)[doubted], 12)
    order = doubted[np.lexsort((nodes[doubted], -score))][: math.ceil(_MOST_DOUBTED * given.size)]
    soft = soft_classes(given, distribution)
    classes = [f"class {label}" for label in range(distribution.shape[1])] if graph is None else graph.class_names
    names = [isolated(name) for name in classes]
    return tuple(
        Doubt(
            node=int(nodes[row]),
            given=int(given[row]),
            instead=int(likeliest[row]),
            probability=float(distribution[row, likeliest[row]]),
            reason=" ".join(
                [
                    *_by_models(int(given[row]), int(likeliest[row]), distribution[row], names),
                    *([] if graph is None else _by_neighbours(graph, labels, int(nodes[row]), answers)),
                    *_by_soft_neighbours(int(given[row]), int(likeliest[row]), soft[row], names),
                ]
            ),
            of_given=float(distribution[row, given[row]]),
        )
        for row in order
    )


def thresholds(given: NDArray[np.int64], held_out: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """(C,) how sure models are of a class, on average over the labels that were given it; infinite for none."""
    num_classes = held_out.shape[1]
    own = held_out[np.arange(given.size), given]
    counts = np.bincount(given, minlength=num_classes)
    sums = np.bincount(given, weights=own, minlength=num_classes)
    return np.asarray(np.divide(sums, counts, out=np.full(num_classes, np.inf), where=counts > 0))


def confident_classes(given: NDArray[np.int64], held_out: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
    """(n,) the class that every node looks to be of, or `NONE` where it reaches no class's threshold."""
    # A class whose every label has the same probability is not to be missed by rounding.
    reached = held_out >= thresholds(given, held_out) - 1e-9
    found = np.where(reached, held_out, -1.0).argmax(axis=1)
    return np.where(reached.any(axis=1), found, NONE)


def confident_joint(given: NDArray[np.int64], held_out: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
    """(C, C) how many labels were given class i (row) and look to be of class j (column)."""
    num_classes = held_out.shape[1]
    found = confident_classes(given, held_out)
    sure = found != NONE
    joint = np.zeros((num_classes, num_classes), dtype=np.int64)
    np.add.at(joint, (given[sure], found[sure]), 1)
    return joint


def estimated_wrong(given: NDArray[np.int64], held_out: NDArray[np.floating[Any]]) -> float:
    """How many of the labels are wrong by the confident joint, each of its rows scaled to the labels given."""
    joint = confident_joint(given, held_out).astype(np.float64)
    counts = np.bincount(given, minlength=held_out.shape[1])
    sure = joint.sum(axis=1)
    beside = sure - joint.diagonal()
    return float(np.divide(beside * counts, sure, out=np.zeros_like(sure), where=sure > 0).sum())


def suspicion(given: NDArray[np.int64], held_out: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """(n,) how far the given class's probability falls short of what its labels have on average, -1 to 1.

    The larger, the more doubtful. On labels that were flipped (Cora and ACM, draws that `benchmarks/doubt.py` does
    not use) 61 % of as many labels as were wrong were wrong; by the probability alone 57 %, by how far another
    class is ahead of the given one 56 %.
    """
    own = np.asarray(held_out, dtype=np.float64)[np.arange(given.size), given]
    return np.asarray(thresholds(given, held_out)[given] - own)


def soft_classes(given: NDArray[np.int64], held_out: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """(n, C) the classes of a label's soft neighbours: of the other labels, each weighed by agreement.

    Two nodes agree by the product of their held-out distributions, as label consistency has it; a row sums to one.
    """
    distribution = np.asarray(held_out, dtype=np.float64)
    one_hot = np.eye(distribution.shape[1])[given]
    weights = distribution @ (distribution.T @ one_hot)  # (n, C), each label with itself included
    weights -= one_hot * np.square(distribution).sum(axis=1, keepdims=True)
    total = weights.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(weights, total, out=np.zeros_like(weights), where=total > 0))


def name_of_node(graph: Graph, node: int) -> str:
    """How the user calls a node."""
    return str(node) if graph.node_names is None else str(graph.node_names[node])


def counted(counts: Sequence[int], names: Sequence[str]) -> str:
    """Classes with how many there are of each, the most first: ``3 are A, 1 is B``."""
    order = sorted((label for label, count in enumerate(counts) if count), key=lambda label: -counts[label])
    told = [
        f"{counts[label]} {'is' if counts[label] == 1 else 'are'} {isolated(names[label])}"
        for label in order[:_NAMED]
    ]
    rest = sum(counts[label] for label in order[_NAMED:])
    return ", ".join([*told, *([f"{rest} of other classes"] if rest else [])])


def _by_models(given: int, instead: int, distribution: NDArray[np.float64], names: Sequence[str]) -> list[str]:
    return [
        f"Without this label it is {names[instead]} by {100 * distribution[instead]:.0f} %, "
        f"{names[given]} by {100 * distribution[given]:.0f} %."
    ]


def _by_neighbours(
    graph: Graph, labels: NDArray[np.int64], node: int, answers: NDArray[np.floating[Any]] | None
) -> list[str]:
    """Which classes its neighbours were given, or look to be of where none was given any."""
    adjacency = graph.adjacency
    others = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
    others = others[others != node]
    classes = labels[others]
    given = np.bincount(classes[classes != UNLABELLED], minlength=graph.num_classes)
    if given.sum() == 1:
        return [f"Its only labelled neighbour is {isolated(graph.class_names[given.argmax()])}."]
    if given.sum():
        return [f"Of its {given.sum()} labelled neighbours {counted(given.tolist(), graph.class_names)}."]
    if answers is None or not others.size:
        return ["No neighbour of it has a label."]
    seen = np.bincount(answers[others].argmax(axis=1), minlength=graph.num_classes)
    told = counted(seen.tolist(), graph.class_names)
    return [f"No neighbour of it has a label; of {others.size}, as they are predicted, {told}."]


def _by_soft_neighbours(given: int, instead: int, soft: NDArray[np.float64], names: Sequence[str]) -> list[str]:
    if not soft.any():
        return []
    return [
        f"Of its soft neighbours among the labels {100 * soft[instead]:.0f} % are {names[instead]}, "
        f"{100 * soft[given]:.0f} % {names[given]}."
    ]


def _checked(
    labels: NDArray[np.int64], nodes: NDArray[np.int64], held_out: NDArray[np.floating[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The given classes of the nodes, and their distributions in double precision."""
    nodes = np.asarray(nodes, dtype=np.int64)
    distribution = np.asarray(held_out, dtype=np.float64)
    if distribution.ndim != 2 or distribution.shape[0] != nodes.size:
        raise InputError(f"Held-out distributions of shape {distribution.shape} for {nodes.size} nodes.")
    given = np.asarray(labels, dtype=np.int64)[nodes]
    if nodes.size and not 0 <= given.min() <= given.max() < distribution.shape[1]:
        raise InputError(f"A held-out node has no label, or one outside 0..{distribution.shape[1] - 1}.")
    return given, distribution
