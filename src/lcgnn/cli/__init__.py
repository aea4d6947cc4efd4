"""The command line: parse, call one function, print. Errors are one line; --debug shows where they came from."""

# A command exists once its module is imported; the order is that of --help.
from lcgnn.cli import own_graph, suggest, label, compare, train, demo, predict, explain, doubt  # noqa: F401, I001
from lcgnn.cli import large, partition, experiments, lists  # noqa: F401
from lcgnn.cli.app import app, main

__all__ = ["app", "main"]
