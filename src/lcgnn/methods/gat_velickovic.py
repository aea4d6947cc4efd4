"""GAT as Velickovic et al. (2018) train it, beside the LC-GNN paper's GAT*.

What differs from ``gat``: training goes on until for 100 epochs neither the validation accuracy nor the validation
loss has improved (at most 100 000 epochs), and the epoch kept is the latest at which both were the best so far.
The settings, PubMed's in ``defaults.toml`` included, are those of the paper's section 3.3 and its authors' code
(PetarV-/GAT).

Departures: an epoch that only equals the best accuracy does not count as an improvement, or a graph on which
every validation node is right would train for all 100 000 epochs; all heads see the same dropout of the input,
where the original draws one mask a head; and the projected features inside the attention are not dropped a second
time (which the original's code does and its paper does not mention).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lcgnn.methods.base import register, setting
from lcgnn.methods.gat import GATMethod
from lcgnn.training.loop import Phase, Selection


@register("gat-velickovic", "GAT as its own paper trains it (Velickovic et al. 2018).", aggregation=None)
@dataclass(frozen=True)
class VelickovicGAT(GATMethod):
    """Two attention layers, 8 heads of 8 hidden units, dropout 0.6 everywhere, patient early stopping."""

    base_epochs: int = setting(100_000, "Epochs at most.")
    base_stop_window: int = setting(
        0, "Stop also when the validation loss exceeds its mean over so many epochs; 0: never.", at_least=0
    )
    base_selection: Selection = setting(
        "both", "Which epoch to report: accuracy, loss, both (best so far in the two), stopped or last."
    )
    patience: int = setting(
        100, "Stop after so many epochs without a better validation accuracy or loss; 0: never."
    )

    def base_phase(self) -> Phase:
        return replace(super().base_phase(), patience=self.patience)
