"""DBLP: papers that cite each other (Bojchevski and Günnemann 2018); the file names no class."""

from __future__ import annotations

from lcgnn.sources.benchmarks.graph_data import SITE, GraphData
from lcgnn.sources.benchmarks.registry import register

register(
    GraphData(
        key="dblp",
        title="DBLP",
        num_nodes=17_716,
        num_links=52_867,
        num_classes=4,
        num_features=1_639,
        label_rate=0.005,
        address=f"{SITE}dblp.npz",
        sha256="e1c460c864735b88158e230e715715b08a8f7bb7c94f7f6c3b5efc412558877d",
    )
)
