"""Graphs from arrays of features, labels and edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from lcgnn.csr import checked_sparse
from lcgnn.errors import InputError
from lcgnn.features.cells import GAPS
from lcgnn.features.encoding import Encoding
from lcgnn.features.scaling import Scaling, ScalingKind
from lcgnn.features.table import shown
from lcgnn.graph import UNLABELLED, Features, Graph, Split
from lcgnn.sources.class_names import odd_classes
from lcgnn.sources.links import EdgeList, links_of
from lcgnn.sources.loaded import Loaded, with_features
from lcgnn.sources.tables.form import TableForm

_NUMBER = (bool, int, float, np.generic)
# What says "no label" among labels that are text.
_NO_LABEL = ("", str(UNLABELLED), *GAPS)


def from_arrays(
    features: Any,
    labels: Any,
    adjacency: Any,
    *,
    class_names: Iterable[str] | None = None,
    node_names: Any = None,
    name: str = "graph",
    scaling: ScalingKind = "auto",
) -> Loaded:
    """The graph in arrays; all labels are for training.

    Args:
        features: (N, F) numpy or scipy sparse; None makes some of the edges.
        labels: (N,) numbers or text; -1, None or NaN where there is no label.
        adjacency: The edges, in any form that `links_of` takes; a graph with named nodes goes by ``node_names``.
        class_names: What the classes are called, if labels are numbers from 0.
        node_names: (N,) what the nodes are called.
        name: What to call the graph.
        scaling: What is done to the features: "auto" brings them to the scale that the columns of a table are
            brought to, "none" takes them as they are; see `Scaling`.
    """
    numbers, classes = class_labels(np.asarray(labels))
    _refuse_negative(classes)
    notes = [f"labels: {told}" for told in odd_names(classes)]
    if class_names is not None:
        numbers, classes = _named(numbers, classes, [str(text) for text in class_names])
    names = None if node_names is None else [str(text) for text in node_names]
    links = adjacency if isinstance(adjacency, EdgeList) else links_of(adjacency, numbers.size, names)
    notes += links.notes
    done = None
    if features is not None and scaling != "none":
        features = numbers_of(features)
        done = Scaling.fit(features, scaling)
        features = done.apply(features)
    graph = graph_of(name, links, numbers, [str(text) for text in classes], features, names)
    form = None if done is None else TableForm(None, Encoding(), done)
    split, made_of_edges = all_labels(graph), graph.features is None
    return Loaded(with_features(graph, notes), split, tuple(notes), form, made_of_edges)


def graph_of(
    name: str,
    links: EdgeList,
    labels: NDArray[np.int64],
    class_names: Sequence[str],
    features: Any,
    node_names: Any = None,
) -> Graph:
    """The graph of these edges, with labels that are class numbers already."""
    check_distinct(node_names)
    return Graph.from_edges(
        name,
        links.edges,
        labels.size,
        labels,
        class_names,
        weights=links.weights,
        features=_floats(features),
        node_names=node_names,
    )


def all_labels(graph: Graph) -> Split:
    """The split that trains on every label there is."""
    none = np.empty(0, dtype=np.int64)
    return Split(graph.labelled, none, none, "all given labels")


def class_labels(
    values: NDArray[Any], *, signs_are_classes: bool = False
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Every node's class number, -1 where it has no label, and the classes in order.

    No label is -1, NaN, None or, among text, what an empty cell of a table may say ("", "NA", "nan", ...).

    Args:
        values: (N,) numbers, truth values or text.
        signs_are_classes: Whether -1 is a class after all if there are only -1 and 1.
    """
    if values.ndim != 1:
        raise InputError(f"labels: shape {values.shape}. Give one label a row, in one dimension.")
    known = has_label(values)
    if signs_are_classes and values.dtype.kind in "if" and np.array_equal(np.unique(values), [-1, 1]):
        known[:] = True
    given = _of_one_type(values[known])
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise InputError("labels: one is infinity. Give -1 or NaN where there is no label.")
    classes, numbers = np.unique(given, return_inverse=True)
    if not classes.size:
        raise InputError("labels: no row has one. Label some rows of each class; -1 (or None) means no label.")
    if classes.size == 1:
        raise InputError(
            f"labels: all are of one class, {classes[0]!s}. Label some rows of another; -1 means no label."
        )
    labels = np.full(values.size, UNLABELLED, dtype=np.int64)
    labels[known] = numbers
    return labels, classes


