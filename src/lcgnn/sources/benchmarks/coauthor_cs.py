"""Coauthor CS: authors who wrote a paper together, with its keywords (Shchur et al. 2018)."""

from __future__ import annotations

from lcgnn.sources.benchmarks.graph_data import SITE, GraphData
from lcgnn.sources.benchmarks.registry import register

register(
    GraphData(
        key="coauthor_cs",
        title="Coauthor CS",
        num_nodes=18_333,
        num_links=81_894,
        num_classes=15,
        num_features=6_805,
        label_rate=0.016,
        address=f"{SITE}coauthor_cs.npz",
        sha256="7b7b51bf270d341f1c4231834c58a526bb04db003fd76a6d2f51ad7d252005ed",
        class_names=(
            "bioinformatics",
            "machine_learning",
            "computer_vision",
            "NLP",
            "graphics",
            "networks",
            "security",
            "databases",
            "data_mining",
            "game_theory",
            "HCI",
            "information_theory",
            "medical_informatics",
            "robotics",
            "theoretical_cs",
        ),
    )
)
