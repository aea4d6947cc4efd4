"""Which label every node has: those of a graph, and over them what a ledger comes to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lcgnn.graph import UNLABELLED, Graph
from lcgnn.sources.tables.given import ledger_id
from lcgnn.sources.tables.ledger import GivenLabels

OfNodes = TypeVar("OfNodes", bound="NodeLabels")


@dataclass(frozen=True, eq=False)
class NodeLabels:
    """All labels at a moment.

    Args:
        class_names: Of all classes, with and without labels.
        labels: (N,) class of every node, -1 where it has none.
        skipped: Nodes that are not to be asked for again.
        unsure: Nodes that nobody can tell.
        gone: How many lines of the ledger are of nodes that are not in the graph.
        new: How many nodes have a label that the graph had none of.
    """

    class_names: tuple[str, ...]
    labels: NDArray[np.int64]
    skipped: tuple[int, ...]
    unsure: tuple[int, ...]
    gone: int
    new: int = 0

    @classmethod
    def of(cls: type[OfNodes], graph: Graph, numbers: Mapping[str, int], given: GivenLabels) -> OfNodes:
        """What the graph says, and over it what the ledger comes to.

        Args:
            graph: With the classes that the ledger began with.
            numbers: The node of every id.
            given: What was given.
        """
        names = given.classes
        place = {name: number for number, name in enumerate(names)}
        # The last entry is what -1 stands for.
        own = np.array([place[given.class_of(number)] for number in range(graph.num_classes)] + [UNLABELLED])
        labels = own[graph.labels]
        said: dict[str, list[int]] = {"skip": [], "unsure": []}
        gone = 0
        for name, answer in given.nodes.items():
            node = numbers.get(name)
            if node is None:
                gone += 1
            elif answer.kind == "label":
                labels[node] = place[given.class_of(answer.number)]
            else:
                said[answer.kind].append(node)
                labels[node] = UNLABELLED if answer.kind == "unsure" else labels[node]
        new = int(((labels != UNLABELLED) & (graph.labels == UNLABELLED)).sum())
        return cls(names, labels, tuple(said["skip"]), tuple(said["unsure"]), gone, new)


def ledger_ids(graph: Graph) -> tuple[str, ...]:
    """What every node is called in a ledger."""
    if graph.node_names is None:
        return tuple(map(str, range(graph.num_nodes)))
    return tuple(ledger_id(name) for name in graph.node_names.tolist())


def nodes_called(graph: Graph, names: Collection[str]) -> NDArray[np.int64]:
    """The nodes that a ledger calls by these names, in order; a name that no node has is left out."""
    # A large graph's names are gone through only where somebody is looked for.
    wanted = set(names)
    found = [node for node, name in enumerate(ledger_ids(graph)) if name in wanted] if wanted else []
    return np.array(found, dtype=np.int64)
