"""Pages for the tests of labelling."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.labelling.pages import Page, start, write_graph


@pytest.fixture
def unlabelled(tmp_path: Path) -> Path:
    return write_graph(tmp_path / "graph")


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Serves pages that end with the test."""
    served: list[Page] = []

    def serve(*arguments: str, enter: bool = True) -> Page:
        served.append(start(*arguments, within=tmp_path, enter=enter))
        return served[-1]

    yield serve
    for page in served:
        page.end()


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """One page for all tests that need no other."""
    folder = tmp_path_factory.mktemp("page")
    served = start(str(write_graph(folder / "graph")), within=folder)
    yield served
    served.end()
