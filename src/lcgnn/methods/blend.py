"""The mean of what several methods say, for where a handful of labels cannot tell which of them is best.

Every member is fitted alone, to the same labels and from the same seed, and their label distributions are averaged
as they are. Where the members are about as good, the mean is as good as the better one more often than not; where
one of them fails on a graph, it is nearer to the other than a wrong choice would be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.compute.placement.base import Kind
from lcgnn.errors import ConfigError
from lcgnn.graph import Graph, Split
from lcgnn.methods.base import (
    OWN_GRAPH,
    Context,
    Fit,
    Method,
    Stage,
    create,
    entry,
    recorded,
    register,
    setting,
    settings_of,
)
from lcgnn.methods.several import context_of, mean_of, tensors_of_each, tensors_together
from lcgnn.training.loop import Selection

BLEND = "blend"


@register(BLEND, "The mean of what several methods say, for where labels cannot tell which is best.")
@dataclass(frozen=True)
class Blend(Method):
    """Several methods, each fitted alone; the answer is the mean of theirs."""

    members: str = setting("lc-appnp,lc-gcn", "The methods whose answers are averaged, separated by commas.")
    settings: str = setting(
        "{}", "Of the members, as JSON by their names; what is not there is as on a graph of one's own."
    )
    selection: Selection | None = setting(
        None,
        "Which epoch the members keep: by validation accuracy or loss, or the last; null: as their settings say.",
    )

    def __post_init__(self) -> None:
        if len(self.names) < 2:
            raise ConfigError(
                f"blend: members is {self.members!r}; name two methods or more, separated by commas."
            )
        if len(self.methods) < len(self.names) or BLEND in self.names:
            raise ConfigError(f"blend: members is {self.members!r}; every method can be in it once, and no blend.")

    @classmethod
    def of(cls, members: Mapping[str, Method]) -> Blend:
        """The mean of methods as they are, by their registered names."""
        settings = {name: method.plain_settings() for name, method in members.items()}
        return cls(",".join(members), json.dumps(settings, sort_keys=True))

    @property
    def names(self) -> tuple[str, ...]:
        """Of the members."""
        return tuple(name.strip() for name in self.members.split(",") if name.strip())

    @cached_property
    def methods(self) -> dict[str, Method]:
        """The members by name."""
        given = self._given()
        made = {name: _member(name, given.get(name, {})) for name in self.names if name != BLEND}
        if self.selection is None:
            return made
        chosen = {"selection": self.selection}
        return {
            name: replace(method, **chosen) if "selection" in settings_of(type(method)) else method
            for name, method in made.items()
        }

    def _given(self) -> dict[str, Any]:
        try:
            found = json.loads(self.settings)
        except ValueError:
            found = None
        if not isinstance(found, dict) or not all(isinstance(item, dict) for item in found.values()):
            raise ConfigError('blend: settings must be JSON such as {"lc-gcn": {"epochs": 50}}.')
        unknown = sorted(set(found) - set(self.names))
        if unknown:
            raise ConfigError(f"blend: settings are given for {unknown[0]!r}, which is none of {self.members}.")
        return found

    @property
    def inductive(self) -> bool:
        return all(method.inductive for method in self.methods.values())

    @property
    def placements(self) -> frozenset[Kind]:
        # Ranks share one checkpoint.
        common = frozenset.intersection(*(method.placements for method in self.methods.values()))
        return common - {"on ranks"}

    @property
    def passes_a_step(self) -> int:
        return max(method.passes_a_step for method in self.methods.values())

    def fit(self, graph: Graph, split: Split, seed: int = 0, context: Context | None = None) -> Fit:
        context = context or Context()
        fits = [
            method.fit(graph, split, seed, context_of(context, number))
            for number, method in enumerate(self.methods.values())
        ]
        members = [_as_member(name, fit.stages[-1]) for name, fit in zip(self.methods, fits, strict=True)]
        mean = Stage(BLEND, mean_of([stage.label_distribution for stage in members]))
        return Fit((*members, mean), tensors_together(fits), sum(fit.seconds for fit in fits))

    def apply(self, fitted: Mapping[str, Tensor], graph: Graph, device: str = "auto") -> NDArray[np.float32]:
        """(N, C) the mean of what the members say of a graph."""
        each = zip(self.methods.values(), tensors_of_each(len(self.methods), fitted), strict=True)
        return mean_of([method.apply(own, graph, device) for method, own in each])


def _member(name: str, settings: Mapping[str, Any]) -> Method:
    """A method by all of its settings, as a record has them, or by some, as for a graph of one's own."""
    needed = {key for key, item in settings_of(entry(name).method).items() if not item.metadata.get("added")}
    return recorded(name, settings) if needed <= settings.keys() else create(name, OWN_GRAPH, **settings)


def _as_member(name: str, stage: Stage) -> Stage:
    """What a member ended with, under its name, which its note has as well."""
    note = f"{stage.note} (This is said of {name}, a part of the mean.)" if stage.note else ""
    return replace(stage, name=name, note=note)
