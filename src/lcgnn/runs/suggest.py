"""Which nodes of a graph to label next: all that ``lcgnn suggest`` does."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.suggestion import DEFAULT_STRATEGY, Suggester, Suggestion, strategy
from lcgnn.errors import ConfigError, DataError
from lcgnn.features.cells import defused
from lcgnn.files import read_json
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context
from lcgnn.outputs import OutputKind, beginning
from lcgnn.runs.predict import TABLE_NAMES, predict
from lcgnn.runs.simulation import consulted
from lcgnn.sources.choice import source_of
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.source import Progress, Source, silent
from lcgnn.sources.tables.columns import Columns
from lcgnn.training.loop import Progress as Epoch

UsedLabels = Literal["given", "none"]

# Nodes and entries of the adjacency beyond which training a model to ask takes longer than somebody waits.
_LARGEST_TRAINED = 500_000
_COLUMNS = ("rank", "id", "stands_for", "reason")


def _are_suggestions(path: Path) -> bool:
    if path.suffix.lower() == ".json":
        content = read_json(path)
        return isinstance(content, Mapping) and "suggestions" in content and "strategy" in content
    return beginning(path).startswith(",".join(_COLUMNS).encode())


SUGGESTIONS = OutputKind("suggestions", (".csv", ".json"), _are_suggestions)


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Nodes to label, the most useful first.

    Args:
        graph: Whose nodes they are.
        strategy: Which chose them.
        labelled: How many nodes have a label already.
        asked: Whether a model was asked.
        items: The nodes, with a reason each.
        notes: What there is to say of the graph and of the choice, a sentence each.
    """

    graph: Graph
    strategy: str
    labelled: int
    asked: bool
    items: tuple[Suggestion, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Suggestion]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def nodes(self) -> NDArray[np.int64]:
        """The nodes' numbers."""
        return np.array([item.node for item in self.items], dtype=np.int64)

    @property
    def ids(self) -> tuple[str, ...]:
        """What the source calls the nodes; their numbers where it does not."""
        names = self.graph.node_names
        return tuple(str(item.node) if names is None else str(names[item.node]) for item in self.items)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        rows = zip(self.ids, self.items, strict=True)
        return {
            "dataset": self.graph.name,
            "strategy": self.strategy,
            "labelled": self.labelled,
            "asked_model": self.asked,
            "suggestions": [{"id": name, **asdict(item)} for name, item in rows],
            "notes": list(self.notes),
        }

    def save(self, path: Path | str) -> None:
        """Write them as .csv, a line a node, or as .json."""
        check_output(Path(path))
        with SUGGESTIONS.written(Path(path)) as temporary:
            if Path(path).suffix.lower() == ".json":
                temporary.write_text(json.dumps(self.to_json(), indent=2) + "\n", encoding="utf-8")
                return
            with temporary.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(_COLUMNS)
                for rank, (name, item) in enumerate(zip(self.ids, self.items, strict=True), start=1):
                    writer.writerow([rank, defused(name), item.stands_for, item.reason])


def suggest(
    what: Any,
    count: int = 20,
    *,
    strategy: str = DEFAULT_STRATEGY,
    labels: UsedLabels = "given",
    labels_from: Path | str | None = None,
    run: Path | str | None = None,
    model: bool = True,
    columns: Columns | None = None,
    seed: int = 0,
    device: str = "auto",
    progress: Progress | None = None,
    working: Progress | None = None,
) -> Suggestions:
    """Which nodes of a graph to label next, the most useful first, each with a reason.

    Without labels the graph and the features decide. With labels of two classes a strategy may ask a model: that
    of a run, or LC-GCN trained for this on the labels, unless the graph is too large to wait for it.

    Args:
        what: The graph, in any form that `source_of` takes; none, some or all of its nodes may have labels.
        count: How many nodes.
        strategy: How they are chosen; see ``lcgnn suggest --help``.
        labels: "given": nodes with a label are not suggested, nor those that were skipped on the page of
            ``lcgnn label`` or that nobody could tell; of a benchmark, whose nodes all have one, those of its
            split's training part, and the other labels are not looked at. "none": as if nothing had been said.
        labels_from: A file with labels that count more than the graph's own; see `source_of`.
        run: A folder that training wrote, whose model is asked.
        model: Whether a model may be trained to be asked.
        columns: Names of columns that are not to be guessed.
        seed: Of whatever is left to chance.
        device: A torch device or "auto".
        progress: Told how far reading is.
        working: Told how far training and choosing are.
    """
    _check(count, strategy, labels)
    source = source_of(what, columns, labels_from=labels_from)
    if source.parts is not None:
        raise ConfigError(f"{source.name} is in parts. Name the whole graph.")
    loaded = source.load_for_labelling(progress)
    told = _told(loaded, labels, benchmark=source.benchmark is not None)
    _check_some_are_left(loaded.graph, told, count)
    notes = list(loaded.notes)
    distribution: NDArray[np.float32] | None = None
    if run is not None:
        distribution = _by_run(run, source, loaded.graph, device)
    elif model:
        distribution = _by_training(loaded.graph, told.train, strategy, seed, device, working or silent, notes)
    items = Suggester(loaded.graph, strategy).suggest(
        told.nodes,
        count,
        labels=loaded.graph.labels[told.nodes],
        distribution=distribution,
        excluded=told.passed_over,
        seed=seed,
        progress=working or silent,
    )
    return Suggestions(loaded.graph, strategy, told.nodes.size, distribution is not None, items, tuple(notes))


