"""Amazon Photo: photo goods that are bought together, with words of their reviews (Shchur et al. 2018)."""

from __future__ import annotations

from lcgnn.sources.benchmarks.graph_data import SITE, GraphData
from lcgnn.sources.benchmarks.registry import register

register(
    GraphData(
        key="amazon_photo",
        title="Amazon Photo",
        num_nodes=7_650,
        num_links=143_663,
        num_classes=8,
        num_features=745,
        label_rate=0.021,
        address=f"{SITE}amazon_photo.npz",
        sha256="bdb98b54cd3125bfa69b23ba0aae84fabcb770c6727175b8f6eb1d64f3be4b2b",
        class_names=(
            "Film Photography",
            "Digital Cameras",
            "Binoculars & Scopes",
            "Lenses",
            "Tripods & Monopods",
            "Video Surveillance",
            "Lighting & Studio",
            "Flashes",
        ),
    )
)
