"""Data frames of nodes and edges: numbers, categories, truth values and text become features by themselves."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from lcgnn import create, from_frames
from lcgnn.sources.examples import write_example

with tempfile.TemporaryDirectory() as folder:
    write_example(Path(folder) / "articles")
    nodes, edges, truth = (pd.read_csv(f"{folder}/articles/{name}.csv") for name in ("nodes", "edges", "truth"))

made = from_frames(nodes, edges, label="label")
print("\n".join(made.notes))
fit = create("lc-gcn", selection="last").fit(made.graph, made.split, seed=0)
nodes["predicted"] = np.array(made.graph.class_names)[fit.label_distribution.argmax(axis=1)]
print(nodes[["id", "label", "predicted"]].head())
hidden = nodes["label"].isna()
print(f"predictions that are right: {np.mean((nodes['predicted'] == truth['label'])[hidden]):.1%}")
