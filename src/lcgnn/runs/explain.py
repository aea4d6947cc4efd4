"""Why a node has its label, from a run's folder: everything that ``lcgnn explain`` does."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import numpy as np

from lcgnn.assessment.explanation import Explanation
from lcgnn.errors import ConfigError, DataError, OutputError
from lcgnn.features.encoding import Encoding
from lcgnn.features.names import feature_names
from lcgnn.features.table import TableFile
from lcgnn.files import read_json
from lcgnn.graph import Graph
from lcgnn.methods import Context
from lcgnn.runs.explaining.explainer import SHOWN, Explainer
from lcgnn.runs.explaining.explainer import explain_node as explain_node
from lcgnn.runs.model import TrainedModel
from lcgnn.runs.predict import find_models, load_models, split_of, trained_on
from lcgnn.runs.records import Record
from lcgnn.sources.choice import source_of
from lcgnn.sources.source import Known, Progress, Source
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.reading import find_tables
from lcgnn.sources.tables.source import Tables

# Names that are compared with one that is not there.
_MOST_COMPARED = 200_000
# Of a training that is tried again without being asked for.
_FEW_SECONDS = 10.0


def explain(
    run: TrainedModel | Path | str,
    node: Any,
    what: Any = None,
    *,
    columns: Columns | None = None,
    shown: int = SHOWN,
    retrain: bool | None = None,
    device: str = "auto",
    progress: Progress | None = None,
) -> Explanation:
    """Why a node has its label, by the models of a run.

    Args:
        run: A run's folder, whose models' answers are averaged; a model, or the file or folder of one.
        node: What the graph calls it: an id, or a number where it has none.
        what: The graph that was trained on, in any form that `source_of` takes; None to read it where it was.
        columns: Names of columns that differ from those in training.
        shown: How many soft neighbours, labels, features and changes are listed.
        retrain: Whether to try what the strongest label does by training again, twice; None for where the run took
            a few seconds.
        device: A torch device or "auto".
        progress: Told how far reading is.
    """
    explainer = explainer_of(
        run, what, columns=columns, shown=shown, retrain=retrain, device=device, progress=progress
    )
    return explainer.explain(find_node(explainer.graph, node))


def explainer_of(
    run: TrainedModel | Path | str,
    what: Any = None,
    *,
    columns: Columns | None = None,
    shown: int = SHOWN,
    retrain: bool | None = None,
    device: str = "auto",
    progress: Progress | None = None,
) -> Explainer:
    """What explains the answers of a run's models on the graph that they were trained on; see `explain`."""
    if shown < 1:
        raise ConfigError(f"--count {shown}: at least one of everything has to be listed.")
    models = (run,) if isinstance(run, TrainedModel) else load_models(Path(run))
    first = models[0]
    source = trained_on(first) if what is None else source_of(what, columns)
    loaded = source.load_known(Known(first.form, first.class_names), progress)
    if loaded.graph.checksum != first.about.get("graph"):
        raise DataError(
            f"{source.name} is not the graph that the model was trained on, or has changed since. "
            f"Train again: lcgnn train {source.name}"
        )
    split = split_of(first, loaded)
    fit = None
    if not first.method.inductive:
        fit = first.method.fit(loaded.graph, split, int(first.about.get("seed", 0)), Context(device))
    return Explainer(
        loaded.graph,
        split,
        models,
        fit,
        feature_names(loaded.encoding, loaded.graph.num_features, _node_table(source, loaded.encoding)),
        shown,
        _is_quick(run) if retrain is None else retrain,
        device,
        loaded.made_of_edges,
    )


def _node_table(source: Source, encoding: Encoding) -> TableFile | None:
    """The table of nodes, where it takes its texts to name the features."""
    has_text = any(column.terms is not None for column in encoding.columns)
    if not has_text or not isinstance(source, Tables):
        return None
    return find_tables(Path(source.path), source.columns.ignore).nodes


def _is_quick(run: TrainedModel | Path | str) -> bool:
    """Whether a run was trained in a few seconds, by its record."""
    if isinstance(run, TrainedModel):
        return False
    path = find_models(Path(run))[0].parent / "result.json"
    try:
        return Record.from_json(read_json(path), str(path)).seconds <= _FEW_SECONDS
    except OutputError:
        return False


def find_node(graph: Graph, node: Any) -> int:
    """The number of the node that an id means; DataError names those that are close to one that is not there."""
    if graph.node_names is None:
        return _numbered(graph, node)
    found = np.flatnonzero(graph.node_names == str(node))
    if found.size:
        return int(found[0])
    names = graph.node_names[:_MOST_COMPARED].tolist()
    near = difflib.get_close_matches(str(node), names, n=3)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else f" Its nodes are called {names[0]!r}, ..."
    raise DataError(f"{graph.name} has no node {str(node)!r}.{hint}")


def _numbered(graph: Graph, node: Any) -> int:
    try:
        number = int(node)
    except (TypeError, ValueError):
        number = -1
    if not 0 <= number < graph.num_nodes:
        raise DataError(
            f"{graph.name} has no node {str(node)!r}: its nodes have no names, and are 0 to {graph.num_nodes - 1}."
        )
    return number
