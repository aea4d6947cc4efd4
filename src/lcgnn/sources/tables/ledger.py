"""Labels that were given one by one, as ``lcgnn label`` writes them: a line for each thing that somebody did.

The columns are ``id``, ``label``, ``was``, ``time``, ``by`` and ``action``. What counts is what all lines together
come to: a node has the label of its last line, what was undone is gone, and "skip" and "unsure" are no labels.

========  ==========================================  =========================================================
action    columns in use                              what it does
========  ==========================================  =========================================================
class     label                                       a class is added
label     id, label                                   the node has the label
skip      id                                          the node is not to be asked for again
unsure    id                                          nobody can tell; a label that the node had is taken away
rename    was, label                                  the class ``was`` is called ``label``
merge     was, label                                  the nodes of ``was`` are of the class ``label``
undo      id and its label before, if it had one;     the last of these actions is taken back
          or was and label, for a class
========  ==========================================  =========================================================
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Literal, get_args

from lcgnn.errors import DataError

COLUMNS = ("id", "label", "was", "time", "by", "action")
HEADER = ",".join(COLUMNS) + "\n"
# Beside a table of labels that is the user's own, those of the page have the second name.
LEDGER_NAMES = ("labels.csv", "labels.lcgnn.csv")

# No action is the beginning of another: a line that was cut is never one that was whole.
Action = Literal["class", "label", "skip", "unsure", "rename", "merge", "undo"]
_ACTIONS = frozenset(get_args(Action))
_NODE_ACTIONS = frozenset({"label", "skip", "unsure"})


@dataclass(frozen=True)
class Line:
    """One line of a ledger, its fields in the order of the columns."""

    id: str = ""
    label: str = ""
    was: str = ""
    time: str = ""
    by: str = ""
    action: Action = "label"

    def text(self) -> str:
        """As it is written, with its end."""
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerow(astuple(self))
        return file.getvalue()


@dataclass(frozen=True)
class Given:
    """What somebody said of a node.

    Args:
        kind: "label", "skip" or "unsure".
        number: Of the class, as it was when it was said; see `GivenLabels.class_of`.
    """

    kind: Literal["label", "skip", "unsure"]
    number: int = -1


@dataclass(frozen=True)
class Done:
    """Something that was done and can be taken back.

    Args:
        action: What.
        id: Of the node; "" for a class.
        before: What had been said of the node.
        number: Of the class that was added, renamed or merged.
        name: What it had been called.
    """

    action: Action
    id: str = ""
    before: Given | None = None
    number: int = -1
    name: str = ""


class GivenLabels:
    """What the lines of a ledger come to.

    A class has a number for good. Renaming changes its name, merging sends its number on to another; so both are
    taken back without a look at any node, and labels of the tables follow as well.

    Args:
        classes: Those of the tables, which are there before the first line.
    """

    def __init__(self, classes: Iterable[str] = ()) -> None:
        self._names = list(classes)
        self._into: dict[int, int] = {}
        self._removed: set[int] = set()
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._first = dict(self._numbers)
        self.nodes: dict[str, Given] = {}
        self.done: list[Done] = []

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, in the order in which they came up."""
        gone = self._removed | set(self._into)
        return tuple(name for number, name in enumerate(self._names) if number not in gone)

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def class_of(self, number: int) -> str:
        """What a class is called, or the one that it was merged into."""
        while number in self._into:
            number = self._into[number]
        return self._names[number]

    def name_of(self, number: int) -> str:
        """What a class was last called itself, merged or not."""
        return self._names[number]

    def present_name(self, name: str | None) -> str | None:
        """What a class of the tables is called by now; None stays None."""
        return None if name is None else self.class_of(self._first[name])

    def label_of(self, given: Given | None) -> str:
        """The name of the class that was given; "" for none."""
        return "" if given is None or given.kind != "label" else self.class_of(given.number)

    def labels(self) -> dict[str, str | None]:
        """The label of every node that has a line that counts; None for "unsure", skipped ones are left out."""
        found: dict[str, str | None] = {}
        for node, given in self.nodes.items():
            if given.kind != "skip":
                found[node] = self.label_of(given) or None
        return found

    @property
    def passed_over(self) -> tuple[str, ...]:
        """The nodes that were skipped, or that nobody could tell."""
        return tuple(node for node, given in self.nodes.items() if given.kind != "label")

    @property
    def num_labels(self) -> int:
        """How many nodes have a label by the ledger."""
        return sum(given.kind == "label" for given in self.nodes.values())

    def is_used(self, name: str) -> bool:
        """Whether a node of the ledger has the class."""
        return any(given.kind == "label" and self.class_of(given.number) == name for given in self.nodes.values())

    def apply(self, line: Line) -> None:
        """Take a line into account; one that no longer fits what was before it changes nothing."""
        if line.action in _NODE_ACTIONS:
            self._say(line)
        elif line.action == "class":
            if line.label not in self:
                self.done.append(Done("class", number=self._add(line.label)))
        elif line.action == "undo":
            self._undo(line)
        elif line.was in self and line.label != line.was:
            self._rename_or_merge(line)

    def _say(self, line: Line) -> None:
        number = -1
        if line.action == "label":
            number = self._numbers[line.label] if line.label in self else self._add(line.label)
        self.done.append(Done(line.action, line.id, self.nodes.get(line.id)))
        # For mypy: one of the three that were asked for.
        assert line.action in ("label", "skip", "unsure")
        self.nodes[line.id] = Given(line.action, number)

    def _add(self, name: str) -> int:
        self._numbers[name] = len(self._names)
        self._names.append(name)
        return self._numbers[name]

    def _rename_or_merge(self, line: Line) -> None:
        number = self._numbers.pop(line.was)
        if line.action == "rename" and line.label not in self:
            self._names[number] = line.label
            self._numbers[line.label] = number
            self.done.append(Done("rename", number=number, name=line.was))
        else:
            self._into[number] = self._numbers[line.label] if line.label in self else self._add(line.label)
            self.done.append(Done("merge", number=number, name=line.was))

    def _undo(self, line: Line) -> None:
        place = self._place_of(line)
        if place is None:
            if line.id:
                self._put_back(line.id, None if not line.label else Given("label", self._known(line.label)))
            return
        if not self.can_undo(self.done[place]):
            return
        undone = self.done.pop(place)
        if undone.id:
            self._put_back(undone.id, undone.before)
            return
        if undone.action == "merge":
            del self._into[undone.number]
        else:
            del self._numbers[self._names[undone.number]]
        if undone.action == "class":
            self._removed.add(undone.number)
        else:
            self._names[undone.number] = undone.name
            self._numbers[undone.name] = undone.number

    def _put_back(self, node: str, before: Given | None) -> None:
        if before is None:
            self.nodes.pop(node, None)
        else:
            self.nodes[node] = before

    def _known(self, name: str) -> int:
        return self._numbers[name] if name in self else self._add(name)

    def _place_of(self, line: Line) -> int | None:
        """Where the latest action is that a line takes back; None if there is none that still can be."""
        for place in range(len(self.done) - 1, -1, -1):
            if self.line_that_undoes(self.done[place]) == (line.id, line.label, line.was):
                return place
            if line.id and self.done[place].id == line.id:
                return place
        return None

    def line_that_undoes(self, done: Done) -> tuple[str, str, str]:
        """Id, label and was of the line that takes an action back."""
        if done.id:
            return done.id, self.label_of(done.before), ""
        if done.action == "class":
            return "", self._names[done.number], ""
        return "", done.name, self.class_of(done.number)

    def can_undo(self, done: Done) -> bool:
        """Whether an action can be taken back as things are: nothing that came later stands on it."""
        if not any(item is done for item in self.done):
            return False
        if done.id:
            return next(item for item in reversed(self.done) if item.id == done.id) is done
        if done.action == "class":
            joined = done.number in self._into or done.number in self._into.values()
            # Who takes back a later label would give the class again.
            before = any(item.before is not None and item.before.number == done.number for item in self.done)
            return not joined and not before and not self.is_used(self._names[done.number])
        return done.name not in self and (done.number in self._into) == (done.action == "merge")


