"""Which column of a table is what: as named by the user, or guessed from its name."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lcgnn.errors import DataError
from lcgnn.features.table import TableFile, shown

_NAMES = {
    "id": ("id", "node", "node_id", "nodeid", "node id"),
    "label": ("label", "class", "target", "y", "labels"),
    "source": ("source", "src", "from", "source_id", "sourceid", "node1", "id_1", "id1", "node_1", "u"),
    "target": ("target", "dst", "to", "target_id", "targetid", "node2", "id_2", "id2", "node_2", "v"),
    "weight": ("weight", "weights", "edge_weight"),
    "split": ("split",),
}
_OF_EDGES = ("source", "target", "weight")


@dataclass(frozen=True)
class Columns:
    """The user's names for columns; None leaves a column to be guessed.

    Args:
        id: A node's id, in the node table.
        label: A node's class, empty where unknown.
        source: Where an edge begins.
        target: Where it ends.
        weight: How strong it is.
        ignore: Columns of the node table that are not to be used.
    """

    id: str | None = None
    label: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    ignore: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, content: Any) -> Columns:
        """What plain data says of them; what it does not say, or says otherwise than in text, is to be guessed."""
        told = content if isinstance(content, Mapping) else {}
        named = {role: told[role] for role in _NAMES if role != "split" and isinstance(told.get(role), str)}
        ignore = told.get("ignore")
        left_out = ignore if isinstance(ignore, list | tuple) else ()
        return cls(**named, ignore=tuple(name for name in left_out if isinstance(name, str)))

    def options(self) -> list[str]:
        """What the command line is told of them."""
        named = [(role, getattr(self, role)) for role in ("id", "label", "source", "target", "weight")]
        told = [(role, name) for role, name in named if name is not None]
        told += [("ignore", name) for name in self.ignore]
        return [text for role, name in told for text in (f"--{role}-column", name)]

    def find(self, file: TableFile, role: str) -> str | None:
        """The column that has a role in a table, or None; DataError if a named one is missing or two would do."""
        named: str | None = getattr(self, role, None)
        if named is not None:
            check_exists(file, named, role)
            return named
        # What is not to be used are columns of the nodes.
        unused = () if role in _OF_EDGES else self.ignore
        found = [name for name in file.names if name.lower() in _NAMES[role] and name not in unused]
        if len(found) > 1:
            both = " and ".join(shown(name) for name in found)
            which = f"Say which with {file.option(role)}" if hasattr(self, role) else ""
            drop = f"eave the other out with {file.option('ignore')} if it is no feature"
            what = which if role in _OF_EDGES else f"{which}, and l{drop}" if which else f"L{drop}"
            raise DataError(f"{file.path}: the columns {both} could both be the {role}. {what}.")
        return found[0] if found else None

    def find_or_new(self, file: TableFile, role: str) -> str:
        """The column that has a role in a table, or the name of one that is to be added."""
        named: str | None = getattr(self, role, None)
        return named or self.find(file, role) or role

    def require(self, file: TableFile, role: str) -> str:
        """The column that has a role in a table; DataError says what to do if there is none."""
        found = self.find(file, role)
        if found is not None:
            return found
        if len(file.names) == 1:
            raise DataError(
                f"{file.path}: the only column is {shown(file.names[0])}. Separate the cells by commas "
                "(or tabs, in a .tsv file) and name the columns in the first line."
            )
        rename = "rename it" if file.in_memory else "name the columns in the first line"
        listed = ", ".join(shown(name) for name in file.names[:8]) + (", ..." if len(file.names) > 8 else "")
        none_yet = " If no node has a label yet, begin with: lcgnn label GRAPH" if role == "label" else ""
        raise DataError(
            f"{file.path}: no column is called {shown(role)}; there are {listed}. Say which it is with "
            f"{file.option(role)}, or {rename}.{none_yet}"
        )


def check_exists(file: TableFile, name: str, role: str) -> None:
    """Refuse a column that was named and is not there."""
    if name in file:
        return
    near = difflib.get_close_matches(name, file.names, n=1)
    hint = f"Did you mean {shown(near[0])}?" if near else f"There are {', '.join(map(shown, file.names[:8]))}."
    raise DataError(f"{file.path}: there is no column {shown(name)} ({file.option(role)}). {hint}")


@dataclass(frozen=True)
class Roles:
    """Which column of the two tables is what; the columns that are features are the encoding's to know.

    Args:
        id: A node's id.
        label: Its class; None where no node has one.
        split: What its label is for.
        source: Where an edge begins.
        target: Where it ends.
        weight: How strong it is.
    """

    id: str
    label: str | None
    split: str | None
    source: str
    target: str
    weight: str | None

    @classmethod
    def of(cls, nodes: TableFile, edges: TableFile, columns: Columns, *, needs_labels: bool = True) -> Roles:
        """As the columns are named, or guessed; a column of labels may be missing where none are needed."""
        for name in columns.ignore:
            if name not in nodes.left_out:
                check_exists(nodes, name, "ignore")
        id_column = columns.require(nodes, "id")
        label = columns.require(nodes, "label") if needs_labels else columns.find(nodes, "label")
        split = columns.find(nodes, "split")
        if id_column == label:
            raise DataError(f"{nodes.path}: column {shown(label)} cannot be id and label of a node. Name two.")
        source, target = columns.require(edges, "source"), columns.require(edges, "target")
        if source == target:
            raise DataError(
                f"{edges.path}: column {shown(source)} cannot be source and target of an edge. Name two."
            )
        return cls(id_column, label, split, source, target, columns.find(edges, "weight"))

    def within(self, nodes: TableFile, edges: TableFile, columns: Columns) -> Roles:
        """The same roles in other tables, where ``columns`` may name them otherwise.

        Labels and what they are for may be missing there; DataError names anything else that is.
        """
        named = {name: value for name, value in vars(columns).items() if name != "ignore" and value is not None}
        roles = dataclasses.replace(self, **named)
        check_exists(nodes, roles.id, "id")
        check_exists(edges, roles.source, "source")
        check_exists(edges, roles.target, "target")
        if self.weight is None and roles.weight is not None:
            raise DataError(
                f"{edges.path}: column {shown(roles.weight)} cannot be the weight, because the model was trained "
                f"without weights. Leave {edges.option('weight')} out, or train again."
            )
        if roles.weight is not None:
            check_exists(edges, roles.weight, "weight")
        if columns.label is not None:
            check_exists(nodes, columns.label, "label")
        return dataclasses.replace(
            roles,
            label=roles.label if roles.label in nodes else None,
            split=roles.split if roles.split in nodes else None,
        )

    def features(self, nodes: TableFile, ignore: tuple[str, ...]) -> tuple[str, ...]:
        """All other columns of the nodes."""
        others = {self.id, self.label, self.split, *ignore}
        return tuple(name for name in nodes.names if name not in others)

    def to_json(self) -> dict[str, str | None]:
        """Plain data, from which `from_json` makes the same roles again."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, content: Any) -> Roles:
        """The roles that `to_json` described; DataError if the content is something else."""
        names = {item.name for item in dataclasses.fields(cls)}
        if not isinstance(content, Mapping) or set(content) != names:
            raise DataError("The description of the columns is damaged. Train the model again.")
        required = (content["id"], content["source"], content["target"])
        optional = (content["label"], content["split"], content["weight"])
        if not all(isinstance(name, str) for name in required) or not all(
            name is None or isinstance(name, str) for name in optional
        ):
            raise DataError("The description of the columns is damaged. Train the model again.")
        return cls(**content)
