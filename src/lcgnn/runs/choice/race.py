"""Which folds of which candidates are trained next: decided by nothing but what came of those before.

What a fold came to is kept with the seconds that it took, so that a race that was stopped and is run again takes
the same turns, and trains only what is missing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.choice import Right, is_clearly_behind
from lcgnn.runs.choice.candidates import COSTLY, duration, in_prior_order
from lcgnn.runs.cross_validation import held_out_by
from lcgnn.runs.records import FoldRecord

# After so many folds, candidates that are clearly behind drop out.
_LOOKS = (3, 5, 7)
# With too little time for all folds, at least this share of them is kept, and candidates are left out instead.
_FEWEST_FOLDS = 0.5

Turn = tuple[str, int]
"""A candidate's name and the number of a fold."""


@dataclass(eq=False)
class Race:
    """Candidates on the same folds, the cheap ones first.

    Args:
        names: Of the candidates.
        labels: (N,) of the graph.
        folds: That each is to be trained on.
        budget: Seconds that it may take by the clock; None for as long as it takes.
        workers: Folds that are trained at a time.
    """

    names: Sequence[str]
    labels: NDArray[np.int64]
    folds: int
    budget: float | None = None
    workers: int = 1
    records: dict[str, dict[int, FoldRecord]] = field(default_factory=dict)
    behind: dict[str, int] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def add(self, name: str, record: FoldRecord) -> None:
        """What came of a turn."""
        self.records.setdefault(name, {})[record.fold] = record

    def turns(self) -> Iterator[list[Turn]]:
        """What to train at a time; all of it is to be added before the next."""
        if len(self.names) == 1:
            yield [(self.names[0], fold) for fold in range(self.folds)]
            return
        yield from self._first_folds()
        self._keep_within_budget()
        done = 1
        while done < self.folds:
            end = min((look for look in _LOOKS if look > done), default=self.folds)
            yield [(name, fold) for fold in range(done, min(end, self.folds)) for name in self.running]
            done = min(end, self.folds)
            if done < self.folds:
                self._drop_those_behind(done)

    @property
    def running(self) -> list[str]:
        """The candidates that are still tried."""
        return [name for name in self.names if name not in self.behind and name not in self.left_out]

    def results(self, name: str) -> list[FoldRecord]:
        """Of a candidate, in the order of the folds."""
        return [record for _, record in sorted(self.records.get(name, {}).items()) if record.fold < self.folds]

    def seconds(self, names: Collection[str] | None = None) -> float:
        """Of all training so far, on one worker."""
        return sum(
            record.seconds
            for name, records in self.records.items()
            if names is None or name in names
            for record in records.values()
        )

    def _first_folds(self) -> Iterator[list[Turn]]:
        """One fold of each, the costly ones one by one while there is time for all of their folds."""
        yield [(name, 0) for name in self.names if name not in COSTLY]
        for name in self.names:
            if name not in COSTLY:
                continue
            # It will take longer than the longest so far.
            longest = max((self._first_seconds(other) for other in self.records), default=0.0)
            needed = (sum(map(self._first_seconds, self.records)) + longest) * self.folds * _FEWEST_FOLDS
            if name != self._favourite and self.budget is not None and needed / self.workers > self.budget:
                self.left_out.append(name)
            else:
                yield [(name, 0)]

    def _keep_within_budget(self) -> None:
        """Say how long the rest takes; if that is too long, hold out fewer folds, then leave out costly ones."""
        if self.budget is None:
            return
        left = self.budget - self.seconds() / self.workers
        asked, fewest = self.folds, min(max(math.ceil(self.folds * _FEWEST_FOLDS), 2), self.folds)
        while self.folds > fewest and self._to_come() > left:
            self.folds -= 1
        while self._to_come() > left and len(self.running) > 1:
            others = [name for name in self.running if name != self._favourite]
            self.left_out.append(max(others, key=self._first_seconds))
        while self.folds > 2 and self._to_come() > left:
            self.folds -= 1
        used = f"{self.folds} folds" if self.folds == asked else f"{self.folds} of {asked} folds, for want of time"
        self.told.append(
            f"Comparing {len(self.running)} methods on {used}: {duration(self._to_come())} more at most "
            f"(--budget {duration(self.budget).replace(' min', 'm').replace(' ', '')})."
        )

    def _to_come(self) -> float:
        """Seconds by the clock, if every fold takes as long as the first."""
        return sum(map(self._first_seconds, self.running)) * (self.folds - 1) / self.workers

    def _first_seconds(self, name: str) -> float:
        return self.records[name][0].seconds

    @property
    def _favourite(self) -> str:
        return in_prior_order(self.names)[0]

    def _drop_those_behind(self, done: int) -> None:
        """Those of which every stage is clearly behind the best stage of all."""
        stages = {name: self._right_by_stage(name) for name in self.running}
        best = max((right for of_one in stages.values() for right in of_one), key=lambda right: int(right.sum()))
        for name, of_one in stages.items():
            if all(is_clearly_behind(right, best) for right in of_one):
                self.behind[name] = done
                self.told.append(f"{name} is clearly behind after {done} folds and not tried further.")

    def _right_by_stage(self, name: str) -> list[Right]:
        results = self.results(name)
        return [held_out_by(results, self.labels, stage).right for stage in range(len(results[0].stages))]
