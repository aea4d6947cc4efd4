"""Adam's step as one pass over each parameter."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.compute.kernels import fused, threads

# Numbers that count as a row where a parameter is divided among threads: only millions of them are.
_ROW = 128


class Adam:
    """Adam with L2 weight decay: torch's own, or the same arithmetic in one pass where the kernels are fused.

    Args:
        parameters: By name.
        learning_rate: The step size.
        weight_decay: L2 penalty, by name.
    """

    BETAS = (0.9, 0.999)
    EPS = 1e-8

    def __init__(
        self, parameters: Mapping[str, Tensor], learning_rate: float, weight_decay: Mapping[str, float]
    ) -> None:
        self.parameters = dict(parameters)
        self.learning_rate = learning_rate
        self.weight_decay = dict(weight_decay)
        self.num_steps = 0
        self.means = {name: torch.zeros_like(value) for name, value in self.parameters.items()}
        self.squares = {name: torch.zeros_like(value) for name, value in self.parameters.items()}
        self._flat: dict[str, tuple[NDArray[np.float32], ...]] = {}
        self._factors: dict[float, NDArray[np.float32]] = {}

    def step(self) -> None:
        """Update every parameter that has a gradient, and forget the gradients."""
        self.num_steps += 1
        self._factors.clear()
        update = _update_fused if fused(*self.parameters.values()) else _update_plain
        for name, parameter in self.parameters.items():
            if parameter.grad is not None:
                update(self, name, parameter.grad)
                parameter.grad = None

    def moments(self) -> dict[str, Tensor]:
        """The state by parameter and moment, without the number of steps."""
        state = {f"{name}.mean": value for name, value in self.means.items()}
        return state | {f"{name}.square": value for name, value in self.squares.items()}

    def restore(self, num_steps: int, moments: Mapping[str, Tensor]) -> None:
        """Continue from a saved state."""
        self.num_steps = num_steps
        self._flat.clear()
        for name, parameter in self.parameters.items():
            self.means[name] = moments[f"{name}.mean"].to(parameter.device)
            self.squares[name] = moments[f"{name}.square"].to(parameter.device)

    def flat(self, name: str) -> tuple[NDArray[np.float32], ...]:
        """A parameter and its moments as flat arrays over the same memory, made once."""
        if name not in self._flat:
            tensors = (self.parameters[name].detach(), self.means[name], self.squares[name])
            self._flat[name] = tuple(tensor.view(-1).numpy() for tensor in tensors)
        return self._flat[name]

    def factors(self, weight_decay: float) -> NDArray[np.float32]:
        """What the fused update multiplies by in this step, rounded only once."""
        if weight_decay not in self._factors:
            (first, second), steps = self.BETAS, self.num_steps
            rate, correction = self.learning_rate / (1 - first**steps), 1 / (1 - second**steps) ** 0.5
            self._factors[weight_decay] = np.array(
                [weight_decay, first, 1 - first, second, 1 - second, rate, correction, self.EPS], dtype=np.float32
            )
        return self._factors[weight_decay]


def _update_plain(adam: Adam, name: str, gradient: Tensor) -> None:
    first, second = adam.BETAS
    parameter = adam.parameters[name].detach()
    gradient = gradient + adam.weight_decay[name] * parameter
    mean, square = adam.means[name], adam.squares[name]
    mean.lerp_(gradient, 1 - first)
    square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
    denominator = (square.sqrt() / (1 - second**adam.num_steps) ** 0.5).add_(adam.EPS)
    parameter.addcdiv_(mean, denominator, value=-adam.learning_rate / (1 - first**adam.num_steps))


def _update_fused(adam: Adam, name: str, gradient: Tensor) -> None:
    from lcgnn.compute.kernels.compiled.adam import update

    flat = *adam.flat(name), gradient.contiguous().view(-1).numpy()
    factors = adam.factors(adam.weight_decay[name])

    def of_rows(rows: slice) -> None:
        chosen = slice(rows.start * _ROW, rows.stop * _ROW)
        parameter, mean, square, own = (array[chosen] for array in flat)
        update(parameter, own, mean, square, factors)

    threads.for_rows(of_rows, -(-flat[0].size // _ROW))
