"""BlogCatalog: bloggers who know each other, with words of their blogs (Huang et al. 2017); classes from 1 on."""

from __future__ import annotations

from lcgnn.sources.benchmarks.graph_data import SITE, GraphData
from lcgnn.sources.benchmarks.registry import register

register(
    GraphData(
        key="blogcatalog",
        title="BlogCatalog",
        num_nodes=5_196,
        num_links=171_743,
        num_classes=6,
        num_features=8_189,
        label_rate=0.023,
        address=f"{SITE}blogcatalog.npz",
        sha256="115be8c3396ae7db96c60df578c8c24ee46d2547ca62fa538ec9852c338df6c6",
    )
)
