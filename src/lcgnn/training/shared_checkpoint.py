"""A checkpoint that the first rank keeps and all ranks continue from: parameters are the same everywhere."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from lcgnn.compute.placement.world import World
from lcgnn.training.checkpoint import Checkpoint, CheckpointFile


class SharedCheckpoint(CheckpointFile):
    """The first rank's file, which the others need not be able to read.

    Args:
        file: The first rank's; None on the others, and where nothing is to be kept.
        fingerprint: Of the run.
        world: The ranks.
    """

    def __init__(self, file: CheckpointFile | None, fingerprint: str, world: World) -> None:
        super().__init__(file.path if file else Path(), fingerprint)
        self.file, self.world = file, world

    def due(self) -> bool:
        return self.file is not None and self.file.due()

    def save(self, checkpoint: Checkpoint) -> None:
        assert self.file is not None
        self.file.save(checkpoint)

    def load(self) -> Checkpoint | None:
        found = self.file.load() if self.file else None
        content = self.world.broadcast(self.path.read_bytes() if found else None)
        if self.world.is_first or not content:
            return found
        with TemporaryDirectory(prefix="lcgnn-") as folder:
            copy = Path(folder) / "checkpoint.safetensors"
            copy.write_bytes(content)
            return CheckpointFile(copy, self.fingerprint).load()

    def delete(self) -> None:
        if self.file is not None:
            self.file.delete()
