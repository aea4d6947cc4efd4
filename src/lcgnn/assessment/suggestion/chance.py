"""The baseline: any node."""

from __future__ import annotations

import numpy as np

from lcgnn.assessment.suggestion.base import Nodes, Question, Strategy, register
from lcgnn.assessment.suggestion.landscape import Landscape


@register("random", "Any nodes, each as likely as every other.")
class Random(Strategy):
    """Nodes drawn without replacement."""

    def choose(self, landscape: Landscape, question: Question) -> Nodes:  # noqa: ARG002
        generator = np.random.default_rng(question.seed)
        return np.asarray(generator.choice(question.candidates, question.count, replace=False))

    def reason(self, landscape: Landscape, question: Question, node: int) -> str:  # noqa: ARG002
        return "Drawn at random"
