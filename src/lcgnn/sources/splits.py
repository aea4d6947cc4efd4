"""Which labels are trained on when it is fewer, or others, than in a graph's public split."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lcgnn.errors import ConfigError, DataError
from lcgnn.graph import Graph, Split

# Of a random draw, as in Planetoid's public splits.
LABELS_PER_CLASS, NUM_VALIDATION, NUM_TEST = 20, 500, 1000
# Counts of labels that are this even, or more so, come of a draw less often than this.
_HARDLY_EVER = 0.05


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
    labels_per_class: int | None = None,
    labels: int | None = None,
    num_validation: int | None = None,
    num_test: int | None = None,
    seed: int,
) -> Split:
    """A split drawn among the labelled nodes: some to train on, then others regardless of their class.

    The same graph, numbers and seed give the same split.

    Args:
        graph: Whose labels are drawn.
        labels_per_class: To train on, so many of every class; 20 if nothing is said.
        labels: To train on, so many in all, whatever their class.
        num_validation: Nodes for validation; by default 500, or a third of what is left where that is fewer.
        num_test: Nodes for test; by default 1,000, or what is left where that is fewer.
        seed: Which draw.
    """
    generator = np.random.default_rng(seed)
    train, said = _drawn(graph, labels_per_class, labels, generator)
    rest = generator.permutation(np.setdiff1d(graph.labelled, train))
    num_validation = min(NUM_VALIDATION, rest.size // 3) if num_validation is None else num_validation
    num_test = min(NUM_TEST, rest.size - num_validation) if num_test is None else num_test
    if min(num_validation, num_test) < 0 or rest.size < num_validation + num_test:
        raise DataError(
            f"{graph.name}: {num_validation} validation and {num_test} test nodes were asked for, but after "
            f"{train.size} training nodes {rest.size} labelled nodes are left. Ask for fewer."
        )
    validation, test = rest[:num_validation], rest[num_validation : num_validation + num_test]
    return Split(np.sort(train), np.sort(validation), np.sort(test), f"random, {said}, seed {seed}")


def handful(graph: Graph, *, labels_per_class: int | None = None, labels: int | None = None, seed: int) -> Split:
    """A random draw of labels to train on and nothing else: none for validation, all others are tested on.

    The labels are those of `random_split` with the same numbers and seed.
    """
    train, said = _drawn(graph, labels_per_class, labels, np.random.default_rng(seed))
    nothing = np.empty(0, dtype=np.int64)
    test = np.setdiff1d(graph.labelled, train)
    return Split(np.sort(train), nothing, test, f"handful, {said}, seed {seed}")


def folds(graph: Graph, split: Split, count: int, seed: int = 0) -> list[Split]:
    """The split once for each fold of its training labels: the fold is the test part, the others are trained on.

    Where nodes were chosen, such as as many of every class, every class is dealt out from the first fold on, so
    that each fold takes about the same from all of them: if only the class that is tested on were short of labels
    in training, the model would lean to the others.

    Labels that were drawn are dealt out by chance, whatever their class. Chance gave some classes more labels than
    they would have among as many others, and a model trained on these leans to these classes; folds with the same
    of every class would have that in what is held out as well, and take it for right.

    A class's only label is trained on in all folds, and no fold takes all labels of a class: a model that has
    never seen a class cannot predict it. There are at most `most_folds`.
    """
    if count < 2:
        raise ConfigError(f"{graph.name}: {count} folds asked for. Cross-validation needs at least 2.")
    by_class = [members for members in _shuffled_by_class(graph, split.train, seed) if members.size > 1]
    count = min(count, most_folds(graph, split))
    deal = _dealt_by_chance if are_drawn(graph, split) else _dealt_by_class
    if not count:
        return []
    return [
        replace(
            split,
            train=np.setdiff1d(split.train, fold),
            test=np.sort(fold),
            name=f"{split.name}, fold {number + 1} of {count}",
        )
        for number, fold in enumerate(deal(by_class, count, seed))
    ]


def most_folds(graph: Graph, split: Split) -> int:
    """Into how many folds the training labels can be divided, each with a label; 0 if none can be held out."""
    counts = _label_counts(graph, split)
    counts = counts[counts > 1]
    return int(counts.sum() if are_drawn(graph, split) else counts.max(initial=0))


def are_drawn(graph: Graph, split: Split) -> bool:
    """Whether training labels look like a draw from all nodes.

    They do not where the split says that nodes were chosen, and where classes have as many labels, or so nearly as
    many as hardly ever come of a draw, even from classes of equal size.
    """
    # Imported here because it takes long.
    from scipy.special import chdtr

    counts = _label_counts(graph, split)
    if split.chosen or counts.size < 2 or not counts.any():
        return False
    if counts.min() > 1 and counts.max() - counts.min() <= 1:
        return False
    spread = float(((counts - counts.mean()) ** 2).sum() / counts.mean())
    return bool(chdtr(counts.size - 1, spread) >= _HARDLY_EVER)


def lost_labels(graph: Graph, split: Split) -> int:
    """How many of the training labels no model without them could predict: their class's only ones.

    Of drawn labels that share tells how many nodes are of classes that none of as many labels is of (Good 1953).
    Of others it tells nothing, and 0 is returned.
    """
    if not are_drawn(graph, split):
        return 0
    others = np.bincount(graph.labels[split.validation], minlength=graph.num_classes)
    return int(((_label_counts(graph, split) == 1) & (others == 0)).sum())


def _label_counts(graph: Graph, split: Split) -> NDArray[np.int64]:
    return np.bincount(graph.labels[split.train], minlength=graph.num_classes)


def _dealt_by_class(by_class: list[NDArray[np.int64]], count: int, _seed: int) -> list[NDArray[np.int64]]:
    return [np.concatenate([members[number::count] for members in by_class]) for number in range(count)]


def _dealt_by_chance(by_class: list[NDArray[np.int64]], count: int, seed: int) -> list[NDArray[np.int64]]:
    """Without regard to the class; where a fold would take all labels of one, the next fold takes the last."""
    sizes = [members.size for members in by_class]
    fold_of = np.random.default_rng(seed).permutation(np.arange(sum(sizes)) % count)
    for own in np.split(fold_of, np.cumsum(sizes)[:-1]):
        if (own == own[0]).all():
            own[-1] = (own[-1] + 1) % count
    nodes = np.concatenate(by_class)
    return [nodes[fold_of == number] for number in range(count)]


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
    return replace(
        split,
        train=np.setdiff1d(split.train, validation),
        validation=validation,
        # As many of every class are taken away, after which they look as they were made.
        chosen=not are_drawn(graph, split),
        name=f"{split.name}, {share:.0%} of them for validation",
    )


def _drawn(
    graph: Graph, labels_per_class: int | None, labels: int | None, generator: np.random.Generator
) -> tuple[NDArray[np.int64], str]:
    """Nodes to train on, and how many they are in words."""
    if labels is not None:
        return _drawn_anywhere(graph, labels, generator), f"{labels} labels"
    count = LABELS_PER_CLASS if labels_per_class is None else labels_per_class
    by_class = _by_class(graph, graph.labelled, count, "")
    chosen = [generator.choice(nodes, count, replace=False) for nodes in by_class]
    return np.concatenate(chosen), f"{count} per class"


def _drawn_anywhere(graph: Graph, labels: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """So many labelled nodes of any class. If all are of one, the last gives way to a node of another."""
    present = np.unique(graph.labels[graph.labelled])
    if present.size < 2:
        raise DataError(
            f"{graph.name}: labels of {present.size} class, and at least two are needed to learn from."
        )
    if not 2 <= labels <= graph.labelled.size:
        raise DataError(
            f"{graph.name}: {labels:,} labels asked for. Ask for 2 to {graph.labelled.size:,}, which there are."
        )
    chosen = generator.choice(graph.labelled, labels, replace=False)
    classes = graph.labels[chosen]
    if (classes == classes[0]).all():
        chosen[-1] = generator.choice(graph.labelled[graph.labels[graph.labelled] != classes[0]])
    return chosen


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
