"""An objective where its graph is: over all nodes of this process, of all ranks, or of parts on disk."""

from __future__ import annotations

from lcgnn.compute.placement.ranks import PartsInTurn, Ranks
from lcgnn.compute.placement.world import World
from lcgnn.training.objectives import Objective
from lcgnn.training.rank_objectives import over_all_ranks
from lcgnn.training.streamed import in_turn


def placed(objective: Objective, ranks: Ranks) -> Objective:
    """The same objective, over all nodes."""
    if isinstance(ranks, World):
        return over_all_ranks(objective, ranks)
    return in_turn(objective) if isinstance(ranks, PartsInTurn) else objective
