"""SGC and LC-SGC: features averaged over the neighbours once, then a linear classifier; for very large graphs.

The learning rate is that of Wu et al. (2019), who tune the weight decay for every graph. Here it was chosen among
5e-4, 5e-5 and 5e-6 by the validation accuracy of LC-SGC on Cora (32, 81.4, 81.6 %) and Citeseer (23, 74.2,
72.6 %): with the largest, the base is never sure enough of its classes for the second phase.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lcgnn.methods.base import setting
from lcgnn.methods.lc import TwoPhase, register_network
from lcgnn.networks.sgc import SGC


@register_network("sgc", "SGC")
@dataclass(frozen=True)
class SGCMethod(TwoPhase):
    """Two steps of averaging and one linear layer."""

    learning_rate: float = setting(0.2, "Adam's learning rate.")
    weight_decay: float = setting(5e-5, "L2 penalty on all parameters.")
    steps: int = setting(2, "How often the features are averaged over the neighbours.", at_least=1)

    def network(self, num_features: int, num_classes: int, generator: torch.Generator) -> SGC:
        return SGC(num_features, num_classes, steps=self.steps, generator=generator)
