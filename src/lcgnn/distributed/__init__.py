"""Training by several processes or machines: every rank holds a part of the graph, boundary rows travel."""
