"""The nodes that the model is least sure of."""

from __future__ import annotations

from lcgnn.assessment.suggestion.base import Nodes, Question, Strategy, first_by, register, sureness
from lcgnn.assessment.suggestion.chance import Random
from lcgnn.assessment.suggestion.landscape import Landscape


@register("uncertainty", "The nodes that the model is least sure of; without a model any nodes.")
class Uncertainty(Strategy):
    """Nodes by the entropy of what the model says of them (Settles 2009), the highest first."""

    asks_model = True

    def choose(self, landscape: Landscape, question: Question) -> Nodes:
        if question.entropy is None:
            return Random().choose(landscape, question)
        return first_by(question.entropy, question)

    def reason(self, landscape: Landscape, question: Question, node: int) -> str:
        if question.entropy is None:
            return Random().reason(landscape, question, node)
        return f"The model is {sureness(question, node)}"
