"""How fast lcgnn is beside what else one could use; every figure is a ratio within one run."""
