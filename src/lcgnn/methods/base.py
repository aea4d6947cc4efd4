"""The contract of a method, and the registry that finds methods by name."""

from __future__ import annotations

import dataclasses
import difflib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.compute.placement.base import Kind
from lcgnn.errors import ConfigError
from lcgnn.files import plain, read_toml
from lcgnn.graph import Graph, Split
from lcgnn.methods.checks import check_settings
from lcgnn.training.checkpoint import CheckpointFile
from lcgnn.training.loop import Progress


@dataclass(frozen=True, eq=False)
class Stage:
    """One model that a fit passed through, such as the base before label consistency.

    Args:
        name: What to call it in a table.
        label_distribution: (N, C) what it predicts.
        history: (epochs, 3) training loss, validation loss, validation accuracy.
        best_epoch: The epoch that was kept, counted from 1; 0 if the stage ended where it began.
        note: What there is to say of it, in a sentence.
    """

    name: str
    label_distribution: NDArray[np.float32]
    history: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 3)))
    best_epoch: int = 0
    note: str = ""


@dataclass(frozen=True, eq=False)
class Fit:
    """What a method made of a graph: its stages, the last of which is the result.

    Args:
        stages: In order; the last one is the method's answer.
        tensors: The fitted parameters by name.
        seconds: Time spent fitting.
    """

    stages: tuple[Stage, ...]
    tensors: Mapping[str, Tensor]
    seconds: float

    @property
    def label_distribution(self) -> NDArray[np.float32]:
        """(N, C), every row sums to one."""
        return self.stages[-1].label_distribution


@dataclass(frozen=True)
class Context:
    """Where and how a fit runs; nothing in here changes its result.

    Args:
        device: A torch device, or "auto" for a GPU where there is one.
        checkpoint: Saves the state every so often; a fit that finds its own state continues from it.
        first_phase: Keeps the state after the first of several phases, for fits that have it in common.
        progress: Called after every epoch.
        parts: Above 1, hold only one of so many parts of the graph in memory at a time.
        folds: A folder that keeps what fits to some of the labels came to, for methods that choose by them.
    """

    device: str = "auto"
    checkpoint: CheckpointFile | None = None
    first_phase: CheckpointFile | None = None
    progress: Callable[[Progress], None] | None = None
    parts: int = 1
    folds: Path | None = None


@dataclass(frozen=True)
class Method(ABC):
    """A way to get from a graph and a few labels to a label distribution; its fields are its settings.

    Give every field ``setting(default, "help")``: command line, files and documentation read them from there.
    """

    deterministic: ClassVar[bool] = False
    """Whether every seed gives the same result, so that one run says it all."""

    @property
    def own_name(self) -> str:
        """What to call a method that is not registered."""
        return type(self).__name__.lower()

    @property
    def inductive(self) -> bool:
        """Whether what was fitted also classifies nodes that were not there: ``apply`` is for these methods."""
        return False

    @property
    def placements(self) -> frozenset[Kind]:
        """Where the rows may live of a graph that the method is fitted to."""
        return frozenset({"whole"})

    @property
    def passes_a_step(self) -> int:
        """How many passes through a network a training step holds at once."""
        return 1

    @abstractmethod
    def fit(self, graph: Graph, split: Split, seed: int = 0, context: Context | None = None) -> Fit:
        """Learn from the labels in ``split.train`` and choose by ``split.validation``; never read others."""

    def apply(self, fitted: Mapping[str, Tensor], graph: Graph, device: str = "auto") -> NDArray[np.float32]:  # noqa: ARG002
        """(N, C) what ``Fit.tensors`` say of a graph's nodes: the one that they were fitted to, or any other.

        The graph has the features of the fitted one; its labels and classes are not read. ConfigError if the
        method is not inductive.
        """
        raise ConfigError(f"{type(self).__name__} classifies only the nodes that it is fitted to.")

    def own_parts(self, num_features: int, num_classes: int) -> dict[str, str]:  # noqa: ARG002
        """What identifies a fit beside name and settings, on graphs of this size; nothing for what lcgnn has."""
        return {}

    def plain_settings(self) -> dict[str, Any]:
        """Its settings as plain data, as records and models keep them.

        A setting that was added later is left out at its default, so that older records still hold.
        """
        later = {item.name: item.default for item in dataclasses.fields(self) if item.metadata.get("added")}
        return {
            name: value
            for name, value in dataclasses.asdict(self).items()
            if name not in later or value != later[name]
        }

    def first_phase_settings(self) -> dict[str, Any] | None:
        """What determines the first of several phases, for methods that may have it in common; None if nothing."""
        return None


def setting(
    default: Any,
    help: str,
    *,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
    above: float | None = None,
    added: str | None = None,
) -> Any:
    """A field of a method, with the sentence that explains it and the range that it must lie in.

    Args:
        default: Its value where nothing else is said.
        help: What it is, for somebody who has not read the paper.
        at_least: The smallest value.
        below: What it must be smaller than.
        at_most: The largest value.
        above: What it must be larger than.
        added: The version that brought it, if the method was there before: see ``Method.plain_settings``.
    """
    limits = {"at_least": at_least, "below": below, "at_most": at_most, "above": above}
    return field(default=default, metadata={"help": help, "added": added, **limits})


