"""What a model keeps of the tables that it was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lcgnn.errors import DataError
from lcgnn.features.encoding import Encoding
from lcgnn.sources.tables.columns import Roles


@dataclass(frozen=True)
class TableForm:
    """How tables became a graph: enough to make the same features of others.

    Args:
        roles: Which column is what.
        encoding: How the feature columns became features; empty if the features were made from the edges.
    """

    roles: Roles
    encoding: Encoding

    def to_json(self) -> dict[str, Any]:
        """Plain data, from which `from_json` makes the same form again."""
        return {"columns": self.roles.to_json(), "encoding": self.encoding.to_json()}

    @classmethod
    def from_json(cls, content: Any) -> TableForm:
        """The form that `to_json` described; DataError if the content is something else."""
        if not isinstance(content, Mapping) or set(content) != {"columns", "encoding"}:
            raise DataError("The description of the tables is damaged. Train the model again.")
        return cls(Roles.from_json(content["columns"]), Encoding.from_json(content["encoding"]))
