"""Graphs whose neighbours often differ, as Platonov et al. (2023) published them: plain arrays in an npz file."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np

from lcgnn.sources.benchmarks.npz_file import Contents, NpzFile

SITE = "https://github.com/yandex-research/heterophilous-graphs/raw/a431395582e929d88271309716bea4fe24ce6318/data/"


@dataclass(frozen=True)
class Heterophilous(NpzFile):
    """A graph with ``edges`` (M, 2), ``node_features`` and ``node_labels``.

    Its ten published splits train on half of the nodes; they are not used, for here labels are few.
    """

    def parse(self, content: bytes) -> Contents:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            links, labels, features = stored["edges"].T, stored["node_labels"], stored["node_features"]
        return Contents(links.astype(np.int64), links.shape[1], labels.astype(np.int64), features)
