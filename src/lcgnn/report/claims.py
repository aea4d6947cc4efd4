"""The paper's claims, each weighed against the records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from lcgnn.assessment.evaluation import PairedDifference
from lcgnn.experiments.library import load_experiment
from lcgnn.experiments.spec import Experiment
from lcgnn.files import read_toml
from lcgnn.report.tables import SIGNS, Cells, Heading, Table, Value, Verdict, text_value, verdict

Judgement = Literal["holds", "holds in part", "does not hold", "too few seeds", "not tested"]

_COLOURS: dict[Judgement, Verdict | None] = {
    "holds": "better",
    "holds in part": "unclear",
    "does not hold": "worse",
    "too few seeds": None,
    "not tested": None,
}

# From fewer seeds a difference that is not seen says nothing.
_FEWEST_SEEDS = 5


@dataclass(frozen=True)
class Claim:
    """A sentence, and the two rows of an experiment whose comparison decides it.

    Args:
        text: The sentence.
        source: Where the paper says so.
        experiment: Name of the experiment.
        row: The row that should be better.
        than: The row that it should be better than.
    """

    text: str
    source: str
    experiment: str
    row: str
    than: str

    def differences(self, experiment: Experiment, cells: Cells) -> dict[str, PairedDifference]:
        """How much better the row is, by column, over the seeds that both have."""
        found = {}
        for position, column in enumerate(experiment.columns):
            one, other = cells.get((self.row, position)), cells.get((self.than, position))
            common = sorted(one.accuracies.keys() & other.accuracies.keys()) if one and other else []
            if one and other and common:
                found[column.title] = PairedDifference.between(
                    [one.accuracies[seed] for seed in common], [other.accuracies[seed] for seed in common]
                )
        return found


@cache
def claims() -> tuple[Claim, ...]:
    """The claims of the package's list, every name in it checked."""
    content = read_toml(resources.files("lcgnn.experiments").joinpath("claims.toml"))
    found = tuple(Claim(**item) for item in content["claims"])
    for claim in found:
        names = {row.name for row in load_experiment(claim.experiment).rows}
        assert {claim.row, claim.than} <= names, f"{claim} names no row of {claim.experiment}"
    return found


def judge(differences: Mapping[str, PairedDifference]) -> Judgement:
    """Holds if the row is better for sure in every column, in part if it is in some.

    That it does not hold is only said from enough seeds.
    """
    if not differences:
        return "not tested"
    verdicts = {verdict(difference) for difference in differences.values()}
    if "better" in verdicts:
        return "holds" if verdicts == {"better"} else "holds in part"
    unclear = [difference for difference in differences.values() if verdict(difference) == "unclear"]
    few = any(difference.count < _FEWEST_SEEDS for difference in unclear)
    return "too few seeds" if few else "does not hold"


def claims_table(studies: Mapping[str, tuple[Experiment, Cells]]) -> Table:
    """Every claim with its verdict and the numbers, from the experiments that have records, by their names."""
    rows = []
    for claim in claims():
        differences = claim.differences(*studies[claim.experiment]) if claim.experiment in studies else {}
        judgement = judge(differences)
        evidence = "; ".join(_evidence(column, difference) for column, difference in differences.items())
        rows.append(
            (
                text_value(claim.text),
                text_value(claim.source),
                Value(judgement, judgement, _COLOURS[judgement]),
                text_value(evidence or "no records"),
            )
        )
    caption = (
        "A claim holds where the mean difference over the seeds is positive and a paired t-test gives p < 0.05. "
        f"{SIGNS['better']} better, {SIGNS['unclear']} no clear difference, {SIGNS['worse']} worse; in points, "
        "with the 95 % interval of the mean."
    )
    headings = tuple(Heading(text, numeric=False) for text in ("claim", "where", "verdict", "measured"))
    return Table("claims", caption, headings, tuple(rows))


def _evidence(column: str, difference: PairedDifference) -> str:
    interval = "" if difference.count < 2 else f" [{100 * difference.low:+.1f}, {100 * difference.high:+.1f}]"
    return f"{SIGNS[verdict(difference)]} {column} {100 * difference.mean:+.1f}{interval}"