def has_label(values: NDArray[Any]) -> NDArray[np.bool_]:
    """(N,) whether there is a label, by what `class_labels` takes for one."""
    kind = values.dtype.kind
    if kind == "f":
        return np.asarray(~np.isnan(values) & (values != UNLABELLED))
    if kind in "iu":
        return np.asarray(values != UNLABELLED)
    if kind == "b":
        return np.ones(values.size, dtype=bool)
    if kind == "U":
        return np.isin(values, _NO_LABEL, invert=True)
    if kind == "O":
        return np.array([not _says_nothing(value) for value in values], dtype=bool)
    raise InputError(f"labels: of type {values.dtype}. Give numbers or text.")


def _named(
    numbers: NDArray[np.int64], classes: NDArray[Any], names: list[str]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The labels as places in the names, of which some may have no label."""
    if classes.dtype.kind not in "iuf" or classes.min() < 0 or classes.max() >= len(names):
        raise InputError(
            f"labels: with {len(names)} class names, labels must be numbers from 0 to {len(names) - 1}."
        )
    places = np.append(classes.astype(np.int64), UNLABELLED)
    return places[numbers], np.array(names)


def check_distinct(node_names: Any) -> None:
    """Refuse two nodes of the same name, which nobody could tell apart in the answers."""
    if node_names is None:
        return
    seen: set[str] = set()
    for node, name in enumerate(np.asarray(node_names, dtype=np.str_).tolist()):
        if name in seen:
            raise InputError(
                f"node_names: node {node} is called {shown(name)}, as one before it. Give each its own."
            )
        seen.add(name)


def odd_names(classes: NDArray[Any]) -> list[str]:
    """What there is to say of classes that may be meant otherwise."""
    return odd_classes([str(name) for name in classes], "give -1 or None for it")


def _refuse_negative(classes: NDArray[Any]) -> None:
    if classes.dtype.kind in "if" and classes.min() < 0:
        raise InputError(
            f"labels: {classes.min():g} is negative, which only -1 may be: no label. Give numbers from 0, or text."
        )


def numbers_of(features: Any) -> Features:
    """(N, F) features that are numbers and finite, checked."""
    if issparse(features):
        matrix = csr_array(checked_sparse(features, "features"))
        values = matrix.data
    else:
        matrix = values = np.asarray(features)
    if matrix.ndim != 2 or values.dtype.kind not in "biuf":
        raise InputError(f"features: {values.dtype} of shape {matrix.shape}. Give numbers, a row for each node.")
    if not np.isfinite(values).all():
        raise InputError("features hold NaN or infinity. Fill what is missing.")
    return matrix


def _floats(features: Any) -> Features | None:
    if features is None:
        return None
    matrix = numbers_of(features)
    return matrix if issparse(matrix) else matrix.astype(np.float32)


def _says_nothing(value: object) -> bool:
    if isinstance(value, str):
        return value in _NO_LABEL
    if isinstance(value, _NUMBER):
        # Only NaN differs from itself.
        return bool(value != value) or (not isinstance(value, bool | np.bool_) and value == UNLABELLED)
    # pandas has two further ways to say that there is nothing.
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _of_one_type(given: NDArray[Any]) -> NDArray[Any]:
    """The labels as an array of numbers or of text; anything else, or both, is refused."""
    if given.dtype.kind != "O":
        return given
    if all(isinstance(value, str) for value in given):
        return np.array(given.tolist(), dtype=np.str_)
    if all(isinstance(value, _NUMBER) for value in given):
        return np.array(given.tolist())
    raise InputError("labels: neither all text nor all numbers. Give all of them in one type.")
