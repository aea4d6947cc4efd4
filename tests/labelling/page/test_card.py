"""The card of a node: all that its row says, however long, and where the keyboard is."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.labelling.page.serving import Served
from tests.labelling.page.tables import write_table

LONG, FAR_TOO_LONG = 2_200, 25_000


def words(letters: int) -> str:
    return ("many a word " * letters)[: letters - 4] + " end"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page of two nodes about which there is much to read."""
    folder = tmp_path_factory.mktemp("card")
    rows = [[name, words(LONG), words(FAR_TOO_LONG)] for name in ("a", "b")]
    write_table(folder / "graph" / "nodes.csv", [["id", "long", "far too long"], *rows])
    write_table(folder / "graph" / "edges.csv", [["source", "target"], ["a", "b"]])
    serving = Served(folder / "graph", folder / "labels.csv")
    yield serving
    serving.kill()


def test_a_long_text_is_shown_whole_and_of_one_that_is_far_too_long_as_much_as_it_says(
    served: Served, visit: Callable[..., Any]
) -> None:
    page = served.open(visit)
    page.get_by_role("button", name="Show all (2,200 letters)").click()
    cells = page.locator(".columns dd")
    assert cells.nth(1).inner_text() == words(LONG)
    page.get_by_role("button", name="Show the first 20,000 of 25,000 letters").click()
    shown = cells.nth(2).inner_text()
    assert shown == words(FAR_TOO_LONG)[:20_000] + " … (the first 20,000 of 25,000 letters)"
