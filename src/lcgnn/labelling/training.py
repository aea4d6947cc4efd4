"""The process that trains behind the page: the newest labels first, then how far to trust what came of them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.calibration import HeldOut
from lcgnn.assessment.trust import Assessment
from lcgnn.compute.placement.launch import end_with_parent
from lcgnn.errors import LCGNNError
from lcgnn.graph import UNLABELLED, Graph, Split
from lcgnn.methods import Fit, Method, create
from lcgnn.methods.base import OWN_GRAPH
from lcgnn.runs.cross_validation import division
from lcgnn.sources.splits import folds, lost_labels

# Fast, and it needs no label for validation.
METHOD = "lc-gcn"
# More folds than this would keep the page waiting.
_MOST_FOLDS = 5
# A little politer than the server, which has to answer within the blink of an eye.
_NICENESS = 2


@dataclass(frozen=True, eq=False)
class Job:
    """Labels to learn from.

    Args:
        number: Counts the jobs up.
        nodes: (L,) the labelled nodes.
        labels: (L,) their classes.
        class_names: Of the classes, each of which has a label.
        suggested: Whether most of the nodes were suggested.
    """

    number: int
    nodes: NDArray[np.int64]
    labels: NDArray[np.int64]
    class_names: tuple[str, ...]
    suggested: bool = True

    def labelled(self, graph: Graph) -> tuple[Graph, Split]:
        """The graph with these labels, all of them for training."""
        labels = np.full(graph.num_nodes, UNLABELLED)
        labels[self.nodes] = self.labels
        none = np.empty(0, dtype=np.int64)
        split = Split(np.sort(self.nodes), none, none, chosen=self.suggested)
        return replace(graph, labels=labels, class_names=self.class_names), split


@dataclass(frozen=True, eq=False)
class Fitted:
    """What was learnt from a job's labels."""

    job: Job
    fit: Fit


@dataclass(frozen=True, eq=False)
class Estimated:
    """How far to trust what is learnt from a job's labels.

    Args:
        job: The labels.
        assessment: What held-out labels say; None where none can be held out.
        nodes: (H,) the held-out nodes.
        held_out: (H, C) what models that had not seen them predicted.
    """

    job: Job
    assessment: Assessment | None
    nodes: NDArray[np.int64]
    held_out: NDArray[np.float32]


@dataclass(frozen=True)
class Failed:
    """That a job could not be done, and why."""

    number: int
    words: str


def page_method() -> Method:
    """What is trained: every label is used for training, so the last epoch is kept."""
    return create(METHOD, OWN_GRAPH, selection="last")


def work(connection: Connection) -> None:
    """Train whatever comes through a connection after the graph, until it closes, in a process of its own.

    Fits to the newest labels and folds of the estimate take turns, so that an estimate comes however fast labels
    are given; one that was begun is carried to its end.
    """
    # Ctrl-C reaches the whole process group; the server decides when to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    import torch

    torch.set_num_threads(1)
    try:
        worker = Worker(connection.recv())
    except (EOFError, OSError):
        return
    while True:
        try:
            if worker.is_idle or connection.poll():
                worker.newest = connection.recv()
                continue
            connection.send(worker.step())
        except (EOFError, OSError):
            return


class Worker:
    """What is to be done next, one fit at a time.

    Args:
        graph: The graph, whose own labels are not read.
        method: What is fitted; None for the page's.
    """

    def __init__(self, graph: Graph, method: Method | None = None) -> None:
        self.graph, self.method = graph, method or page_method()
        self.newest: Job | None = None
        self._fitted: Job | None = None
        self._estimate: Iterator[Estimated | None] | None = None
        self._fold_is_next = False

    @property
    def is_idle(self) -> bool:
        return self.newest is None and self._estimate is None and self._fitted is None

    def step(self) -> Fitted | Estimated | Failed | None:
        """Fit once, and give what is finished by it; None if there is nothing yet."""
        job = self.newest or self._fitted
        self._fold_is_next = not self._fold_is_next and (self._estimate is not None or self._fitted is not None)
        try:
            if self.newest is not None and not self._fold_is_next:
                job, self.newest = self.newest, None
                self._fitted = job
                return Fitted(job, self._fit(*job.labelled(self.graph)))
            if self._estimate is None and self._fitted is not None:
                self._estimate, self._fitted = self._estimated(self._fitted), None
            found = None if self._estimate is None else next(self._estimate)
            if found is not None:
                self._estimate = None
            return found
        except LCGNNError as error:
            self._estimate = self._fitted = None
            return Failed(0 if job is None else job.number, str(error))

    def _fit(self, graph: Graph, split: Split) -> Fit:
        fit = self.method.fit(graph, split, 0)
        # The histories and earlier answers stay here.
        return replace(fit, stages=(replace(fit.stages[-1], history=np.empty((0, 3))),))

    def _estimated(self, job: Job) -> Iterator[Estimated | None]:
        """A fold at a time, then what all of them say."""
        graph, split = job.labelled(self.graph)
        count, _ = division(graph, split, None)
        nothing = np.empty(0, dtype=np.int64), np.empty((0, len(job.class_names)), dtype=np.float32)
        if count < 2:
            yield Estimated(job, None, *nothing)
            return
        parts = folds(graph, split, min(count, _MOST_FOLDS))
        found = []
        for part in parts:
            found.append(self._fit(graph, part).label_distribution[part.test])
            yield None
        nodes, distribution = np.concatenate([part.test for part in parts]), np.concatenate(found)
        numbers = np.repeat(np.arange(len(parts)), [part.test.size for part in parts])
        held_out = HeldOut(graph.labels[nodes], distribution, numbers)
        alone = lost_labels(graph, split)
        assessment = Assessment.of(held_out, given=split.train.size, of_folds=len(parts), alone=alone)
        yield Estimated(job, assessment, nodes, distribution)
