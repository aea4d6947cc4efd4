"""Networks get their dropout from the graph, which numbers rows as the whole graph does, and from nowhere else."""

import ast
from pathlib import Path

import pytest

import lcgnn.networks

FILES = sorted(Path(lcgnn.networks.__file__).parent.glob("*.py"))


def makers_of_dropout(source: str) -> list[int]:
    """The lines on which the source makes a Dropout, or gives the class another name to do so."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Dropout":
            lines.append(node.lineno)
        if isinstance(node, ast.ImportFrom):
            lines += [node.lineno for alias in node.names if alias.name == "Dropout" and alias.asname]
    return lines


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_network_makes_no_dropout_itself(path):
    lines = makers_of_dropout(path.read_text(encoding="utf-8"))
    assert not lines, f"{path.name}, line {lines[0]}: use graph.dropout(rate, key, place)."


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("dropout = Dropout(0.5, key)", True),
        ("dropout = kernels.dropout.Dropout(0.5, key)", True),
        ("from lcgnn.compute.kernels.dropout import Dropout as D", True),
        ("dropout = graph.dropout(0.5, key)", False),
        ("def f(dropout: Dropout = NO_DROPOUT): ...", False),
    ],
)
def test_every_way_of_making_one_is_seen(source, made):
    assert bool(makers_of_dropout(source)) is made
