"""The configuration of a run folder: what all runs in it have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lcgnn.runs.fields import Place, fields_of, plain_object, text
from lcgnn.runs.spec import SplitSpec, read_split_fields


@dataclass(frozen=True)
class UsedSplit:
    """Which labels are used: as they were asked for, and what that came to on the graph.

    Args:
        spec: As asked for.
        name: How the split came about, in words.
        checksum: Of its nodes.
    """

    spec: SplitSpec
    name: str
    checksum: str

    def to_json(self) -> dict[str, Any]:
        """As plain data, in one object."""
        return {**self.spec.to_json(), "name": self.name, "checksum": self.checksum}


@dataclass(frozen=True)
class Configuration:
    """What a run folder is about.

    Args:
        lcgnn: The version that it was made with.
        dataset: A benchmark's name, or what the graph is called.
        graph: The graph's checksum.
        method: Its name.
        settings: All of the method's.
        split: Which labels are used.
    """

    lcgnn: str
    dataset: str
    graph: str
    method: str
    settings: Mapping[str, Any]
    split: UsedSplit

    def identity(self) -> dict[str, Any]:
        """What determines the results, as plain data: all but the version."""
        return {name: value for name, value in self.to_json().items() if name != "lcgnn"}

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "lcgnn": self.lcgnn,
            "dataset": self.dataset,
            "graph": self.graph,
            "method": self.method,
            "settings": dict(self.settings),
            "split": self.split.to_json(),
        }

    @classmethod
    def from_json(cls, content: Any, where: str = "configuration") -> Configuration:
        """From plain data, or OutputError that says which field of it is wrong."""
        with fields_of(content, Place(where)) as fields:
            return cls(
                lcgnn=fields.read("lcgnn", text),
                dataset=fields.read("dataset", text),
                graph=fields.read("graph", text),
                method=fields.read("method", text),
                settings=fields.read("settings", plain_object),
                split=fields.read("split", read_used_split),
            )


def read_used_split(content: Any, place: Place) -> UsedSplit:
    with fields_of(content, place) as fields:
        return UsedSplit(read_split_fields(fields), fields.read("name", text), fields.read("checksum", text))
