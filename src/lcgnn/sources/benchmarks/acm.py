"""ACM: papers of three fields that share an author (Bo et al. 2020); the file names no class."""

from __future__ import annotations

from lcgnn.sources.benchmarks.graph_data import SITE, GraphData
from lcgnn.sources.benchmarks.registry import register

register(
    GraphData(
        key="acm",
        title="ACM",
        num_nodes=3_025,
        num_links=13_128,
        num_classes=3,
        num_features=1_870,
        label_rate=0.02,
        address=f"{SITE}acm.npz",
        sha256="f585d6127cd2e2a6605d3f1f7dded4003264f32db0b8d339adb2436559374a03",
    )
)
