"""The server's side of the training: starts the process, gives it the newest labels and hands on what it says."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import TypeAlias

from lcgnn.graph import Graph
from lcgnn.labelling.training import Estimated, Failed, Fitted, Job, work
from lcgnn.runs.workers import interrupts_later

Said: TypeAlias = Fitted | Estimated | Failed

# Seconds that the process has to end before it is killed.
_PATIENCE = 0.5


class Trainer:
    """A process that trains, one for as long as the page is open; one that dies is started again when needed.

    Args:
        graph: The graph.
        heard: Called with whatever the process says, from a thread of its own.
    """

    def __init__(self, graph: Graph, heard: Callable[[Said], None]) -> None:
        self._graph, self._heard = graph, heard
        self._lock = threading.Lock()
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None
        self._closed = False
        self._newest = 0

    def train(self, job: Job) -> None:
        """Have these labels learnt from next; returns at once."""
        self._newest = job.number
        threading.Thread(target=self._send, args=(job,), daemon=True).start()

    def start(self) -> None:
        """Start the process ahead of the first labels, because libraries take seconds to load."""
        with self._lock:
            if self._closed or (self._process is not None and self._process.is_alive()):
                return
            context = multiprocessing.get_context("spawn")
            self._connection, theirs = context.Pipe()
            process = context.Process(target=work, args=(theirs,), daemon=True)
            with interrupts_later():
                process.start()
            # Only one that runs can be ended; and the graph, which it reads once its libraries are there, is sent
            # after that, because whoever closes this in those seconds ends them.
            self._process = process
            theirs.close()
            threading.Thread(target=self._listen, args=(self._connection,), daemon=True).start()
            if not self._closed:
                # One that ends before it has read the graph is told of by who listens to it.
                with suppress(OSError):
                    self._connection.send(self._graph)

    def close(self) -> None:
        """End the process."""
        self._closed = True
        if self._process is not None:
            # First of all: who sends it something that it has no room for has the lock until it ends.
            self._process.terminate()
        with self._lock:
            if self._connection is not None:
                with suppress(OSError):
                    self._connection.close()
            if self._process is not None:
                self._process.terminate()
                self._process.join(_PATIENCE)
                self._process.kill()

    def _send(self, job: Job) -> None:
        try:
            self.start()
            with self._lock:
                if self._connection is not None and not self._closed and job.number == self._newest:
                    self._connection.send(job)
        except OSError as error:
            self._heard(Failed(job.number, f"The training process cannot be reached ({error})."))

    def _listen(self, connection: Connection) -> None:
        while True:
            try:
                said = connection.recv()
            except (EOFError, OSError):
                break
            if said is not None:
                self._heard(said)
        if not self._closed:
            self._heard(
                Failed(
                    0,
                    "The training process ended, perhaps for want of memory. It starts again with the next label.",
                )
            )
