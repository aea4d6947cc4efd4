"""The loop behind the page: a node is suggested, labelled, learnt from, and what came of it is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from lcgnn.assessment.suggestion import Suggestion
from lcgnn.errors import ConfigError, DataError, LCGNNError, OutputError
from lcgnn.features.table import shown
from lcgnn.labelling.answers import Answers, doubts_of
from lcgnn.labelling.curve import Curve
from lcgnn.labelling.labels import Labels
from lcgnn.labelling.ledger import Ledger
from lcgnn.labelling.messages import DoubtMessage, TrainingMessage
from lcgnn.labelling.names import check_room, checked_name
from lcgnn.labelling.opening import Opened
from lcgnn.labelling.queue import Queue
from lcgnn.labelling.trainer import Said, Trainer
from lcgnn.labelling.training import Estimated, Failed, Fitted
from lcgnn.sources.tables.labels import MOST_CLASSES
from lcgnn.sources.tables.ledger import GivenLabels, Line

ClassAction = Literal["add", "rename", "merge"]

# A model is trained after so many changes, or when nobody has changed anything for so many seconds.
_CHANGES, _SECONDS_OF_QUIET = 3, 1.5
# Seconds between two looks at the files.
_LOOK = 0.5


class Loop:
    """The state of the page of one graph, and everything that can be done to it, from any thread.

    Args:
        opened: The graph.
        by: Who gives the labels.
    """

    def __init__(self, opened: Opened, by: str = "page") -> None:
        self.opened = opened
        self.lock = threading.RLock()
        self.ledger = Ledger(opened.ledger, opened.graph.class_names, by)
        self.labels = Labels.of(opened.graph, opened.numbers, self.ledger.given)
        self.curve = Curve(opened.cache / "curve.json", int(self.labels.nodes.size))
        self.answers: Answers | None = None
        self.doubts: tuple[DoubtMessage, ...] = ()
        self.revision = 1
        self.simulating = False
        self.failure = ""
        self.not_saved = self.unreadable = ""
        self.has_changed = False
        self._running = ""
        self._learnt: Labels | None = None
        self._jobs, self._changes, self._changed_at = 0, 0, time.monotonic()
        self._queue = Queue(opened.graph, self._seen)
        self._closed = threading.Event()
        self._trainer = Trainer(opened.graph, self._heard)

    def start(self) -> None:
        """Begin to train and to look after the files, in the background."""
        threading.Thread(target=self._trainer.start, daemon=True).start()
        self._train()
        self._queue.fill_soon()
        threading.Thread(target=self._look_after, daemon=True).start()

    def close(self) -> None:
        """End everything that goes on in the background."""
        self._closed.set()
        self._trainer.close()

    def label(self, node: int, label: int | str) -> None:
        """Give a node the label of a class that there is, by its number or its name."""
        with self.lock:
            name = self._class_named(label)

            def made(given: GivenLabels) -> Line:
                if name not in given:
                    raise ConfigError(f"There is no class {shown(name)} any more. Look at the classes again.")
                return Line(id=self._id(node), label=name, action="label")

            self._saved(lambda: self.ledger.append(made))
            self._changed()
            self._queue.answered(node)

    def label_as(self, node: int, name: str, by: str | None = None) -> None:
        """Give a node the label of a class, which is added if it is new."""
        with self.lock:
            if name not in self.ledger.given:
                check_room(len(self.labels.class_names))
            self._say(Line(id=self._id(node), label=checked_name(name), action="label"), by)
            self._queue.answered(node)

    def skip(self, node: int) -> None:
        """Do not ask for a node again; a label that it has stays."""
        with self.lock:
            if self.labels.labels[self._number(node)] < 0:
                name = self._id(node)

                def made(given: GivenLabels) -> Line | None:
                    # Another page may have labelled it a moment ago.
                    is_labelled = given.label_of(given.nodes.get(name)) != ""
                    return None if is_labelled else Line(id=name, action="skip")

                self._saved(lambda: self.ledger.append(made))
                self._changed()
            self._queue.answered(node)

    def unsure(self, node: int) -> None:
        """Note that nobody can tell; a label that the node has is taken away."""
        with self.lock:
            self._say(Line(id=self._id(node), action="unsure"))
            self._queue.answered(node)

    def undo(self) -> None:
        """Take back the last thing that was done."""
        with self.lock:
            line = self._saved(self.ledger.undo)
            if line is None:
                raise ConfigError("There is nothing to undo.")
            self._changed()
            if line.id in self.opened.numbers:
                self._queue.ask_for(self.opened.numbers[line.id], "You took back what you said of it.")

    def change_classes(self, action: ClassAction, name: object, to: object = None) -> None:
        """Add a class, call one otherwise, or make one of two."""
        with self.lock:
            if action == "add":
                added = checked_name(name)
                if added in self.ledger.given:
                    raise ConfigError(f"There is a class {shown(added)} already.")
                check_room(len(self.labels.class_names))
                self._say(Line(label=added, action="class"))
            elif action in ("rename", "merge"):
                self._rename_or_merge(action, str(name), checked_name(to))
            else:
                raise ConfigError(f"{shown(action)} cannot be done to a class: add, rename or merge.")

    def _rename_or_merge(self, action: Literal["rename", "merge"], name: str, to: str) -> None:
        def made(given: GivenLabels) -> Line:
            if name not in given:
                raise ConfigError(f"There is no class {shown(name)}.")
            if name == to:
                raise ConfigError(f"{shown(name)} is called that already.")
            if (to in given) != (action == "merge"):
                other = (
                    "there is one already; merge the two" if to in given else "there is no such class; rename it"
                )
                raise ConfigError(f"{shown(name)} cannot become {shown(to)}: {other}.")
            return Line(label=to, was=name, action=action)

        self._saved(lambda: self.ledger.append(made))
        self._changed()
        if action == "rename" and self.answers is not None:
            names = tuple(to if known == name else known for known in self.answers.job.class_names)
            job = replace(self.answers.job, class_names=names)
            self.answers = replace(self.answers, fitted=replace(self.answers.fitted, job=job))
        self._train()

    def simulate(self, on: bool) -> None:
        """Let the simulated labeller answer, or stop it."""
        if on and self.opened.truth is None:
            raise ConfigError("There is no simulated labeller: start with --simulate.")
        with self.lock:
            self.simulating = on
            self.revision += 1

    def next_suggestion(self) -> Suggestion | None:
        """The node that is asked for, the same one until something is said of it; None where none is left."""
        with self.lock:
            return self._queue.next()

    def following_suggestion(self) -> Suggestion | None:
        """The node that will probably be asked for after this one; None where none is ready."""
        with self.lock:
            return self._queue.following()

    @property
    def unlearnt(self) -> int:
        """Labels that the model has not learnt from yet, while it is being trained."""
        learnt = 0 if self.answers is None else self.answers.job.nodes.size
        return int(self.labels.nodes.size - learnt) if self._running else 0

    @property
    def training(self) -> TrainingMessage:
        """What the training is at."""
        if self.failure:
            return TrainingMessage("failed", self.failure)
        if self._running:
            return TrainingMessage("running", self._running)
        if self.answers is None:
            few = int((self.labels.counts > 0).sum()) <= MOST_CLASSES
            words = "Waiting for labels of two classes." if few else "Waiting for labels of fewer classes."
            return TrainingMessage("waiting", words)
        return TrainingMessage("idle", f"Trained on {self.answers.job.nodes.size:,} labels.")

    @property
    def messages(self) -> tuple[str, ...]:
        """What somebody has to know."""
        said = [words for words in (self.not_saved, self.unreadable) if words]
        if self.has_changed:
            said.append(
                f"The files of {self.opened.source.name} have changed since the page was opened. Labels are kept; "
                "start lcgnn label again to see the graph as it is now."
            )
        classes = len(self.labels.class_names)
        if classes > MOST_CLASSES:
            said.append(
                f"There are {classes:,} classes, and labels of at most {MOST_CLASSES:,} can be learnt from. All "
                "are kept; merge some."
            )
        if self.ledger.lost:
            said.append(self._lost_in_words())
        if self.labels.gone:
            said.append(self._gone_in_words())
        return tuple(said)

    def _lost_in_words(self) -> str:
        lost = self.ledger.lost
        labels, them = (f"{lost:,} labels", "them") if lost > 1 else ("1 label", "it")
        return (
            f"{self.opened.ledger.name} was deleted or emptied while the page was open, and {labels} with it. Put "
            f"the file back to have {them} again, or go on: the next label begins a new file."
        )

    def _gone_in_words(self) -> str:
        gone, file = self.labels.gone, self.opened.ledger.name
        which, them = (f"{gone:,} nodes in {file} are", "them") if gone > 1 else (f"1 node in {file} is", "it")
        return f"{which} not in the graph. What was said of {them} is kept there and not used."

    def _seen(self) -> tuple[Labels, Answers | None]:
        # Without the lock: whoever makes suggestions may be waited for by one who holds it.
        return self.labels, self.answers

    def _say(self, line: Line, by: str | None = None) -> None:
        self._saved(lambda: self.ledger.append(lambda _given: line, by))
        self._changed()

    def _saved(self, save: Callable[[], Line | None]) -> Line | None:
        """What is saved, and a word on the page for as long as nothing can be."""
        before = self.not_saved
        try:
            line = save()
        except OutputError as error:
            self.not_saved = str(error)
            self.revision += 1
            raise
        self.not_saved = ""
        self.revision += before != ""
        return line

    def _changed(self) -> None:
        """Take into account that the ledger has other lines than before."""
        self.labels = Labels.of(self.opened.graph, self.opened.numbers, self.ledger.given)
        self.revision += 1
        self._changes, self._changed_at = self._changes + 1, time.monotonic()
        if self._changes >= _CHANGES or self.answers is None:
            self._train()

    def _train(self) -> None:
        with self.lock:
            self._changes = 0
            job = self.labels.job(self._jobs + 1)
            if job is None or self.labels.same_as(self._learnt):
                return
            self._learnt = self.labels
            self._jobs += 1
            self._running = f"Training on {job.nodes.size:,} labels."
            self._trainer.train(job)

    def _heard(self, said: Said) -> None:
        # What takes a while is done before the lock is taken, so that no card waits for it.
        answers, doubts = self._answers_after(said), self.doubts
        if isinstance(said, Estimated) and said.assessment is not None:
            doubts = doubts_of(self.opened, said)
        with self.lock:
            self.answers, self.doubts = answers, doubts
            if isinstance(said, Failed):
                self.failure, self._running, self._learnt = said.words, "", None
            elif isinstance(said, Fitted):
                self.failure = ""
                if said.job.number == self._jobs:
                    self._running = "Estimating how far to trust it."
            else:
                self._running = "" if said.job.number == self._jobs else self._running
                if said.assessment is not None:
                    present = int(self.labels.nodes.size)
                    self.curve.add(int(said.job.nodes.size), said.assessment.overall, present)
            self.revision += 1
        if isinstance(said, Fitted):
            self._queue.fill_soon()

    def _answers_after(self, said: Said) -> Answers | None:
        """The newest answers, at the newest temperature."""
        found = self.answers
        if isinstance(said, Fitted):
            found = Answers(self.opened, said, 1.0 if found is None else found.temperature)
        elif isinstance(said, Estimated) and said.assessment is not None and found is not None:
            found = replace(found, temperature=said.assessment.calibration.temperature)
        if found is not None:
            # Computed once, here.
            _ = found.least_sure
        return found

    def _look_after(self) -> None:
        """Notice what others append, that the graph's files change, and that it is time to train."""
        while not self._closed.wait(_LOOK):
            try:
                with self.lock:
                    if self.ledger.refresh():
                        self._changed()
                    self.revision += self.unreadable != ""
                    self.unreadable = ""
                    changed = self.opened.has_changed()
                    if changed != self.has_changed:
                        self.has_changed = changed
                        self.revision += 1
                    if self._changes and time.monotonic() - self._changed_at > _SECONDS_OF_QUIET:
                        self._train()
            except LCGNNError as error:
                with self.lock:
                    self.revision += self.unreadable != str(error)
                    self.unreadable = str(error)

    def _class_named(self, label: int | str) -> str:
        if isinstance(label, str):
            return label
        if not 0 <= label < len(self.labels.class_names):
            raise ConfigError(f"There is no class {label}; there are {len(self.labels.class_names)}.")
        return self.labels.class_names[label]

    def _id(self, node: int) -> str:
        return self.opened.ids[self._number(node)]

    def _number(self, node: int) -> int:
        if not 0 <= node < self.opened.graph.num_nodes:
            raise DataError(f"There is no node {node}; the graph has {self.opened.graph.num_nodes:,}.")
        return node
