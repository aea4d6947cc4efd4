"""An example whose neighbours differ: generated firms that trade with those of the next role in a chain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.sources.examples.tables import ExampleTables, Row, some_of_each

_NUM_NODES = 400
_SEED = 3
_LABELS_PER_CLASS = 15
_TRADES_PER_FIRM = 3
# Of a firm's trades, how many are with another role.
_OTHER_ROLE = 0.9
_ROLES = ("grower", "wholesaler", "shop")
# The mean of each role's number of employees, hectares of land, lorries and opening hours a week.
_MEANS = ((12, 60, 3, 42), (40, 8, 14, 48), (9, 1, 1, 62))
_SPREADS = (15, 30, 6, 9)
_REGIONS = ("north", "east", "south", "west")


def market() -> ExampleTables:
    """400 growers, wholesalers and shops that trade along the chain, seldom with their like; 45 have a label."""
    generator = np.random.default_rng(_SEED)
    roles = generator.integers(0, len(_ROLES), _NUM_NODES)
    names = [f"firm-{number:03d}" for number in range(_NUM_NODES)]
    labelled = some_of_each(roles, _LABELS_PER_CLASS, generator)
    nodes = [_firm(names[node], int(role), node in labelled, generator) for node, role in enumerate(roles)]
    truth = [(name, _ROLES[role]) for name, role in zip(names, roles, strict=True)]
    return ExampleTables(
        nodes=(("id", "label", "employees", "land", "lorries", "hours", "region", "founded"), nodes),
        edges=(("source", "target"), _trades(names, roles, generator)),
        truth=(("id", "label"), truth),
    )


def _firm(name: str, role: int, is_labelled: bool, generator: np.random.Generator) -> Row:
    numbers = np.maximum(generator.normal(_MEANS[role], _SPREADS), 0).round().astype(int)
    region = str(generator.choice(_REGIONS))
    founded = int(generator.integers(1950, 2025))
    return (name, _ROLES[role] if is_labelled else "", *numbers.tolist(), region, founded)


def _trades(names: list[str], roles: NDArray[np.int64], generator: np.random.Generator) -> list[Row]:
    rows: list[Row] = []
    for firm, role in enumerate(roles.tolist()):
        for differs in generator.random(_TRADES_PER_FIRM) < _OTHER_ROLE:
            partner = _partner(role, generator) if differs else role
            others = np.flatnonzero(roles == partner)
            rows.append((names[firm], names[int(generator.choice(others[others != firm]))]))
    return rows


def _partner(role: int, generator: np.random.Generator) -> int:
    """A role next to this one in the chain."""
    return int(generator.choice([other for other in (role - 1, role + 1) if 0 <= other < len(_ROLES)]))
