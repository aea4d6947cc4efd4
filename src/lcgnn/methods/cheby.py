"""ChebyNet: spectral filters as Chebyshev polynomials of the Laplacian (Defferrard et al. 2016).

Settings: the number of polynomials (``defaults.toml``) differs between the graphs, as is usual; it was not chosen
here. Width, learning rate, weight decay and number of epochs are those of GCN in the LC-GNN paper. Departures from
the original, which classified whole graphs: two layers without pooling, as in Kipf and Welling's comparison, and
the largest eigenvalue is bounded by 2 instead of computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lcgnn.errors import ConfigError
from lcgnn.methods.base import setting
from lcgnn.methods.lc import TwoPhase, register_network
from lcgnn.networks.cheby import Cheby


@register_network("cheby", "ChebyNet")
@dataclass(frozen=True)
class ChebyMethod(TwoPhase):
    """Two Chebyshev convolutions of 16 hidden units, dropout 0.5 on the hidden layer."""

    order: int = setting(
        3, "Polynomials of each layer, which reach one hop less far than there are of them.", at_least=1
    )
    hidden: int = setting(16, "Width of the hidden layer.", at_least=1)
    dropout: float = setting(0.5, "Dropout rate on the hidden layer.", at_least=0, below=1)

    def network(self, num_features: int, num_classes: int, generator: torch.Generator) -> Cheby:
        if self.order < 1:
            raise ConfigError(f"order is {self.order}; a ChebyNet needs at least one polynomial.")
        return Cheby(
            num_features,
            num_classes,
            order=self.order,
            hidden=self.hidden,
            dropout=self.dropout,
            generator=generator,
        )
