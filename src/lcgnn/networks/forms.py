"""Forms of a graph that only one architecture needs: made on first use, kept as long as the graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from lcgnn.compute.placement.base import Placement

Form = TypeVar("Form")


def kept_with_graph(make: Callable[[Placement], Form]) -> Callable[[Placement], Form]:
    """Remember what a function makes of a graph until the graph is gone; the result must not refer to it."""
    kept: WeakKeyDictionary[Placement, Form] = WeakKeyDictionary()

    @wraps(make)
    def form(graph: Placement) -> Form:
        if graph not in kept:
            kept[graph] = make(graph)
        return kept[graph]

    return form
