"""The state of an unfinished run in one file: safetensors, written whole or not at all."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.compute.tensor_files import read_tensors, write_tensors
from lcgnn.errors import OutputError
from lcgnn.files import remove_leftovers

_FORMAT = "lcgnn checkpoint 2"
# In the name of a file of one of several models.
_MODEL = "-model-"


@dataclass
class Outcome:
    """What a phase gave: the chosen parameters and the curve that led there.

    Args:
        phase: Name of the phase.
        best_epoch: The epoch that was kept, counted from 1.
        best_state: The network's parameters at that epoch, and the buffers that it keeps, if any.
        history: (epochs, 3) training loss, validation loss, validation accuracy; NaN where not measured.
    """

    phase: str
    best_epoch: int = 0
    best_state: dict[str, Tensor] = field(default_factory=dict)
    history: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 3)))

    @property
    def best_validation_accuracy(self) -> float:
        return float(self.history[self.best_epoch - 1, 2])


@dataclass
class Checkpoint:
    """What it takes to continue a run with the result that it would have had.

    Args:
        seconds: Spent so far.
        finished: Phases that ended.
        epoch: Optimiser steps taken in the phase under way.
        last_loss: Training loss of the last of them.
        parameters: Of the network, and the buffers that it keeps, if any.
        moments: Of the optimiser, by parameter and moment.
        current: The phase under way.
        mean: What the network's state was on average, where the phase goes by that.
    """

    seconds: float
    finished: list[Outcome]
    epoch: int
    last_loss: float
    parameters: dict[str, Tensor]
    moments: dict[str, Tensor]
    current: Outcome
    mean: dict[str, Tensor] = field(default_factory=dict)


class CheckpointFile:
    """A checkpoint on disk that belongs to one run.

    Args:
        path: Of the file.
        fingerprint: Of everything that determines the run; a file with another one is ignored.
        every: Seconds between two saves.
    """

    def __init__(self, path: Path, fingerprint: str, *, every: float = 15.0) -> None:
        self.path, self.fingerprint, self.every = path, fingerprint, every
        self._saved_at = time.monotonic()

    def of_model(self, number: int) -> CheckpointFile:
        """The file of one of several models that are fitted in one run; it goes with this one."""
        path = self.path.with_name(f"{self.path.stem}{_MODEL}{number}{self.path.suffix}")
        return CheckpointFile(path, f"{self.fingerprint} model {number}", every=self.every)

    def due(self) -> bool:
        """Whether it is time to save again."""
        return time.monotonic() - self._saved_at >= self.every

    def save(self, checkpoint: Checkpoint) -> None:
        """Replace the file by this checkpoint."""
        outcomes = [*checkpoint.finished, checkpoint.current]
        tensors = {f"parameters/{name}": value for name, value in checkpoint.parameters.items()}
        tensors |= {f"moments/{name}": value for name, value in checkpoint.moments.items()}
        tensors |= {f"mean/{name}": value for name, value in checkpoint.mean.items()}
        for position, outcome in enumerate(outcomes):
            tensors[f"{position}/history"] = torch.from_numpy(outcome.history.reshape(-1, 3))
            for name, value in outcome.best_state.items():
                tensors[f"{position}/best/{name}"] = value
        header = {
            "format": _FORMAT,
            "fingerprint": self.fingerprint,
            "seconds": checkpoint.seconds,
            "epoch": checkpoint.epoch,
            "last_loss": checkpoint.last_loss,
            "outcomes": [{"phase": outcome.phase, "best_epoch": outcome.best_epoch} for outcome in outcomes],
        }
        write_tensors(self.path, tensors, header)
        self._saved_at = time.monotonic()

    def load(self) -> Checkpoint | None:
        """The saved checkpoint, or None if there is none that belongs to this run and is whole."""
        try:
            tensors, header = read_tensors(self.path)
        except OutputError:
            return None
        if header.get("format") != _FORMAT or header.get("fingerprint") != self.fingerprint:
            return None
        outcomes = [
            Outcome(
                **outcome,
                history=np.asarray(tensors[f"{position}/history"]),
                best_state=_with_prefix(tensors, f"{position}/best/"),
            )
            for position, outcome in enumerate(header["outcomes"])
        ]
        return Checkpoint(
            seconds=header["seconds"],
            finished=outcomes[:-1],
            epoch=header["epoch"],
            last_loss=header["last_loss"],
            parameters=_with_prefix(tensors, "parameters/"),
            moments=_with_prefix(tensors, "moments/"),
            current=outcomes[-1],
            mean=_with_prefix(tensors, "mean/"),
        )

    def delete(self) -> None:
        """Remove the file, and those of its models, once the run has its result."""
        for path in (self.path, *self.path.parent.glob(f"{self.path.stem}{_MODEL}*{self.path.suffix}")):
            path.unlink(missing_ok=True)
            remove_leftovers(path)


def _with_prefix(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name[len(prefix) :]: value for name, value in tensors.items() if name.startswith(prefix)}
