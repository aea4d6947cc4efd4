"""What the page says of the labels so far and of the next ten: two sentences that agree."""

import pytest

from lcgnn.labelling.curve import advice, forecast, next_ten
from lcgnn.labelling.messages import CurvePoint

FAR_APART = [
    CurvePoint(8, 0.80, 0.40, 0.97),
    CurvePoint(10, 0.75, 0.40, 0.95),
    CurvePoint(12, 0.80, 0.50, 0.95),
    CurvePoint(14, 0.72, 0.45, 0.90),
]
VERDICTS = ("still pay", "no longer pay", "bring little")


@pytest.mark.parametrize("points", [FAR_APART, FAR_APART[:1], FAR_APART[:3]], ids=["wide", "one", "three"])
def test_nothing_is_advised_where_the_forecast_cannot_tell(points: list[CurvePoint]) -> None:
    said = advice(points, 2, 2)
    assert not any(verdict in said for verdict in VERDICTS)
    assert "More labels may pay or not" in said


@pytest.mark.parametrize("gain", [0.5, 2.0, 8.0])
@pytest.mark.parametrize("width", [0.002, 0.02, 0.2, 0.6])
def test_a_verdict_comes_with_a_forecast_that_tells_and_never_without(gain: float, width: float) -> None:
    points = [
        CurvePoint(n, 0.95 - gain / n, 0.95 - gain / n - width / 2, 0.95 - gain / n + width / 2)
        for n in (8, 10, 12, 16)
    ]
    found = forecast(points)
    assert found is not None
    has_verdict = any(verdict in advice(points, 2, 2) for verdict in VERDICTS)
    assert has_verdict == ("should bring" in next_ten(points)) == (found.high - found.low <= 0.1)


def test_what_stands_above_the_advice_is_not_said_again() -> None:
    assert advice([], 2, 2) == "What to expect is being estimated."
