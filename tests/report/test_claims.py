"""A claim's verdict follows from its comparisons, and every claim of the list names rows that are there."""

import pytest

from lcgnn.assessment.evaluation import PairedDifference
from lcgnn.experiments.library import load_experiment
from lcgnn.experiments.study import Cell
from lcgnn.report.claims import claims, claims_table, judge


def between(*differences: float) -> PairedDifference:
    return PairedDifference.between([0.5 + item for item in differences], [0.5] * len(differences))


SURE, WORSE = between(0.01, 0.011, 0.012), between(-0.01, -0.011, -0.012)
UNSURE = between(0.01, -0.01, 0.012, -0.012, 0.01)


@pytest.mark.parametrize(
    ("differences", "judgement"),
    [
        ([], "not tested"),
        ([SURE, SURE], "holds"),
        ([SURE, UNSURE], "holds in part"),
        ([SURE, WORSE], "holds in part"),
        ([UNSURE, UNSURE], "does not hold"),
        ([WORSE], "does not hold"),
        ([UNSURE, WORSE], "does not hold"),
        ([between(0.1)], "too few seeds"),
        ([between(0.01, -0.01, 0.012), UNSURE], "too few seeds"),
        ([between(0.01, -0.01, 0.012), SURE], "holds in part"),
    ],
)
def test_a_verdict(differences: list[PairedDifference], judgement: str) -> None:
    assert judge({str(number): item for number, item in enumerate(differences)}) == judgement


@pytest.mark.parametrize("claim", claims(), ids=lambda claim: f"{claim.row} > {claim.than} in {claim.experiment}")
def test_a_claim_is_weighed_over_the_seeds_that_both_rows_have(claim) -> None:
    experiment = load_experiment(claim.experiment)
    better = Cell({0: 0.8, 1: 0.81, 2: 0.83, 9: 0.1}, [], None, None)
    worse = Cell({0: 0.7, 1: 0.715, 2: 0.72}, [], None, None)
    cells = {(claim.row, 0): better, (claim.than, 0): worse}
    differences = claim.differences(experiment, cells)
    assert differences.keys() == {experiment.columns[0].title}
    assert differences[experiment.columns[0].title].count == 3
    row = next(
        row
        for row, item in zip(claims_table({experiment.name: (experiment, cells)}).rows, claims(), strict=True)
        if item == claim
    )
    assert row[2].text == "holds"
    assert "+10.2" in row[3].text


def test_a_claim_without_records_is_not_tested() -> None:
    assert {row[2].text for row in claims_table({}).rows} == {"not tested"}
