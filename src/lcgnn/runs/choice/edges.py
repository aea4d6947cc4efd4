"""What the edges could tell that nothing tried has learnt from them, for somebody whose answer is no use yet."""

from __future__ import annotations

from lcgnn.assessment.diagnosis import LEARNS_DIFFERENCES, advice_where_neighbours_differ, diagnose_by
from lcgnn.assessment.trust import Assessment
from lcgnn.runs.records import ChoiceRecord
from lcgnn.runs.run import Run


def advice_by_edges(choice: ChoiceRecord | None, expected: Assessment | None, run: Run) -> str | None:
    """To compare a method that can learn that neighbours differ, where they do and the answer guesses.

    Args:
        choice: What was tried; None where nothing was chosen.
        expected: Of the answer that was taken.
        run: Whose training labels tell whether neighbours differ; no other label is looked at.
    """
    if choice is None or choice.guard or expected is None or expected.majority.is_beaten:
        return None
    if choice.named(LEARNS_DIFFERENCES) is not None:
        return None
    return advice_where_neighbours_differ(diagnose_by(run.graph, run.split.train))
