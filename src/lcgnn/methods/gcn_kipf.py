"""GCN as Kipf and Welling (2017) train it, beside the LC-GNN paper's GCN*.

What differs from ``gcn``: dropout 0.5 on the features as well as on the hidden layer, weight decay on the first
layer's weights only, no biases, and training ends as soon as the validation loss exceeds its mean over the ten
epochs before (GCN* waits for half of the epochs); the network is taken as it is then, not as it was at its best.
The settings are those of the paper's section 5 and its authors' code (tkipf/gcn). One departure: the original
watches the validation loss with the weight penalty added, here it is the cross-entropy alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from lcgnn.methods.base import register, setting
from lcgnn.methods.gcn import GCNMethod
from lcgnn.networks.gcn import GCN
from lcgnn.training.loop import Phase, Selection


@register("gcn-kipf", "GCN as its own paper trains it (Kipf and Welling 2017).", aggregation=None)
@dataclass(frozen=True)
class KipfGCN(GCNMethod):
    """Two graph convolutions of 16 hidden units, dropout 0.5 on features and hidden layer."""

    base_selection: Selection = setting(
        "stopped", "Which epoch to report: accuracy, loss, both, stopped (where early stopping ended) or last."
    )
    weight_decay: float = setting(5e-4, "L2 penalty on the first layer's weights.", at_least=0)
    input_dropout: float = setting(0.5, "Dropout rate on the features.", at_least=0, below=1)

    def network(self, num_features: int, num_classes: int, generator: torch.Generator) -> GCN:
        return GCN(
            num_features,
            num_classes,
            hidden=self.hidden,
            dropout=self.dropout,
            input_dropout=self.input_dropout,
            bias=False,
            generator=generator,
        )

    def base_phase(self) -> Phase:
        # The original stops after epoch 11 at the earliest: `epoch > 10`, counted from 0.
        return replace(super().base_phase(), stop_after=self.base_stop_window + 1)

    def decays(self) -> dict[str, float]:
        return {"weight_0": self.weight_decay}
