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
from lcgnn.runs.choice.candidates import CHEAP, best_first, duration
from lcgnn.runs.cross_validation import held_out_by
from lcgnn.runs.failures import Failure
from lcgnn.runs.records import FoldRecord

# After so many folds, candidates that are clearly behind drop out.
_LOOKS = (3, 5, 7)
# With too little time for all folds, at least this share of them is kept, and candidates are left out instead.
_FEWEST_FOLDS = 0.5
# A candidate whose folds take no more than this share of the time is not worth leaving out.
_HARDLY_ANY = 0.05

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
        records: What came of the turns, by candidate and fold.
        behind: Those that dropped out, and after how many folds.
        left_out: Those that there is no time for.
        failed: Those that cannot be tried, and why.
        told: What there is to say, a sentence each.
        in_vain: Seconds of folds that were stopped.
    """

    names: Sequence[str]
    labels: NDArray[np.int64]
    folds: int
    budget: float | None = None
    workers: int = 1
    records: dict[str, dict[int, FoldRecord]] = field(default_factory=dict)
    behind: dict[str, int] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    in_vain: float = 0.0
    _asked: int = field(init=False)

    def __post_init__(self) -> None:
        self._asked = self.folds

    def add(self, name: str, result: FoldRecord | Failure) -> None:
        """What came of a turn."""
        if isinstance(result, FoldRecord):
            self.records.setdefault(name, {})[result.fold] = result
        elif name in self.running and result.out_of_time:
            self.in_vain += self.limit(name) or 0.0
            self.left_out.append(name)
        elif name in self.running:
            self.failed[name] = result.reason
            self.told.append(f"{name} is left out: {result.reason}")

    def turns(self) -> Iterator[list[Turn]]:
        """What to train at a time; all of it is to be added before the next."""
        if len(self.names) == 1:
            yield [(self.names[0], fold) for fold in range(self.folds)]
            return
        if self.budget is not None:
            self.told.append(f"Methods are tried on held-out labels for about {duration(self.budget)} at most.")
        yield from self._first_folds()
        self._keep_within_budget()
        done = 1
        while done < self.folds and self.running:
            looks = [look for look in _LOOKS if look > done]
            # One fold at a time where time matters, to see what it took.
            end = min([*looks, self.folds]) if self.budget is None else done + 1
            yield [(name, fold) for fold in range(done, end) for name in self.running]
            done = end
            if done in _LOOKS and done < self.folds:
                self._drop_those_behind(done)
            self._go_by_the_clock(done)
        if not self.running and self.behind:
            # The one that they were behind could not be tried to the end: what is left decides by what it has.
            self.folds = max(self.behind.values())

    def ahead(self, turns: Sequence[Turn]) -> list[Turn]:
        """What comes after these turns and before the next look, for workers that have nothing to do till then.

        Candidates do not drop out between looks, so that none of it is in vain unless time runs short, and where
        there is not plenty of time there is nothing ahead.
        """
        fold = turns[-1][1]
        tried = [name for name in self.running if self.records.get(name)]
        end = min([*(look for look in _LOOKS if look > fold), self.folds])
        needed = sum(map(self._first_seconds, tried)) * (end - fold - 1) / self.workers
        if len(self.names) == 1 or (self.budget is not None and needed > self._left() / 2):
            return []
        return [(name, later) for later in range(fold + 1, end) for name in tried]

    def in_order(self, turns: Sequence[Turn]) -> list[Turn]:
        """The longest first, so that the last ones end at about the same time."""
        return sorted(turns, key=lambda turn: -self._first_seconds(turn[0]) if self.records.get(turn[0]) else 0.0)

    def limit(self, name: str) -> float | None:
        """Seconds that the first fold of a candidate may take; None for as many as it takes.

        Beyond these there would be no time for the fewest folds that are worth it.
        """
        if self.budget is None or name in CHEAP or name == self._favourite or self.records.get(name):
            return None
        return max(self._left(), 0.0) * self.workers / self._fewest

    @property
    def running(self) -> list[str]:
        """The candidates that are still tried."""
        out = {*self.behind, *self.left_out, *self.failed}
        return [name for name in self.names if name not in out]

    def results(self, name: str) -> list[FoldRecord]:
        """Of a candidate, in the order of the folds."""
        return [record for _, record in sorted(self.records.get(name, {}).items()) if record.fold < self.folds]

    @property
    def trained(self) -> list[FoldRecord]:
        """All that came of the turns."""
        return [record for records in self.records.values() for record in records.values()]

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
        yield [(name, 0) for name in self.running if name in CHEAP]
        for name in [name for name in self.running if name not in CHEAP]:
            # It will take longer than the longest so far.
            tried = [other for other in self.running if self.records.get(other)]
            longest = max(map(self._first_seconds, tried), default=0.0)
            needed = (sum(map(self._first_seconds, tried)) + longest) * self.folds * _FEWEST_FOLDS
            if name != self._favourite and self.budget is not None and needed / self.workers > self.budget:
                self.left_out.append(name)
            else:
                yield [(name, 0)]

    def _keep_within_budget(self) -> None:
        """Say how long the rest takes; if that is too long, hold out fewer folds, then leave out costly ones."""
        if self.budget is None:
            return
        left, fewest = self._left(), self._fewest
        while self.folds > fewest and self._to_come() > left:
            self.folds -= 1
        while self._to_come() > left and (others := [name for name in self.running if self._can_go(name)]):
            self.left_out.append(max(others, key=self._first_seconds))
        while self.folds > 2 and self._to_come() > left:
            self.folds -= 1
        asked, tried = self._asked, len(self.running)
        used = f"{self.folds} folds" if self.folds == asked else f"{self.folds} of {asked} folds, for want of time"
        self.told.append(
            f"Comparing {tried} method{'s' * (tried != 1)} on {used}: {duration(self._to_come())} more at most "
            f"(--budget {duration(self.budget).replace(' min', 'm').replace(' ', '')})."
        )

    def _can_go(self, name: str) -> bool:
        """Whether a candidate may be left out for want of time, and that gains any."""
        assert self.budget is not None
        takes = self._first_seconds(name) * (self.folds - 1) / self.workers
        return name != self._favourite and takes > _HARDLY_ANY * self.budget

    def _go_by_the_clock(self, done: int) -> None:
        """Hold out as many further folds as end in time, by what the last one took, up to those asked for."""
        if self.budget is None or done < 2 or not self.running:
            return
        last = sum(self.records[name][done - 1].seconds for name in self.running) / self.workers
        in_time = done + math.floor(max(self._left(), 0.0) / last) if last else self._asked
        if done == in_time < self.folds:
            self.told.append(f"{done} folds have to do: they took longer than the first.")
            self.folds = done
        elif self.folds < min(in_time, self._asked):
            self.folds = min(in_time, self._asked)
            self.told.append(f"There is time for {self.folds} folds: they take less than the first.")

    def _left(self) -> float:
        """Seconds of the budget, by the clock."""
        assert self.budget is not None
        return self.budget - (self.seconds() + self.in_vain) / self.workers

    @property
    def _fewest(self) -> int:
        """Folds that are worth it, where there is no time for all."""
        return min(max(math.ceil(self.folds * _FEWEST_FOLDS), 2), self.folds)

    def _to_come(self) -> float:
        """Seconds by the clock, if every fold takes as long as the first."""
        return sum(map(self._first_seconds, self.running)) * (self.folds - 1) / self.workers

    def _first_seconds(self, name: str) -> float:
        return self.records[name][0].seconds

    @property
    def _favourite(self) -> str:
        return best_first([name for name in self.names if name not in self.failed] or self.names)[0]

    def _drop_those_behind(self, done: int) -> None:
        """Those of which every stage is clearly behind the best stage of all."""
        stages = {name: self._right_by_stage(name) for name in self.running}
        if not stages:
            return
        best = max((right for of_one in stages.values() for right in of_one), key=lambda right: int(right.sum()))
        for name, of_one in stages.items():
            if all(is_clearly_behind(right, best) for right in of_one):
                self.behind[name] = done
                self.told.append(f"{name} is clearly behind after {done} folds and not tried further.")

    def _right_by_stage(self, name: str) -> list[Right]:
        results = self.results(name)
        return [held_out_by(results, self.labels, stage).right for stage in range(len(results[0].stages))]
