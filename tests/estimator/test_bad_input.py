"""What cannot be used is refused before any work starts, in one line that says what is wrong."""

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

from lcgnn.errors import LCGNNError


def with_entry(matrix: Any, place: tuple[int, int], value: float) -> np.ndarray:
    array = np.array(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
    array[place] = value
    return array


# Each is what to give instead, or how to make it of what is right, and what the message has to say.
ROWS: dict[str, tuple[Any, str]] = {
    "NaN": (lambda X: with_entry(X, (3, 1), np.nan), "NaN"),
    "infinity": (lambda X: with_entry(X, (3, 1), np.inf), "infinity"),
    "a huge value": (lambda X: with_entry(X, (3, 1), 1e40), "beyond 1e"),
    "one dimension": (lambda X: X[0], "2D array"),
    "no rows": (lambda X: X[:0], "0 sample"),
    "text": (lambda X: np.full(X.shape, "a"), "could not convert"),
    "a frame of one value": (pd.DataFrame({"a": ["x"] * 60}), "no column can be used"),
    "a frame with two columns of one name": (lambda X: pd.DataFrame(X[:, :2], columns=["a", "a"]), "Duplicate"),
    "a frame with mixed cells": (pd.DataFrame({"a": [1, "x", 2.5] * 20}), "cells of one type"),
    "a frame with lists": (pl.DataFrame({"a": [["1", "2"]] * 60}), "one value a cell"),
    "a frame with infinity": (pd.DataFrame({"a": [*range(59), np.inf]}), "row 60, column 'a'"),
    "an empty frame": (pd.DataFrame({"a": []}), "no rows"),
}

LABELS: dict[str, tuple[Any, str]] = {
    "too few": (lambda y: y[:-1], "59 labels for 60 rows"),
    "two columns": (lambda y: np.stack([y, y], axis=1), "1d array"),
    "nothing": (None, "target y is None"),
    "no label": (np.full(60, -1), "no row has one"),
    "no label among text": ([None] * 60, "no row has one"),
    "one class": (lambda y: np.where(y == 1, -1, y), "one class, 0"),
    "one class and -1": (lambda y: np.where(y == 1, 1, -1), "one class, 1"),
    "continuous": (np.linspace(0, 1, 60), "continuous"),
    "infinity": (lambda y: np.where(y == 1, np.inf, y), "infinity"),
    "text and numbers": (["a", 1, None] * 20, "Give all of them in one type"),
    "lists": (np.array([[1], [1, 2]] * 30, dtype=object), "Give all of them in one type"),
    "dates": (np.full(60, np.datetime64("2024-01-01")), "of type datetime64"),
}

EDGES: dict[str, tuple[Any, str]] = {
    "too small": (lambda A: A[:59, :59], "(59, 59) for 60 rows"),
    "not square": (np.ones((60, 59)), "square matrix"),
    "negative": (lambda A: with_entry(A, (4, 2), -1), "(4, 2) is -1"),
    "NaN": (lambda A: with_entry(A, (4, 2), np.nan), "(4, 2) is nan"),
    "infinity": (lambda A: with_entry(A, (4, 2), np.inf), "(4, 2) is inf"),
    "an edge to no row": (np.array([[0, 1], [1, 60]]), "names node 60"),
    "an edge from a negative row": (np.array([[0, -1], [1, 2]]), "names node -1"),
    "fractions": (np.array([[0.0, 1.0], [1.0, 2.0]]), "whole numbers"),
    "edges in columns": (np.array([[0, 1], [1, 2], [2, 3]]), "(3, 2) for 60 rows"),
    "ragged": ([[0, 1], [2]], "not an array"),
    "a word": ("friends", "cannot be a graph's edges"),
    "a dictionary": ({0: [1]}, "dict of object"),
    "other nodes": (nx.path_graph(5), "(5, 5) for 60 rows"),
}


def changed(change: Any, right: Any) -> Any:
    return change(right) if callable(change) else change


def check(caught: pytest.ExceptionInfo[Exception], message: str) -> None:
    assert message in str(caught.value)
    if isinstance(caught.value, LCGNNError):
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ROWS)
def test_bad_rows_are_refused(classifier: Any, data: Any, kind: str) -> None:
    change, message = ROWS[kind]
    with pytest.raises((ValueError, LCGNNError)) as caught:
        classifier().fit(changed(change, data.X), data.y, adjacency=data.adjacency)
    check(caught, message)


@pytest.mark.parametrize("kind", LABELS)
def test_bad_labels_are_refused(classifier: Any, data: Any, kind: str) -> None:
    change, message = LABELS[kind]
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        classifier().fit(data.X, changed(change, data.y), adjacency=data.adjacency)
    check(caught, message)


@pytest.mark.parametrize("kind", EDGES)
def test_bad_edges_are_refused(classifier: Any, data: Any, kind: str) -> None:
    change, message = EDGES[kind]
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        classifier().fit(data.X, data.y, adjacency=changed(change, data.adjacency))
    check(caught, message)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"base": "gnc"}, "it can be .*gcn"),
        ({"base": "lp"}, "it can be .*gcn"),
        ({"epochs": -1}, "at least one epoch"),
        ({"consistency_weight": -1}, "cannot be negative"),
        ({"settings": {"heads": 2}}, "no setting 'heads'"),
        ({"scaling": "row"}, "auto, columns, rows, norm, none"),
        ({"validation_fraction": 1.0}, "between 0 and 1"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused(
    classifier: Any, data: Any, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(LCGNNError, match=message):
        classifier(**parameters).fit(data.X, data.y, adjacency=data.adjacency)


def test_labels_that_may_be_no_classes_are_told(classifier: Any, data: Any) -> None:
    told = classifier().fit(data.X, np.where(data.y == 0, -2, data.y), adjacency=data.adjacency).notes_
    assert any("'-2' is taken as a class" in note for note in told)
    names = np.array(["?", "cat", ""])[np.where(data.y < 0, 2, data.y)]
    told = classifier().fit(data.X, names, adjacency=data.adjacency).notes_
    assert any("'?' is taken as a class" in note for note in told)
