"""Graphs that Python holds already: data frames, NetworkX, PyTorch Geometric, and what was read before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lcgnn.errors import DataError
from lcgnn.features.encoding import Encoding
from lcgnn.features.scaling import Scaling
from lcgnn.graph import Graph, Split
from lcgnn.sources.frames import from_frames, table_of
from lcgnn.sources.in_memory import all_labels
from lcgnn.sources.loaded import Loaded, as_known, with_features
from lcgnn.sources.networkx import from_networkx, networkx_tables
from lcgnn.sources.pyg import read_pyg
from lcgnn.sources.source import Known, Progress, Source, check_without_columns, form_of
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.form import TableForm
from lcgnn.sources.tables.known import known_graph
from lcgnn.sources.tables.reading import TableFiles


class InPython(Source):
    """A graph that is nowhere but in this process."""

    def place(self) -> Mapping[str, Any]:
        return {"in_python": type(self).__name__}


@dataclass(frozen=True, eq=False)
class Frames(InPython):
    """A data frame of nodes and one of edges, of pandas, polars or pyarrow.

    Args:
        nodes: A row a node.
        edges: A row an edge.
        columns: Names of columns that are not to be guessed.
    """

    nodes: Any
    edges: Any
    columns: Columns = field(default_factory=Columns)

    @property
    def name(self) -> str:
        return "graph"

    def load(self, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        named = self.columns
        return from_frames(
            self.nodes,
            self.edges,
            id=named.id,
            label=named.label,
            source=named.source,
            target=named.target,
            weight=named.weight,
            ignore=named.ignore,
            name=self.name,
        )

    def load_known(self, known: Known, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        nodes = table_of(self.nodes, "nodes", self.columns.ignore)
        files = TableFiles(nodes, table_of(self.edges, "edges"), complete=True)
        return known_graph(files, self.columns, self.name, form_of(known, "data frames"), known.class_names)


@dataclass(frozen=True, eq=False)
class NetworkX(InPython):
    """A NetworkX graph, whose nodes' attributes are columns.

    Args:
        graph: Any of NetworkX's graphs.
        columns: Which attribute is the label, which the weight of an edge, and which are not to be used.
    """

    graph: Any
    columns: Columns = field(default_factory=Columns)

    @property
    def name(self) -> str:
        return str(self.graph.name or "graph")

    @property
    def _named(self) -> tuple[str, str, tuple[str, ...]]:
        return self.columns.label or "label", self.columns.weight or "weight", self.columns.ignore

    def load(self, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        label, weight, ignore = self._named
        return from_networkx(self.graph, label=label, weight=weight, ignore=ignore)

    def load_known(self, known: Known, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        files, columns = networkx_tables(self.graph, *self._named)
        return known_graph(files, columns, self.name, form_of(known, "a NetworkX graph"), known.class_names)


@dataclass(frozen=True, eq=False)
class Given(InPython):
    """A graph that was read or made before.

    Args:
        loaded: The graph, and which labels are for what.
    """

    loaded: Loaded

    @classmethod
    def of(cls, graph: Graph, split: Split | None = None) -> Given:
        """A graph with its split, or with all labels for training; without features it gets some of its edges."""
        notes: list[str] = []
        made = with_features(graph, notes)
        split = all_labels(graph) if split is None else split
        return cls(Loaded(made, split, tuple(notes), made_of_edges=graph.features is None))

    @property
    def name(self) -> str:
        return self.loaded.graph.name

    def load(self, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        self.loaded.split.check(self.loaded.graph)
        return self.loaded

    def load_known(self, known: Known, progress: Progress | None = None) -> Loaded:  # noqa: ARG002
        if known.form != self.loaded.form:
            raise DataError(
                f"The model reads its columns in another way than {self.name} was read. Give what it was made of: "
                "the folder, the two data frames or the NetworkX graph."
            )
        return as_known(self.loaded, known.class_names)


@dataclass(frozen=True, eq=False)
class PyG(InPython):
    """A PyTorch Geometric ``Data``, whose features are scaled as the columns of a table are.

    Args:
        graph: With the features as the data has them.
        split: In its masks, if it has any.
    """

    graph: Graph
    split: Split | None

    @classmethod
    def from_data(cls, data: Any) -> PyG:
        """The source of its graph; every link is taken as an edge in both directions."""
        return cls(*read_pyg(data, undirected=True))

    @property
    def name(self) -> str:
        return self.graph.name

    def load(self, progress: Progress | None = None) -> Loaded:
        features = self.graph.features
        scaling = None if features is None else Scaling.fit(features)
        return self._scaled(scaling).load(progress)

    def load_known(self, known: Known, progress: Progress | None = None) -> Loaded:
        check_without_columns(known, self.name)
        # Masks may name nodes without a label, which are for the model to find.
        split = self.split and self.split.among(self.graph.labelled)
        given = replace(self, split=split)
        return given._scaled(None if known.form is None else known.form.scaling).load_known(known, progress)

    def _scaled(self, scaling: Scaling | None) -> Given:
        made, features = Given.of(self.graph, self.split), self.graph.features
        # Other features than a model's are for the model to refuse.
        if scaling is None or features is None or features.shape[1] != scaling.mean.size:
            return made
        graph = replace(self.graph, features=scaling.apply(features))
        return Given(replace(made.loaded, graph=graph, form=TableForm(None, Encoding(), scaling)))
