"""The graphs that experiments are about, each read once."""

from __future__ import annotations

from lcgnn.runs.choice.auto import run_of
from lcgnn.runs.run import Run
from lcgnn.runs.spec import RunSpec
from lcgnn.sources.loaded import Loaded
from lcgnn.sources.source import Progress, Source


class Graphs:
    """Graphs by their source, read when somebody first asks for one."""

    def __init__(self) -> None:
        self._loaded: dict[str, Loaded] = {}

    def of(self, source: Source, progress: Progress | None = None) -> Loaded:
        """What a source gives."""
        if source.name not in self._loaded:
            self._loaded[source.name] = source.load(progress)
        return self._loaded[source.name]

    def run(self, spec: RunSpec) -> Run:
        """A run with its graph."""
        return run_of(spec, self.of(spec.source))
