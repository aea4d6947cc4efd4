"""Forms of a graph that only one architecture needs: made on first use, kept as long as the graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from lcgnn.compute.sparse import GraphTensors

Form = TypeVar("Form")


def kept_with_graph(make: Callable[[GraphTensors], Form]) -> Callable[[GraphTensors], Form]:
    """Remember what a function makes of a graph until the graph is gone; the result must not refer to it."""
    kept: WeakKeyDictionary[GraphTensors, Form] = WeakKeyDictionary()

    @wraps(make)
    def form(graph: GraphTensors) -> Form:
        if graph not in kept:
            kept[graph] = make(graph)
        return kept[graph]

    return form
