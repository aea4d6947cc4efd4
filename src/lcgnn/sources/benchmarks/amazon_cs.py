"""Amazon Computers: computer goods that are bought together, with words of their reviews (Shchur et al. 2018)."""

from __future__ import annotations

from lcgnn.sources.benchmarks.graph_data import SITE, GraphData
from lcgnn.sources.benchmarks.registry import register

register(
    GraphData(
        key="amazon_cs",
        title="Amazon Computers",
        num_nodes=13_752,
        num_links=287_209,
        num_classes=10,
        num_features=767,
        label_rate=0.015,
        address=f"{SITE}amazon_cs.npz",
        sha256="a6942db609f196b53503d91b99a02ad8d052d5d9be8ef41db976fb65f66ed1f3",
        class_names=(
            "Desktops",
            "Data Storage",
            "Laptops",
            "Monitors",
            "Computer Components",
            "Video Projectors",
            "Routers",
            "Tablets",
            "Networking Products",
            "Webcams",
        ),
    )
)
