"""The one training loop: epochs, selection, early stopping, checkpoints, progress.

A method trains in one phase or several; each is a call of ``Trainer.run`` on the same network. The loop knows
networks and objectives only by their contracts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from lcgnn.compute.kept_memory import kept_memory
from lcgnn.compute.kernels.adam import Adam
from lcgnn.compute.kernels.dropout import derive_key
from lcgnn.compute.placement.base import Placement
from lcgnn.errors import ConfigError, TrainingError
from lcgnn.networks.network import Network, TrainingOutput
from lcgnn.networks.reach_passes import quickest_passes
from lcgnn.training.checkpoint import Checkpoint, CheckpointFile, Outcome
from lcgnn.training.objectives import Objective
from lcgnn.training.weight_mean import WeightMean

Selection = Literal["accuracy", "loss", "both", "stopped", "last"]
SELECTIONS: tuple[Selection, ...] = ("accuracy", "loss", "both", "stopped", "last")


@dataclass(frozen=True)
class Phase:
    """How long and how to train, and which epoch to keep.

    Args:
        name: Of the phase, for progress and records.
        epochs: At most so many.
        learning_rate: Adam's.
        weight_decay: L2 penalty.
        selection: Keep the epoch with the highest validation accuracy (ties to the lower loss), the one with
            the lowest validation loss, the latest that no epoch before it beats in either of the two ("both"),
            the one at which early stopping stopped, or the last one, which reads no validation label.
        stop_window: Stop when the validation loss exceeds its mean over this many epochs before. 0 never stops.
        stop_after: The epochs before ``stop_window`` may stop anything; None for half of all epochs.
        patience: Stop after so many epochs in a row in which neither the highest validation accuracy nor the
            lowest validation loss so far improved. 0 never stops.
        decays: The L2 penalty of every parameter that has one, by name; None for ``weight_decay`` on all.
        averaging: Of every epoch not its parameters are validated and kept but their exponential mean over the
            epochs of the phase, each of which counts so many times what the next one does; 0 for no mean.
    """

    name: str
    epochs: int
    learning_rate: float
    weight_decay: float
    selection: Selection
    stop_window: int = 0
    stop_after: int | None = None
    patience: int = 0
    decays: Mapping[str, float] | None = None
    averaging: float = 0.0

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise ConfigError(f"The {self.name} phase needs at least one epoch, not {self.epochs}.")
        if self.selection not in SELECTIONS:
            raise ConfigError(f"Selection is {self.selection!r}; it can be {', '.join(SELECTIONS)}.")


@dataclass(frozen=True)
class Progress:
    """Where a run stands; passed to the progress callback after every epoch."""

    phase: str
    epoch: int
    epochs: int
    loss: float
    validation_accuracy: float | None


class Trainer:
    """Trains one network on one graph, phase after phase, and can continue from where it was killed.

    Args:
        network: Trained in place.
        graph: What it is trained on; others may hold the rest of it.
        validation: (V,) nodes that choose the epoch; may be empty if every phase keeps the last one.
        seed: Determines all dropout masks.
        checkpoint: Where to save the state every so often, and where to continue from if it is there.
        first_phase: Where to save the state after the first phase, and where to begin from if it is there: for
            runs that differ only in what follows.
        progress: Called after every epoch.
    """

    def __init__(
        self,
        network: Network,
        graph: Placement,
        validation: Tensor,
        seed: int,
        *,
        checkpoint: CheckpointFile | None = None,
        first_phase: CheckpointFile | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.network = network
        self.graph = graph
        self.validation = validation
        self.num_validation = graph.total(validation.shape[0])
        self.seed = seed
        self.seconds = 0.0
        self._progress = progress
        self._checkpoint = checkpoint
        self._first_phase = first_phase
        self._finished: list[Outcome] = []
        self._resumed = self._saved_in(checkpoint) or self._saved_in(first_phase)
        if self._resumed:
            self.seconds = self._resumed.seconds

    def _saved_in(self, file: CheckpointFile | None) -> Checkpoint | None:
        """What a file holds of this network; None if it holds nothing, or what is of a network of another form."""
        saved = file.load() if file else None
        return saved if saved and self.network.fits(saved.parameters) else None

    def kept_memory(self) -> AbstractContextManager[None]:
        """Inside it an epoch has the memory of the one before, where that pays."""
        # Parts are in memory in turn where there is little of it.
        rows = 0 if self.graph.kind == "in turn" else self.graph.num_nodes
        widths = (weight.shape[-1] for weight in self.network.parameters() if weight.dim())
        return kept_memory(rows, max(widths, default=0))

    def run(self, phase: Phase, objective: Objective) -> Outcome:
        """Train until the phase ends; the network is left with the last epoch's parameters."""
        started = time.perf_counter() - self.seconds
        loop = Loop(self, phase, objective)
        if self._resumed:
            if len(self._finished) < len(self._resumed.finished):
                self._finished.append(self._resumed.finished[len(self._finished)])
                return self._finished[-1]
            loop.restore(self._resumed)
            self._resumed = None
        elif self._first_phase and len(self._finished) == 1:
            self._first_phase.save(loop.checkpoint())
        with self.kept_memory():
            while loop.step():
                if self._checkpoint and self._checkpoint.due():
                    self.seconds = time.perf_counter() - started
                    self._checkpoint.save(loop.checkpoint())
        self.seconds = time.perf_counter() - started
        if not all(bool(torch.isfinite(value).all()) for value in loop.best_state.values()):
            raise diverged(phase, loop.best_epoch, "a parameter is not finite")
        self._finished.append(loop.outcome())
        return self._finished[-1]


