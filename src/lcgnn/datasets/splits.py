"""Which labels are trained on when it is fewer, or others, than in a graph's public split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.errors import DataError
from lcgnn.graph import Graph, Split


def first_per_class(graph: Graph, split: Split, labels_per_class: int) -> Split:
    """The split with only the first training nodes of every class, in node order, as in Tables 3 and 4.

    Validation and test stay as they are.
    """
    split.check(graph)
    train = np.sort(split.train)
    chosen = [nodes[:labels_per_class] for nodes in _by_class(graph, train, labels_per_class, "training ")]
    name = f"{split.name}, first {labels_per_class} per class"
    return Split(np.sort(np.concatenate(chosen)), split.validation, split.test, name)


def random_split(
    graph: Graph, *, labels_per_class: int, num_validation: int = 500, num_test: int = 1000, seed: int
) -> Split:
    """A split drawn among the labelled nodes: so many of every class to train on, the others regardless.

    The same graph, numbers and seed give the same split.
    """
    generator = np.random.default_rng(seed)
    by_class = _by_class(graph, graph.labelled, labels_per_class, "")
    train = np.concatenate([generator.choice(nodes, labels_per_class, replace=False) for nodes in by_class])
    rest = generator.permutation(np.setdiff1d(graph.labelled, train))
    if min(num_validation, num_test) < 0 or rest.size < num_validation + num_test:
        raise DataError(
            f"{graph.name}: {num_validation} validation and {num_test} test nodes were asked for, but after "
            f"{train.size} training nodes {rest.size} labelled nodes are left. Ask for fewer."
        )
    validation, test = rest[:num_validation], rest[num_validation : num_validation + num_test]
    name = f"random, {labels_per_class} per class, seed {seed}"
    return Split(np.sort(train), np.sort(validation), np.sort(test), name)


def hold_out(graph: Graph, share: float, *, seed: int) -> Split:
    """Every given label for training but a share of each class's, drawn at random, for validation.

    Of every class at least one label stays for training.
    """
    if not 0 <= share < 1:
        raise DataError(
            f"{graph.name}: a share of {share} of the labels cannot be held out. Give 0 or more, below 1."
        )
    generator = np.random.default_rng(seed)
    held: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    for nodes in _by_class(graph, graph.labelled, 1, ""):
        held.append(generator.permutation(nodes)[: min(round(share * nodes.size), nodes.size - 1)])
    validation = np.sort(np.concatenate(held))
    if share and not validation.size:
        raise DataError(
            f"{graph.name}: {share:.0%} of its few labels are none to hold out. Hold out a larger share, or none."
        )
    name = f"{share:.0%} held out, seed {seed}" if share else "all given labels"
    return Split(np.setdiff1d(graph.labelled, validation), validation, validation[:0], name)


def _by_class(graph: Graph, nodes: NDArray[np.int64], labels_per_class: int, kind: str) -> list[NDArray[np.int64]]:
    """The nodes of every class, at least as many as are to be drawn from each."""
    if labels_per_class < 1:
        raise DataError(f"{graph.name}: {labels_per_class} labels per class asked for. Ask for 1 or more.")
    if not graph.num_classes:
        raise DataError(f"{graph.name}: a graph without classes has no labels to draw from.")
    by_class = [nodes[graph.labels[nodes] == label] for label in range(graph.num_classes)]
    for class_name, members in zip(graph.class_names, by_class, strict=True):
        if members.size < labels_per_class:
            raise DataError(
                f"{graph.name}: class {class_name!r} has {members.size} {kind}labels, "
                f"but {labels_per_class} per class were asked for. Ask for at most {members.size}."
            )
    return by_class
