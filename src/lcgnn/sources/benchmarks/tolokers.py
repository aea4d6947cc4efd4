"""Tolokers: workers who did the same tasks; which of them were banned (Platonov et al. 2023)."""

from __future__ import annotations

from lcgnn.sources.benchmarks.heterophilous import SITE, Heterophilous
from lcgnn.sources.benchmarks.registry import register

register(
    Heterophilous(
        key="tolokers",
        title="Tolokers",
        num_nodes=11_758,
        num_links=519_000,
        num_classes=2,
        num_features=10,
        label_rate=0.003,
        address=f"{SITE}tolokers.npz",
        sha256="dacf3ac94cec53d03cd2adb5255c08b33dee1656c33ca8164a464bd9450a1667",
        class_names=(
            "kept",
            "banned",
        ),
        scaling="columns",
    )
)