def is_ledger(path: Path) -> bool:
    """Whether a file begins as a ledger does, or is the beginning of one that was cut.

    An empty file is the beginning of anything, and taken for a ledger's where it is called like one: a process
    that ends between making the file and its first line leaves it so.
    """
    start = _start_of(path)
    return False if start is None else _is_start(start) or (not start and path.name in LEDGER_NAMES)


def find_ledger(folder: Path) -> Path | None:
    """The ledger in a folder, if there is one; of two, one that is not empty."""
    paths = [folder / name for name in LEDGER_NAMES]
    begun = (path for path in paths if _is_start(_start_of(path) or b""))
    return next(begun, next((path for path in paths if is_ledger(path)), None))


def _start_of(path: Path) -> bytes | None:
    """As much of a file as a ledger's header takes; None where there is no file to read."""
    try:
        with path.open("rb") as file:
            start = file.read(len(HEADER) + 1)
    except OSError:
        return None
    return start.replace(b"\r\n", b"\n")[: len(HEADER)]


def _is_start(start: bytes) -> bool:
    return bool(start) and HEADER.encode().startswith(start)


def parsed_lines(content: bytes, path: Path, first: int = 1) -> tuple[list[Line], int]:
    """The lines in a piece of a ledger, and how many bytes of it they take.

    A last line without an end counts if it is whole; a cut one, as a full disk or a sudden end leaves it, does
    not.

    Args:
        content: From the beginning of a line on.
        path: For messages.
        first: The number of the piece's first line, for messages.
    """
    lines, taken = [], 0
    for number, raw in enumerate(io.BytesIO(content)):
        line = _parsed(raw)
        if line is None and raw.endswith(b"\n") and raw.strip() and first + number > 1:
            raise DataError(
                f"{path}, line {first + number}: not a line of labels ({', '.join(COLUMNS)}). Correct it or "
                "remove it."
            )
        if line is None and not raw.endswith(b"\n"):
            break
        taken += len(raw)
        if line is not None:
            lines.append(line)
    return lines, taken


def _parsed(raw: bytes) -> Line | None:
    try:
        cells: Sequence[str] = next(csv.reader([raw.decode().strip("\r\n")], strict=True), [])
    except (ValueError, csv.Error):
        return None
    if len(cells) != len(COLUMNS) or cells[-1] not in _ACTIONS or "\0" in "".join(cells):
        return None
    return Line(*cells)  # type: ignore[arg-type]


def read_ledger(path: Path, classes: Iterable[str] = ()) -> GivenLabels:
    """What the lines of a ledger come to; DataError names a line that is none."""
    given = GivenLabels(classes)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    for line in parsed_lines(content, path)[0]:
        given.apply(line)
    return given