class Loop:
    """One phase under way. Epoch e is the state after e optimiser steps.

    A forward pass serves twice: its part without dropout is the validation pass of the epoch before.
    """

    def __init__(self, trainer: Trainer, phase: Phase, objective: Objective) -> None:
        self.trainer, self.phase, self.objective = trainer, phase, objective
        self.network = trainer.network
        self.validates = phase.selection != "last"
        if self.validates and not trainer.num_validation:
            raise ConfigError(
                f"Selection by validation {phase.selection} needs validation nodes, and the split has none. "
                "Use selection 'last'."
            )
        self.parameters = dict(self.network.named_parameters())
        self.passes = quickest_passes(
            self.network,
            trainer.graph,
            objective.loss_reads(),
            objective.scores_read(trainer.validation if self.validates else trainer.validation[:0]),
            phase.epochs,
        )
        self.optimizer = Adam(self.parameters, phase.learning_rate, _weight_decay(self.parameters, phase))
        self.epoch = 0
        self.last_loss = float("nan")
        self.curve: list[tuple[float, float, float]] = []
        self.best_epoch = 0
        self.best_state: dict[str, Tensor] = {}
        self.watch = _Watch()
        self.mean = WeightMean(self.network, phase.averaging)

    def step(self) -> bool:
        """Validate the current epoch and, unless the phase ends here, take one optimiser step."""
        with self._holding_what_counts():
            self.passes.begin()
            if self.epoch:
                self._record()
            if self.epoch == self.phase.epochs or self._stops_early():
                if not self.validates:
                    self._keep()
                return False
        if self.phase.averaging:
            self.passes.begin()
        key = derive_key(self.trainer.seed, self.phase.name, self.epoch)
        self.last_loss, gradients = self._loss_and_gradients(self.passes.train(key))
        if not math.isfinite(self.last_loss):
            raise diverged(self.phase, self.epoch + 1, f"the loss is {self.last_loss}")
        self.passes.backward(*gradients)
        self.trainer.graph.sum_gradients(self.parameters.values())
        self.optimizer.step()
        self.epoch += 1
        if self.phase.averaging:
            self.mean.add(self.epoch)
        return True

    def _holding_what_counts(self) -> AbstractContextManager[None]:
        """Inside of it the network has the parameters that are validated and kept."""
        averaged = self.phase.averaging and self.epoch
        return self.network.holding(self.mean.state) if averaged else nullcontext()

    def _loss_and_gradients(self, output: TrainingOutput) -> tuple[float, list[Tensor]]:
        """The objective's loss of every answer and the network's extra loss, and the gradient by each of them."""
        losses, gradients = zip(*map(self.objective.loss_and_gradient, output.answers), strict=True)
        loss = sum(losses) * output.share
        if output.share != 1:
            gradients = tuple(gradient.mul_(output.share) for gradient in gradients)
        if output.extra_loss is None:
            return loss, [*gradients]
        weight = torch.full_like(output.extra_loss, self.objective.extra_weight)
        return loss + self.trainer.graph.sum(weight * output.extra_loss).item(), [*gradients, weight]

    def _record(self) -> None:
        validation_loss = accuracy = float("nan")
        if self.validates:
            validation_loss, correct = self.objective.scores(self.passes.validate(), self.trainer.validation)
            accuracy = correct / self.trainer.num_validation
        self.curve.append((self.last_loss, validation_loss, accuracy))
        self.watch.add(validation_loss, accuracy)
        if self.validates and self._improves():
            self._keep()
        if self.trainer._progress:
            self.trainer._progress(
                Progress(
                    self.phase.name,
                    self.epoch,
                    self.phase.epochs,
                    self.last_loss,
                    accuracy if self.validates else None,
                )
            )

    def _improves(self) -> bool:
        if not self.best_epoch:
            return True
        _, loss, accuracy = self.curve[-1]
        _, best_loss, best_accuracy = self.curve[self.best_epoch - 1]
        if self.phase.selection == "stopped":
            return True
        if self.phase.selection == "loss":
            return loss < best_loss
        if self.phase.selection == "both":
            return self.watch.unbeaten
        return (accuracy, -loss) > (best_accuracy, -best_loss)

    def _keep(self) -> None:
        self.best_epoch = self.epoch
        self.best_state = {name: value.clone() for name, value in self.network.state().items()}

    def _stops_early(self) -> bool:
        if self.phase.patience and self.watch.stale >= self.phase.patience:
            return True
        window = self.phase.stop_window
        after = self.phase.epochs // 2 if self.phase.stop_after is None else self.phase.stop_after
        if not self.validates or not window or self.epoch <= max(after, window):
            return False
        before = [loss for _, loss, _ in self.curve[-window - 1 : -1]]
        return self.curve[-1][1] > sum(before) / len(before)

    def outcome(self) -> Outcome:
        return Outcome(self.phase.name, self.best_epoch, self.best_state, np.array(self.curve))

    def checkpoint(self) -> Checkpoint:
        """Everything that the rest of the run depends on."""
        return Checkpoint(
            seconds=self.trainer.seconds,
            finished=self.trainer._finished,
            epoch=self.epoch,
            last_loss=self.last_loss,
            parameters=self.network.state(),
            moments=self.optimizer.moments(),
            current=self.outcome(),
            mean=self.mean.state,
        )

    @torch.no_grad()
    def restore(self, saved: Checkpoint) -> None:
        """Continue from a checkpoint of this phase as if nothing had happened."""
        self.epoch, self.last_loss = saved.epoch, saved.last_loss
        self.network.load(saved.parameters)
        self.optimizer.restore(saved.epoch, saved.moments)
        self.best_epoch, self.best_state = saved.current.best_epoch, saved.current.best_state
        self.curve = [(row[0], row[1], row[2]) for row in saved.current.history.tolist()]
        self.mean.restore(saved.mean)
        self.watch = _Watch()
        for _, validation_loss, accuracy in self.curve:
            self.watch.add(validation_loss, accuracy)


