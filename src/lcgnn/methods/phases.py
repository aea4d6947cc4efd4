"""What every method with a network does: train it through its phases, and make a stage of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.compute.kernels.threads import steady
from lcgnn.compute.placement.base import Placement
from lcgnn.compute.usual import usual
from lcgnn.mapping import all_in_blocks
from lcgnn.methods.base import Context, Fit, Stage
from lcgnn.networks.network import Network
from lcgnn.training.checkpoint import Outcome
from lcgnn.training.loop import Phase, Trainer, diverged
from lcgnn.training.objectives import Objective

Guard: TypeAlias = Callable[[Placement, Tensor, Stage, Stage], str | None]
"""Why the last of a fit's stages is worse than the first, given the validation nodes; None if it is not."""


@steady()
@usual()
def fit_in_phases(
    network: Network,
    graph: Placement,
    validation: Tensor,
    seed: int,
    context: Context,
    phases: Sequence[tuple[Phase, Objective]],
    guard: Guard | None = None,
    deciding: Tensor | None = None,
) -> Fit:
    """Train a network phase after phase; the fit has a stage for each and the last one's chosen parameters.

    With a guard that objects to the last stage, it ends where it began: as the first one. The guard is shown the
    labels of the ``deciding`` nodes, by default those for validation.
    """
    trainer = Trainer(
        network,
        graph,
        validation,
        seed,
        checkpoint=context.checkpoint,
        first_phase=context.first_phase,
        progress=context.progress,
    )
    stages: list[Stage] = []
    outcomes: list[Outcome] = []
    for phase, objective in phases:
        outcome = trainer.run(phase, objective)
        outcomes.append(outcome)
        stages.append(_stage(network, graph, outcome, objective))
        # Ranks find this out together, by the class agreement that all of them have.
        if graph.kind != "on ranks" and not all_in_blocks(np.isfinite, stages[-1].label_distribution):
            raise diverged(phase, outcome.best_epoch, "a probability is not finite")
    shown = validation if deciding is None else deciding
    objection = guard(graph, shown, stages[0], stages[-1]) if guard and len(stages) > 1 else None
    if objection is not None:
        kept = stages[0].label_distribution
        stages[-1] = replace(stages[-1], label_distribution=kept, best_epoch=0, note=objection)
        outcome = outcomes[0]
    parameters = {name: value.cpu() for name, value in outcome.best_state.items()}
    return Fit(tuple(stages), parameters, trainer.seconds)


@steady()
@usual()
@torch.no_grad()
def fitted_logits(network: Network, parameters: Mapping[str, Tensor], graph: Placement) -> Tensor:
    """Logits (N, C) of a network with fitted parameters; DataError if they are not a network's of this form."""
    network.load(parameters)
    logits: Tensor = network.to(graph.device)(graph)
    return logits


def nodes_on(graph: Placement, nodes: NDArray[np.int64]) -> Tensor:
    """Node numbers as a tensor where the graph is."""
    return torch.tensor(nodes, device=graph.device, dtype=torch.int64)


@torch.no_grad()
def _stage(network: Network, graph: Placement, outcome: Outcome, objective: Objective) -> Stage:
    """The phase's predictions with its chosen parameters; the network keeps the ones that it has."""
    with network.holding(outcome.best_state):
        distribution = objective.distribution(network(graph)).cpu().numpy()
    return Stage(outcome.phase, distribution, outcome.history, outcome.best_epoch)