def check_output(path: Path, reads: tuple[Path | str, ...] = ()) -> None:
    """Refuse a file for suggestions that cannot be one, before any work is done."""
    if path.stem.lower() in TABLE_NAMES:
        raise ConfigError(f"--out {path}: that is what a table of a graph is called. Choose another name.")
    SUGGESTIONS.check(path, reads)


@dataclass(frozen=True, eq=False)
class _Told:
    """What is known before anything is suggested.

    Args:
        nodes: Whose label is known.
        train: Those of them that a model may be trained on.
        passed_over: Those without a label that were skipped, or that nobody could tell.
    """

    nodes: NDArray[np.int64]
    train: NDArray[np.int64]
    passed_over: NDArray[np.int64]


def _told(loaded: Loaded, labels: UsedLabels, *, benchmark: bool) -> _Told:
    none = np.empty(0, dtype=np.int64)
    if labels == "none":
        return _Told(none, none, none)
    train = np.sort(loaded.split.train)
    nodes = train if benchmark else loaded.graph.labelled
    return _Told(nodes, train, np.setdiff1d(loaded.passed_over, nodes))


def _check(count: int, named: str, labels: str) -> None:
    strategy(named)
    if labels not in ("given", "none"):
        raise ConfigError(f"Labels can be 'given' or 'none', not {labels!r}.")
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ConfigError(f"{count!r} suggestions asked for. Ask for a whole number from 1 on.")


def _check_some_are_left(graph: Graph, told: _Told, count: int) -> None:
    left = graph.num_nodes - told.nodes.size - told.passed_over.size
    some, none = ("have a label", "have no label")
    if told.passed_over.size:
        some, none = "have a label, were skipped or are 'not sure'", "are left to label"
    if not left:
        raise DataError(
            f"{graph.name}: all {graph.num_nodes:,} nodes {some}; none is left to suggest. To choose as if none "
            "had one: --labels none"
        )
    if count > left:
        raise ConfigError(
            f"{graph.name}: {count:,} suggestions asked for, and {left:,} nodes {none}. Ask for fewer."
        )


def _by_run(run: Path | str, source: Source, graph: Graph, device: str) -> NDArray[np.float32]:
    """(N, C) what the models of a run say of the nodes."""
    answers = predict(run, source, device=device).distribution
    if answers.shape[0] != graph.num_nodes:
        raise DataError(f"{graph.name} has changed while it was read. Ask again.")
    return answers


def _by_training(
    graph: Graph,
    train: NDArray[np.int64],
    named: str,
    seed: int,
    device: str,
    working: Progress,
    notes: list[str],
) -> NDArray[np.float32] | None:
    """(N, C) what a model trained on the labels says; None where none is asked, with a note if it could help."""
    if not strategy(named).asks_model or np.unique(graph.labels[train]).size < 2:
        return None
    if graph.num_nodes + graph.adjacency.nnz > _LARGEST_TRAINED:
        notes.append(
            f"{graph.name} is too large to train a model just for this: the graph and the features decide. To ask "
            "a model, train one and name its folder with --run."
        )
        return None

    def tell(epoch: Epoch) -> None:
        working(f"training, {epoch.phase}", epoch.epoch, epoch.epochs)

    nothing = np.empty(0, dtype=np.int64)
    split = Split(train, nothing, nothing, "all given labels")
    return consulted().fit(graph, split, seed, Context(device, progress=tell)).label_distribution
