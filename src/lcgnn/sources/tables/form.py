"""What a model keeps of the graph that it was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lcgnn.errors import DataError
from lcgnn.features.encoding import Encoding
from lcgnn.features.scaling import Scaling
from lcgnn.sources.tables.columns import Roles


@dataclass(frozen=True)
class TableForm:
    """How tables or arrays became a graph: enough to make the same features of others.

    Args:
        roles: Which column of the tables is what; None for a graph that has no columns.
        encoding: How the feature columns became features; empty if the features were made from the edges.
        scaling: What was done to features that were numbers already; None for nothing.
    """

    roles: Roles | None
    encoding: Encoding
    scaling: Scaling | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data, from which `from_json` makes the same form again."""
        columns = None if self.roles is None else self.roles.to_json()
        content = {"columns": columns, "encoding": self.encoding.to_json()}
        return content if self.scaling is None else {**content, "scaling": self.scaling.to_json()}

    @classmethod
    def from_json(cls, content: Any) -> TableForm:
        """The form that `to_json` described; DataError if the content is something else."""
        if not isinstance(content, Mapping) or set(content) | {"scaling"} != {"columns", "encoding", "scaling"}:
            raise DataError("The description of the tables is damaged. Train the model again.")
        scaling, columns = content.get("scaling"), content["columns"]
        return cls(
            None if columns is None else Roles.from_json(columns),
            Encoding.from_json(content["encoding"]),
            None if scaling is None else Scaling.from_json(scaling),
        )
