"""What lcgnn promises to keep: every public name is written down, documented and typed."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from docs.site.reference import PAGES, public_names
from tests.public_names import FILE, found, lines, members

import lcgnn
import lcgnn.errors
import lcgnn.methods

PROGRAM = Path(__file__).parent / "programs" / "every_public_name.py"


def test_names_and_signatures_are_those_that_were_written_down() -> None:
    advice = "If the change is meant: python -m tests.public_names, and a line in CHANGELOG.md."
    assert list(lines()) == FILE.read_text(encoding="utf-8").splitlines(), advice


def test_the_reference_has_every_name_that_a_public_module_exports_once() -> None:
    names = public_names()
    assert len(names) == len(set(names))
    exported = {f"lcgnn.{name}" for name in lcgnn.__all__}
    exported |= {f"lcgnn.methods.{name}" for name in lcgnn.methods.__all__ if name != "create"}
    errors = vars(lcgnn.errors).items()
    exported |= {f"lcgnn.errors.{name}" for name, value in errors if inspect.isclass(value)}
    assert exported <= set(names), "Add it to a page of docs/site/reference.py."


@pytest.mark.parametrize("full", [name for page in PAGES.values() for name in page.names])
def test_nothing_public_is_without_a_docstring(full: str) -> None:
    what = found(full)
    assert inspect.getdoc(what), full
    if inspect.isclass(what):
        assert what.__doc__, f"{full} has only the docstring of its base"
        for name, value in members(what):
            if callable(value) or isinstance(value, property | classmethod | staticmethod):
                # A method that fulfils a contract is documented where the contract is.
                assert inspect.getdoc(getattr(what, name)), f"{full}.{name}"


def test_a_name_that_is_not_public_is_not_found() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        lcgnn.nonsense  # noqa: B018
    assert set(lcgnn.__all__) == set(lcgnn._PLACES)


def test_a_program_of_a_user_has_every_public_name_and_runs(tmp_path: Path) -> None:
    """``make lint`` holds the same program to mypy's strict rules."""
    used = {node.attr for node in ast.walk(ast.parse(PROGRAM.read_text())) if isinstance(node, ast.Attribute)}
    assert {name.rpartition(".")[2] for name in public_names()} <= used
    command = [sys.executable, "-W", "ignore", str(PROGRAM)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
