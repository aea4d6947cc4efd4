"""Which labels are trained on when it is fewer, or others, than in a graph's public split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import Graph, Split

# Of a random draw, as in Planetoid's public splits.
NUM_VALIDATION, NUM_TEST = 500, 1000


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
    graph: Graph,
    *,
    labels_per_class: int,
    num_validation: int | None = None,
    num_test: int | None = None,
    seed: int,
) -> Split:
    """A split drawn among the labelled nodes: so many of every class to train on, the others regardless.

    The same graph, numbers and seed give the same split. Unless it is said otherwise 500 nodes are for validation
    and 1,000 for test, or one third and two thirds of what is left where that is fewer.
    """
    generator = np.random.default_rng(seed)
    by_class = _by_class(graph, graph.labelled, labels_per_class, "")
    train = np.concatenate([generator.choice(nodes, labels_per_class, replace=False) for nodes in by_class])
    rest = generator.permutation(np.setdiff1d(graph.labelled, train))
    num_validation = min(NUM_VALIDATION, rest.size // 3) if num_validation is None else num_validation
    num_test = min(NUM_TEST, rest.size - num_validation) if num_test is None else num_test
    if min(num_validation, num_test) < 0 or rest.size < num_validation + num_test:
        raise DataError(
            f"{graph.name}: {num_validation} validation and {num_test} test nodes were asked for, but after "
            f"{train.size} training nodes {rest.size} labelled nodes are left. Ask for fewer."
        )
    validation, test = rest[:num_validation], rest[num_validation : num_validation + num_test]
    name = f"random, {labels_per_class} per class, seed {seed}"
    return Split(np.sort(train), np.sort(validation), np.sort(test), name)


def folds(graph: Graph, split: Split, count: int, seed: int = 0) -> list[Split]:
    """The split once for each fold of its training labels: the fold is the test part, the others are trained on.

    Every class is dealt out from the first fold on, so that each fold takes about the same from all of them: if
    only the class that is tested on were short of labels in training, the model would lean to the others. A
    class's only label is trained on in all folds, for a model that has never seen a class cannot predict it. There
    are at most as many folds as the largest class has labels.
    """
    if count < 2:
        raise ConfigError(f"{graph.name}: {count} folds asked for. Cross-validation needs at least 2.")
    by_class = [members for members in _shuffled_by_class(graph, split.train, seed) if members.size > 1]
    count = min(count, max((members.size for members in by_class), default=0))
    parts = []
    for number in range(count):
        fold = np.sort(np.concatenate([members[number::count] for members in by_class]))
        train = np.setdiff1d(split.train, fold)
        parts.append(Split(train, split.validation, fold, f"{split.name}, fold {number + 1} of {count}"))
    return parts


def with_validation(graph: Graph, split: Split, share: float, seed: int = 0) -> Split:
    """The split with a share of every class's training labels held out for validation; one at least is left."""
    if not 0 < share < 1:
        raise ConfigError(f"A validation part of {share} is not possible; give a share between 0 and 1.")
    if split.validation.size:
        raise ConfigError(
            f"{graph.name} has {split.validation.size:,} validation labels already. No more are held out."
        )
    shuffled = [members for members in _shuffled_by_class(graph, split.train, seed) if members.size]
    held_out = [members[: min(round(share * members.size), members.size - 1)] for members in shuffled]
    validation = np.sort(np.concatenate(held_out))
    if not validation.size:
        raise ConfigError(
            f"{graph.name}: {share:.0%} of {split.train.size} labels is less than one of any class. Hold out "
            "more, or label more nodes."
        )
    return Split(
        np.setdiff1d(split.train, validation),
        validation,
        split.test,
        f"{split.name}, {share:.0%} of them for validation",
    )


def _shuffled_by_class(graph: Graph, nodes: NDArray[np.int64], seed: int) -> list[NDArray[np.int64]]:
    """The nodes of every class in an order that depends on nothing but the nodes and the seed."""
    generator = np.random.default_rng(seed)
    nodes = np.sort(nodes)
    return [generator.permutation(nodes[graph.labels[nodes] == label]) for label in range(graph.num_classes)]


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
