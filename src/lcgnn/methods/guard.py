"""Whether label consistency ended better than it began, judged by what is at hand.

From a base that is hardly sure of anything, all rows of Z are nearly the same, so that Z'Z is nearly the product
of the classes' sizes, and the aggregation gives every node to the largest class. Labels that were not trained on
show that at once; without any, classes that vanish do.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lcgnn.compute.placement.base import Placement
from lcgnn.methods.base import Stage

# A class has vanished if so small a share is left of what the base gave it, which was at least so large a share of
# what each of C classes of the same size would have.
_LEFT, _WORTH_KEEPING = 0.1, 0.25
# Classes have run together if the entropy of their sizes falls below this share of what it was.
_ENTROPY = 0.5


def worse_than_base(graph: Placement, validation: Tensor, base: Stage, last: Stage) -> str | None:
    """Why the base's answer is to be kept, in a sentence; None if label consistency's is.

    Args:
        graph: Whose nodes the stages speak of; others may hold the rest.
        validation: (V,) the nodes here whose labels may decide.
        base: The stage that label consistency began with.
        last: The stage that it ended with.
    """
    total = graph.total(validation.shape[0])
    if total:
        before, after = (_num_right(graph, validation, stage) / total for stage in (base, last))
        if after >= before:
            return None
        return (
            f"Label consistency is left out: the base alone is right for {100 * before:.1f} % of the validation "
            f"labels, with it {100 * after:.1f} %."
        )
    sizes = [_class_sizes(graph, stage) for stage in (base, last)]
    lost = _vanished(*sizes)
    if not lost and _entropy(sizes[1]) >= _ENTROPY * _entropy(sizes[0]):
        return None
    which = "a class" if lost == 1 else f"{lost} classes" if lost else ""
    what = f"{which} of the base's answer vanished" if which else "nearly all nodes got the same class"
    return f"Label consistency is left out: with it {what}. More labels help."


def _num_right(graph: Placement, nodes: Tensor, stage: Stage) -> int:
    """How many of everybody's nodes a stage gets right."""
    own = nodes.cpu().numpy()
    right = stage.label_distribution[own].argmax(axis=1) == graph.labels[nodes].cpu().numpy()
    return graph.total(int(right.sum()))


def _class_sizes(graph: Placement, stage: Stage) -> Tensor:
    """(C,) the share of all nodes that are given to each class."""
    distribution = stage.label_distribution
    counts = np.bincount(distribution.argmax(axis=1), minlength=distribution.shape[1])
    total = graph.sum(torch.tensor(counts, dtype=torch.float64, device=graph.device)).cpu()
    return total / total.sum()


def _vanished(before: Tensor, after: Tensor) -> int:
    there = before >= _WORTH_KEEPING / before.shape[0]
    return int((there & (after < _LEFT * before)).sum())


def _entropy(shares: Tensor) -> float:
    return float(-torch.special.xlogy(shares, shares).sum())
