"""An example from measured data: wines, joined to those whose chemical analysis is most alike."""

from __future__ import annotations

import numpy as np

from lcgnn.sources.examples.tables import ExampleTables, Row, some_of_each

_SEED = 0
_LABELS_PER_CLASS = 8
_NEIGHBOURS = 4
_CULTIVARS = ("barolo", "grignolino", "barbera")


def wine() -> ExampleTables:
    """178 wines of three cultivars with their analysis (scikit-learn's wine data); 24 have a label."""
    from sklearn.datasets import load_wine
    from sklearn.neighbors import kneighbors_graph
    from sklearn.preprocessing import scale

    data = load_wine()
    cultivars = np.asarray(data.target, dtype=np.int64)
    labelled = some_of_each(cultivars, _LABELS_PER_CLASS, np.random.default_rng(_SEED))
    names = [f"wine-{number:03d}" for number in range(cultivars.size)]
    kinds = [_CULTIVARS[cultivar] for cultivar in cultivars]
    nodes: list[Row] = [
        (name, kind if node in labelled else "", *analysis)
        for node, (name, kind, analysis) in enumerate(zip(names, kinds, data.data.tolist(), strict=True))
    ]
    nearest = kneighbors_graph(scale(data.data), _NEIGHBOURS)
    ends = zip(*nearest.nonzero(), strict=True)
    columns = [name.replace("/", "_") for name in data.feature_names]
    return ExampleTables(
        nodes=(("id", "label", *columns), nodes),
        edges=(("source", "target"), [(names[source], names[target]) for source, target in ends]),
        truth=(("id", "label"), list(zip(names, kinds, strict=True))),
    )
