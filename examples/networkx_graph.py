"""A NetworkX graph: the karate club that split in two, of which only the two leaders' sides are known."""

import networkx as nx
import numpy as np

from lcgnn import create, from_networkx

club = nx.karate_club_graph()
truth = [club.nodes[member].pop("club") for member in club]
for leader in (0, 33):
    club.nodes[leader]["club"] = truth[leader]

made = from_networkx(club, label="club")
print("\n".join(made.notes))
fit = create("lc-gcn", selection="last").fit(made.graph, made.split, seed=0)
sides = np.array(made.graph.class_names)[fit.label_distribution.argmax(axis=1)]
print(f"members on their side: {np.mean(sides == truth):.1%}")
