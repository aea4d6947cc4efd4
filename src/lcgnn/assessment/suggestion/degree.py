"""The nodes with most neighbours."""

from __future__ import annotations

from lcgnn.assessment.suggestion.base import Nodes, Question, Strategy, first_by, register
from lcgnn.assessment.suggestion.landscape import Landscape


@register("degree", "The nodes with most neighbours.")
class Degree(Strategy):
    """Nodes by their number of neighbours, those with most first; equals by their number."""

    def choose(self, landscape: Landscape, question: Question) -> Nodes:
        return first_by(landscape.degree[question.candidates], question)

    def reason(self, landscape: Landscape, question: Question, node: int) -> str:  # noqa: ARG002
        neighbours = int(landscape.degree[node])
        return f"Has {neighbours:,} neighbour{'' if neighbours == 1 else 's'}"
