"""What is imported is declared in pyproject.toml, and what an extra brings is imported only through `need`."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lcgnn
from lcgnn.extras import EXTRAS
from lcgnn.files import read_toml

ROOT = Path(lcgnn.__file__).parent
PROJECT = read_toml(Path(__file__).parents[1] / "pyproject.toml")["project"]
FILES = sorted(ROOT.rglob("*.py"))
# Python 3.10 has no tomllib yet, and imports tomli in its place.
OF_PYTHON = {*sys.stdlib_module_names, "tomllib"}
# Distributions that are not called as the module that they bring.
OTHER_NAMES = {"sklearn": "scikit-learn"}


def names_of(requirements: list[str]) -> set[str]:
    """The distributions that are required, spelled as packages are compared: lower case, dashes."""
    found = (re.match(r"[\w.-]+", requirement) for requirement in requirements)
    return {re.sub(r"[-_.]+", "-", name[0]).lower() for name in found if name}


def walk_what_runs(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node of a file but those that only a type checker reads."""
    yield tree
    if isinstance(tree, ast.If) and ast.unparse(tree.test).endswith("TYPE_CHECKING"):
        children: list[ast.AST] = [*tree.orelse]
    else:
        children = [*ast.iter_child_nodes(tree)]
    for child in children:
        yield from walk_what_runs(child)


def imported(source: str) -> set[str]:
    """The modules of others that a file imports, wherever in it, by their first name."""
    modules: set[str] = set()
    for node in walk_what_runs(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            modules.add(node.module or "")
    return {module.partition(".")[0] for module in modules} - OF_PYTHON - {"lcgnn"}


def needed(source: str) -> set[str]:
    """The modules that a file asks `need` for: every text in it that names one of an extra."""
    texts = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    libraries = {text.partition(".")[0] for text in texts if isinstance(text, str)}
    return libraries & set(EXTRAS) if "need(" in source else set()


def distribution_of(module: str) -> str:
    return OTHER_NAMES.get(module, module.replace("_", "-"))


def test_what_is_imported_is_what_the_package_requires():
    modules = set().union(*(imported(path.read_text(encoding="utf-8")) for path in FILES))
    advice = "Declare it in pyproject.toml; what an extra brings is asked of lcgnn.extras.need."
    assert {distribution_of(module) for module in modules} == names_of(PROJECT["dependencies"]), advice


def test_what_is_imported_on_demand_is_what_the_extras_bring():
    sources = (path.read_text(encoding="utf-8") for path in FILES if path.name != "extras.py")
    assert set().union(*map(needed, sources)) == set(EXTRAS)
    for extra, requirements in PROJECT["optional-dependencies"].items():
        if extra not in ("all", "docs", "dev"):
            brought = {distribution_of(module) for module, name in EXTRAS.items() if name == extra}
            assert names_of(requirements) == brought, extra


def test_all_brings_every_extra_and_docs_and_dev_bring_all():
    extras = PROJECT["optional-dependencies"]
    assert extras["all"] == [f"lcgnn[{','.join(sorted(set(extras) - {'all', 'docs', 'dev'}))}]"]
    assert "lcgnn[all]" in extras["docs"]
    assert "lcgnn[docs]" in extras["dev"]


def test_the_pinned_versions_name_every_requirement():
    extras = PROJECT["optional-dependencies"]
    constraints = (Path(__file__).parents[1] / "constraints.txt").read_text(encoding="utf-8")
    pinned = names_of([line for line in constraints.splitlines() if not line.startswith("#")])
    required = names_of([*PROJECT["dependencies"], *(item for group in extras.values() for item in group)])
    assert required - {"lcgnn"} <= pinned


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("import numpy as np, json", {"numpy"}),
        ("def late():\n    from scipy.sparse import csr_array", {"scipy"}),
        ("from lcgnn.graph import Graph\nfrom . import graph", set()),
        ("if TYPE_CHECKING:\n    from torch_geometric.data import Data", set()),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    import torch", {"torch"}),
        ("import sys\nif sys.version_info >= (3, 11):\n    import tomllib\nelse:\n    import tomli", {"tomli"}),
    ],
)
def test_every_form_of_import_is_seen(source, modules):
    assert imported(source) == modules
