"""The mean of a network's weights over the epochs of a phase."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from lcgnn.networks.network import Network


class WeightMean:
    """An exponential mean of a network's state over the epochs.

    Args:
        network: Whose parameters, and buffers that it keeps.
        averaging: What an epoch counts where the one after it counts 1.
    """

    def __init__(self, network: Network, averaging: float) -> None:
        self.network, self.averaging = network, averaging
        self.state: dict[str, Tensor] = {}

    def restore(self, saved: Mapping[str, Tensor]) -> None:
        """Go on from a mean that was kept, wherever it is kept."""
        now = self.network.state()
        self.state = {name: value.to(now[name].device) for name, value in saved.items()}

    def add(self, epoch: int) -> None:
        """Take in the state that the network has after an epoch, counted from 1."""
        # Of all that the epochs so far count, 1 + a + a^2 + ..., what this one does.
        share = (1 - self.averaging) / (1 - self.averaging**epoch)
        for name, value in self.network.state().items():
            if name in self.state and value.is_floating_point():
                self.state[name].lerp_(value, share)
            else:
                self.state[name] = value.clone()
