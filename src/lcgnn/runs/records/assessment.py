"""What was expected of predictions, read from the plain data that it was written as."""

from __future__ import annotations

from typing import Any

from lcgnn.assessment.calibration import Calibration
from lcgnn.assessment.trust import Assessment, Expected, Majority
from lcgnn.runs.fields import Place, count, fields_of, list_of, nullable, number, positive, share, text


def _expected(content: Any, place: Place) -> Expected:
    with fields_of(content, place) as fields:
        accuracy, low, high = (fields.read(name, share) for name in ("accuracy", "low", "high"))
        return Expected(accuracy, low, high, fields.read("labels", count))


def _calibration(content: Any, place: Place) -> Calibration:
    with fields_of(content, place) as fields:
        temperature = fields.read("temperature", positive)
        before, after = fields.read("error_before", number), fields.read("error_after", number)
        # Summaries of 0.2 have no bound.
        at_most = fields.find("at_most", number)
        return Calibration(temperature, before, after, after if at_most is None else at_most)


def _majority(content: Any, place: Place) -> Majority:
    with fields_of(content, place) as fields:
        label, accuracy = fields.read("label", count), fields.read("accuracy", share)
        return Majority(label, accuracy, fields.read("low", number), fields.read("high", number))


def read_assessment(content: Any, place: Place) -> Assessment:
    """What an assessment was written as."""
    with fields_of(content, place) as fields:
        # Summaries are for people as well, and older records had the words that follow from the rest.
        fields.find("words", list_of(text))
        return Assessment(
            folds=fields.read("folds", count),
            of_folds=fields.read("of_folds", count),
            given=fields.read("given", count),
            overall=fields.read("overall", _expected),
            by_class=fields.read("by_class", list_of(nullable(_expected))),
            untested=fields.read("untested", list_of(count)),
            calibration=fields.read("calibration", _calibration),
            majority=fields.read("majority", _majority),
            balanced=fields.find("balanced", nullable(share)),
            chosen_among=fields.find("chosen_among", count) or 1,
            alone=fields.find("alone", count) or 0,
        )
