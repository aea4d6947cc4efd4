"""How long experiments will take, from what their runs, or runs like them, have taken before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from lcgnn.experiments.spec import Experiment
from lcgnn.runs.records import Record
from lcgnn.runs.run import Run

# Method and dataset.
Kind = tuple[str, str]


@dataclass(frozen=True)
class Item:
    """Runs of one method on one dataset.

    Args:
        method: Its name.
        dataset: Its name.
        runs: How many.
        missing: How many of them have no record.
        seconds: Of one core, for all of them; None if no run of this kind has a record.
        to_come: The same for those without a record.
    """

    method: str
    dataset: str
    runs: int
    missing: int
    seconds: float | None
    to_come: float | None


def forecast(experiments: Sequence[Experiment], seeds: int | None, records: Iterable[Record]) -> list[Item]:
    """What the experiments consist of, the longest first.

    A run takes what its record says, or as long as the runs of its method on its dataset took on average. A first
    phase that several runs share is counted with each of them, so this is rather too long than too short.
    """
    taken: dict[str, float] = {}
    like_it: dict[Kind, list[float]] = {}
    for record in records:
        taken[record.run] = record.seconds
        like_it.setdefault((record.method, record.dataset), []).append(record.seconds)
    planned: dict[Kind, set[str]] = {}
    for experiment in experiments:
        for spec in experiment.all_runs(seeds):
            planned.setdefault((spec.method, spec.dataset), set()).add(Run(spec).identity)
    items = [_item(kind, identities, taken, like_it.get(kind)) for kind, identities in planned.items()]
    return sorted(items, key=lambda item: -(item.seconds or 0.0))


def total(items: Sequence[Item], method: str, dataset: str) -> Item:
    """Several items as one; what is not known is left out of the seconds."""
    return Item(
        method,
        dataset,
        sum(item.runs for item in items),
        sum(item.missing for item in items),
        sum(item.seconds or 0.0 for item in items),
        sum(item.to_come or 0.0 for item in items),
    )


def _item(
    kind: Kind, identities: Collection[str], taken: Mapping[str, float], like_it: list[float] | None
) -> Item:
    missing = [identity for identity in identities if identity not in taken]
    method, dataset = kind
    if like_it is None:
        return Item(method, dataset, len(identities), len(missing), None, None)
    usual = fmean(like_it)
    return Item(
        method,
        dataset,
        len(identities),
        len(missing),
        sum(taken.get(identity, usual) for identity in identities),
        len(missing) * usual,
    )