@dataclass(frozen=True)
class Entry:
    """A registered name: which class with which settings, and how to explain it.

    Args:
        name: The name on the command line.
        method: The class.
        summary: One line for a list of methods.
        preset: Settings that make this name what it is.
        family: Names the section of ``defaults.toml`` that applies.
    """

    name: str
    method: type[Method]
    summary: str
    preset: Mapping[str, Any]
    family: str


# In the place of a benchmark's name: any graph of the user's own.
OWN_GRAPH = "own-graph"
# The section of ``defaults.toml`` that holds for every method with label consistency.
_LABEL_CONSISTENCY = "label-consistency"

_REGISTRY: dict[str, Entry] = {}

MethodClass = TypeVar("MethodClass", bound=type[Method])


def register(
    name: str, summary: str, *, family: str | None = None, **preset: Any
) -> Callable[[MethodClass], MethodClass]:
    """Make a method known under a name: ``@register("mlp", "A network that ignores the edges.")``."""

    def add(method: MethodClass) -> MethodClass:
        if name in _REGISTRY and _REGISTRY[name].method.__qualname__ != method.__qualname__:
            raise ConfigError(f"There is a method {name!r} already.")
        _REGISTRY[name] = Entry(name, method, summary, preset, family or name)
        return method

    return add


def entries() -> tuple[Entry, ...]:
    """All registered methods, in the order of their registration."""
    return tuple(_REGISTRY.values())


def is_registered(name: str) -> bool:
    """Whether there is a method of that name."""
    return name in _REGISTRY


def entry(name: str) -> Entry:
    """The entry of a name; an unknown one is answered with the nearest there is."""
    if name not in _REGISTRY:
        near = difflib.get_close_matches(name.lower(), _REGISTRY, n=3, cutoff=0.5)
        # Of names that are equally near, the one with the same letters is meant.
        near.sort(key=lambda other: sorted(other) != sorted(name.lower()))
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ConfigError(
            f"There is no method {name!r}.{hint} 'lcgnn methods' lists all of them; one of your own has to be "
            "registered first."
        )
    return _REGISTRY[name]


def name_of(method: Method) -> str:
    """The registered name that says most about a method with these settings, or its own where it has none."""
    named = [
        (len(item.preset), item.name)
        for item in entries()
        if item.method is type(method) and all(getattr(method, key) == value for key, value in item.preset.items())
    ]
    return max(named)[1] if named else method.own_name


def create(name: str, dataset: str | None = None, **settings: Any) -> Method:
    """The method of that name: the dataset's defaults, over them its preset, over both the given settings.

    Without a dataset this is the paper's form; for ``OWN_GRAPH`` it is what a graph of the user's own gets.
    """
    found = entry(name)
    defaults = dataset_defaults().get(found.family, {}).get((dataset or "").lower(), {})
    chosen = {**defaults, **found.preset, **{key: _plain(value) for key, value in settings.items()}}
    if dataset == OWN_GRAPH:
        chosen = {**own_graph_settings(found.method, chosen), **chosen}
    check_settings(name, found.method, chosen)
    return found.method(**chosen)


def _plain(value: Any) -> Any:
    """A setting as JSON has it: a number of NumPy's as Python's, settings of members as text."""
    if isinstance(value, np.generic):
        return value.item()
    return json.dumps(value, sort_keys=True, default=plain) if isinstance(value, Mapping) else value


def own_graph_settings(method: type[Method], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What departs from the paper's form on a graph of the user's own; nothing without label consistency.

    Args:
        method: The class.
        chosen: The settings that are chosen already, of which ``aggregation`` says what the second phase is.
    """
    known = settings_of(method)
    if "aggregation" not in known or chosen.get("aggregation", known["aggregation"].default) != "consistency":
        return {}
    section = dataset_defaults()[_LABEL_CONSISTENCY][OWN_GRAPH]
    return {key: value for key, value in section.items() if key in known}


def recorded(name: str, settings: Mapping[str, Any]) -> Method:
    """The method of that name with the settings that ``Method.plain_settings`` gave."""
    later = {
        key: item.default for key, item in settings_of(entry(name).method).items() if item.metadata.get("added")
    }
    return create(name, **{**later, **settings})


def settings_of(method: type[Method]) -> dict[str, dataclasses.Field[Any]]:
    """A method's settings by name, in the order of their declaration."""
    return {item.name: item for item in dataclasses.fields(method)}


@cache
def dataset_defaults() -> dict[str, dict[str, dict[str, Any]]]:
    """Settings by family and dataset, from ``defaults.toml``."""
    return read_toml(resources.files("lcgnn.methods").joinpath("defaults.toml"))
