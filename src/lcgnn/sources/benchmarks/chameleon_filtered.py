"""Chameleon (filtered): Wikipedia pages that link to each other, by traffic, none twice (Platonov et al. 2023)."""

from __future__ import annotations

from lcgnn.sources.benchmarks.heterophilous import SITE, Heterophilous
from lcgnn.sources.benchmarks.registry import register

register(
    Heterophilous(
        key="chameleon_filtered",
        title="Chameleon (filtered)",
        num_nodes=890,
        num_links=8_854,
        num_classes=5,
        num_features=2_325,
        label_rate=0.112,
        address=f"{SITE}chameleon_filtered.npz",
        sha256="bf46f07e1fb5249280447e5fe3100f3e82fc4b93ad1e13ffcfdec924b6ac0bb5",
    )
)
