"""The mean of several models: each is trained alone, from a seed of its own, and their answers are averaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.compute.kernels.dropout import derive_key
from lcgnn.methods.base import Context, Fit, Stage


def fit_several(fit_one: Callable[[int, Context], Fit], models: int, seed: int, context: Context) -> Fit:
    """The fit whose every stage is the mean over so many models; the first of them has the seed itself.

    A fit that is continued goes on where each of its models was when it was last saved.

    Args:
        fit_one: Fits one model from a seed.
        models: How many.
        seed: Of the fit.
        context: Of the fit; what several fits have in common of a first phase is not kept.
    """
    fits = [
        fit_one(seed if number == 0 else derive_key(seed, "model", number), context_of(context, number))
        for number in range(models)
    ]
    stages = tuple(_mean_stage(stages) for stages in zip(*(fit.stages for fit in fits), strict=True))
    return Fit(stages, tensors_together(fits), sum(fit.seconds for fit in fits))


def apply_several(
    apply_one: Callable[[Mapping[str, Tensor]], NDArray[np.float32]], models: int, fitted: Mapping[str, Tensor]
) -> NDArray[np.float32]:
    """(N, C) the mean of what the models say; KeyError if some of their tensors are missing."""
    return mean_of([apply_one(own) for own in tensors_of_each(models, fitted)])


def tensors_together(fits: Sequence[Fit]) -> dict[str, Tensor]:
    """The tensors of several fits under names of their own."""
    return {f"{number}/{name}": value for number, fit in enumerate(fits) for name, value in fit.tensors.items()}


def tensors_of_each(models: int, fitted: Mapping[str, Tensor]) -> list[dict[str, Tensor]]:
    """The tensors of every one of the models, as a fit of it alone has them."""
    return [
        {name.removeprefix(prefix): value for name, value in fitted.items() if name.startswith(prefix)}
        for prefix in (f"{number}/" for number in range(models))
    ]


def context_of(context: Context, number: int) -> Context:
    """The same for one of the models: a checkpoint of another is not its own."""
    own = context.checkpoint and context.checkpoint.of_model(number)
    return replace(context, checkpoint=own, first_phase=None)


def _mean_stage(stages: Sequence[Stage]) -> Stage:
    """The curve is the first model's, the note that of any."""
    notes = [stage.note for stage in stages if stage.note]
    note = f"Of {len(notes)} of {len(stages)} models: {notes[0]}" if notes else ""
    distribution = mean_of([stage.label_distribution for stage in stages])
    return replace(stages[0], label_distribution=distribution, note=note)


def mean_of(distributions: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The mean of label distributions, each (N, C)."""
    return np.asarray(np.mean(distributions, axis=0, dtype=np.float64), dtype=np.float32)
