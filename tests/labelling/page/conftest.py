"""A browser, and the page of a small graph that some labels were given of."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.labelling.page.serving import Served
from tests.labelling.page.tables import write_fruits, write_ledger

# What Chromium itself says where the processor stands in for a graphics card.
GRAPHICS = "GPU stall due to ReadPixels"
# Far more than anything takes on a machine that has nothing else to do.
PATIENCE = 180_000


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page in a window of its own; at the end nothing may have complained that was not expected."""
    opened = []

    def visiting(address: str, *, wide: int = 1280, high: int = 800, expected: str = "", **how: Any) -> Any:
        context = browser.new_context(viewport={"width": wide, "height": high}, **how)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.complaints, page.expected = [], expected
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (page.complaints.append(dialog.message), dialog.dismiss()))
        page.goto(address)
        opened.append(page)
        return page

    yield visiting
    for page in opened:
        found = [said for said in page.complaints if GRAPHICS not in said]
        page.context.close()
        assert [said for said in found if not page.expected or page.expected not in said] == []


@pytest.fixture(scope="session")
def fruits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page of a graph with eight labels of each of three classes; tests leave as many, or more."""
    folder = tmp_path_factory.mktemp("fruits")
    truth = write_fruits(folder / "fruits")
    write_ledger(folder / "labels.csv", {node: kind for node, kind in truth.items() if int(node[4:]) < 8})
    serving = Served(folder / "fruits", folder / "labels.csv")
    yield serving
    serving.kill()
