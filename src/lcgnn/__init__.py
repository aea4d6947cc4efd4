"""Label-consistency graph neural networks: node classification with a handful of labels."""
