"""What given labels do for a node's answer, by fitting again: for methods without a network, and to be sure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lcgnn.assessment.calibration import at_temperature
from lcgnn.assessment.changes import trials_on
from lcgnn.assessment.direction import isolated
from lcgnn.assessment.explanation import Change, LabelInfluence
from lcgnn.assessment.influence import Influence, nearest_labels
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, Method
from lcgnn.runs.explaining.trials import change_of
from lcgnn.runs.model import TrainedModel

# Log-odds beyond this say no more.
_ALMOST = 1e-6


def influence_by_fits(
    method: Method, graph: Graph, split: Split, node: int, label: int, temperature: float = 1.0
) -> Influence:
    """What the nearest labels do for a node's class, each taken away in turn and the method fitted without it.

    For methods that are the same from every seed and fitted in no time.
    """

    def log_odds(split: Split) -> float:
        fitted = method.fit(graph, split).label_distribution[[node]]
        return _log_odds(at_temperature(fitted, temperature)[0, label])

    most = max(trials_on(graph), 2)
    chosen = split.train if split.train.size <= most else np.sort(nearest_labels(graph, split.train, node, most))
    before = log_odds(split)
    removed = [before - log_odds(_without(split, int(other))) if split.train.size > 1 else 0.0 for other in chosen]
    return Influence(chosen, np.array(removed), complete=chosen.size == split.train.size)


def changed_labels(
    model: TrainedModel,
    graph: Graph,
    split: Split,
    node: int,
    before: NDArray[np.float32],
    labels: tuple[LabelInfluence, ...],
    device: str = "auto",
) -> tuple[Change, ...]:
    """What comes of the strongest label that speaks for an answer: taken away, and given as the next best class.

    The method is really fitted again for each of the two, from the same seed.

    Args:
        model: What was fitted, from what seed and at what temperature.
        graph: The graph.
        split: With the labels that were trained on.
        node: Whose answer.
        before: (C,) that answer.
        labels: The given labels by their influence.
        device: A torch device or "auto".
    """
    strongest = next((item for item in labels if item.influence > 0), None)
    if strongest is None or split.train.size < 2:
        return ()
    first, second = np.argsort(-before, kind="stable")[:2].tolist() if before.size > 1 else (0, 0)
    given = graph.labels.copy()
    given[strongest.node] = second

    def answer(graph: Graph, split: Split) -> NDArray[np.float32]:
        fit = model.method.fit(graph, split, int(model.about.get("seed", 0)), Context(device))
        return np.asarray(at_temperature(fit.label_distribution[[node]], model.temperature)[0])

    without = answer(graph, _without(split, strongest.node))
    other = answer(replace(graph, labels=given), split)
    name, of = isolated(graph.class_names[second]), isolated(strongest.id)
    nodes = (strongest.node,)
    return (
        change_of("label", f"without the label of {of}", graph, first, without, nodes),
        change_of("label", f"if {of} were given {name}", graph, first, other, nodes),
    )


def _without(split: Split, node: int) -> Split:
    return replace(split, train=split.train[split.train != node])


def _log_odds(probability: float) -> float:
    bounded = float(np.clip(probability, _ALMOST, 1 - _ALMOST))
    return float(np.log(bounded / (1 - bounded)))