def diverged(phase: Phase, epoch: int, what: str) -> TrainingError:
    """The error that says when training left the finite numbers, and what to try."""
    return TrainingError(
        f"Training diverged in epoch {epoch} of the phase {phase.name!r}: {what}. Try a smaller learning rate "
        f"than {phase.learning_rate:g} (--set learning_rate={min(0.01, phase.learning_rate / 10):g}), and look "
        "for features and settings with huge values."
    )


class _Watch:
    """The best validation scores so far, and for how many epochs they have stood.

    An epoch without validation (NaN) improves nothing and counts for nothing.
    """

    def __init__(self) -> None:
        self.lowest_loss, self.highest_accuracy = float("inf"), 0.0
        self.stale = 0
        self.unbeaten = False

    def add(self, loss: float, accuracy: float) -> None:
        """Take in an epoch; ``unbeaten`` says whether no epoch before it was better in either score."""
        self.unbeaten = loss <= self.lowest_loss and accuracy >= self.highest_accuracy
        improved = loss < self.lowest_loss or accuracy > self.highest_accuracy
        self.stale = 0 if improved or math.isnan(loss) else self.stale + 1
        self.lowest_loss = min(self.lowest_loss, loss)
        self.highest_accuracy = max(self.highest_accuracy, accuracy)


def _weight_decay(parameters: Mapping[str, Tensor], phase: Phase) -> dict[str, float]:
    """The weight decay of every parameter."""
    decays = dict.fromkeys(parameters, phase.weight_decay) if phase.decays is None else phase.decays
    unknown = decays.keys() - parameters.keys()
    if unknown:
        raise ConfigError(f"Weight decay names {sorted(unknown)}; the network has {', '.join(parameters)}.")
    return {name: decays.get(name, 0.0) for name in parameters}
