"""What labels have brought so far and what the next ten may bring, from expected accuracies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from lcgnn.assessment.trust import Expected
from lcgnn.errors import OutputError
from lcgnn.files import read_json, write_json
from lcgnn.labelling.messages import CurvePoint

# Points, and labels of the last over those of the first, that a curve needs to say anything.
_ENOUGH_POINTS, _ENOUGH_SPREAD = 4, 1.5
# A gain of less than this, in accuracy, by ten labels does not pay.
PAYS = 0.01
_MORE = 10
# An interval wider than this says nothing of the gain.
_WIDE = 0.1


class Curve:
    """Expected accuracies by the number of labels, kept in a file between two openings of the page.

    Args:
        path: Of the file.
        labels: How many there are now; points of more are of labels that were taken back.
    """

    def __init__(self, path: Path, labels: int) -> None:
        self._path = path
        self.points: tuple[CurvePoint, ...] = tuple(point for point in _kept(path) if point.labels <= labels)

    def add(self, labels: int, expected: Expected, present: int) -> None:
        """Take in what is expected with so many labels; there are ``present`` by now."""
        point = CurvePoint(
            labels, *(round(value, 4) for value in (expected.accuracy, expected.low, expected.high))
        )
        others = [known for known in self.points if known.labels != labels and known.labels <= present]
        self.points = tuple(sorted([*others, point], key=lambda known: known.labels))
        # It can be made again; a full disk is told where it matters.
        with suppress(OutputError):
            write_json(self._path, [astuple(known) for known in self.points])


def _kept(path: Path) -> list[CurvePoint]:
    try:
        content = read_json(path)
        return [
            CurvePoint(int(labels), float(mean), float(low), float(high)) for labels, mean, low, high in content
        ]
    except (OutputError, TypeError, ValueError):
        return []


@dataclass(frozen=True)
class Forecast:
    """How much accuracy ten more labels should bring.

    Args:
        gain: The expected one.
        low: Lower end of its 95 % interval.
        high: Upper end.
    """

    gain: float
    low: float
    high: float

    @property
    def tells(self) -> bool:
        """Whether it is precise enough to go by."""
        return self.high - self.low <= _WIDE


def forecast(curve: Sequence[CurvePoint], more: int = _MORE) -> Forecast | None:
    r"""From a fit of :math:`a - b / \sqrt{n}` with :math:`b \ge 0` to the curve; None where it cannot tell.

    Points count by the width of their intervals. They share most of their labels, so that they are not
    independent: the interval of the gain is that of as many points as doublings of the labels lie between first
    and last, plus one.
    """
    if len(curve) < _ENOUGH_POINTS or curve[-1].labels < _ENOUGH_SPREAD * curve[0].labels:
        return None
    labels = np.array([point.labels for point in curve], dtype=np.float64)
    expected = np.array([point.expected for point in curve])
    deviation = np.maximum([(point.high - point.low) / 3.92 for point in curve], 1e-3)
    design = np.stack([np.ones_like(labels), -1 / np.sqrt(labels)], axis=1)
    weighted = design / deviation[:, None]
    normal = np.linalg.pinv(weighted.T @ weighted)
    solution = normal @ (weighted.T @ (expected / deviation))
    slope = max(float(solution[1]), 0.0)
    step = 1 / math.sqrt(labels[-1]) - 1 / math.sqrt(labels[-1] + more)
    independent = 1 + math.log2(labels[-1] / labels[0])
    reach = 1.96 * math.sqrt(float(normal[1, 1]) * len(curve) / independent) * step
    return Forecast(slope * step, max(slope * step - reach, 0.0), slope * step + reach)


def next_ten(curve: Sequence[CurvePoint]) -> str:
    """What to expect of ten more labels, in a sentence."""
    if not curve:
        return "What the next ten labels bring can be told once some labels are there to hold out."
    found = forecast(curve)
    if found is None:
        return "It is too early to tell what the next ten labels will bring."
    if not found.tells:
        return (
            f"The next ten labels may bring anything up to {_points(found.high)}: the estimates so far lie too "
            "far apart to say more."
        )
    return (
        f"The next ten labels should bring about {_points(found.gain)} (between {_number(found.low)} and "
        f"{_points(found.high)})."
    )


def advice(curve: Sequence[CurvePoint], with_two: int, classes: int) -> str:
    """What to do, in a plain word.

    Args:
        curve: What was expected, with ever more labels.
        with_two: Classes that have two labels or more.
        classes: Classes that have a label.
    """
    if classes < 2:
        return "Label nodes of at least two classes; then a model is trained after every few labels."
    if not curve:
        if with_two < classes:
            return "Give every class two labels: then some can be held out, and what to expect can be told."
        return "What to expect is being estimated."
    last, found = curve[-1], forecast(curve)
    said = (
        f"Of 100 answers about {100 * last.expected:.0f} should be right (between {100 * last.low:.0f} and "
        f"{100 * last.high:.0f}), as far as the labels given are a fair sample."
    )
    if found is None:
        return f"{said} More labels may pay or not: it is too early to tell."
    if not found.tells:
        return f"{said} More labels may pay or not: the estimates so far lie too far apart to tell."
    if found.high < PAYS:
        return f"{said} More labels no longer pay: ten more should bring less than a percentage point."
    if found.gain < PAYS / 2:
        return f"{said} More labels bring little by now."
    return f"{said} More labels still pay."


def _points(share: float) -> str:
    return f"{_number(share)} percentage points"


def _number(share: float) -> str:
    return f"{100 * share:.1f}"
