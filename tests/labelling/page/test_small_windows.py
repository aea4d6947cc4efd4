"""A small window: the node and every answer stay in reach, however many classes there are."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.labelling.page.serving import Served
from tests.labelling.page.tables import write_classes, write_fruits


@pytest.fixture(scope="module", params=[4, 7])
def served(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page of a graph with four classes, or with seven."""
    folder = tmp_path_factory.mktemp("small")
    write_fruits(folder / "fruits")
    write_classes(folder / "labels.csv", [f"kind {number}" for number in range(request.param)])
    serving = Served(folder / "fruits", folder / "labels.csv")
    yield serving
    serving.kill()


def end_of(page: Any, what: str) -> float:
    """How far down a part of the page ends."""
    box = page.locator(what).bounding_box()
    return float(box["y"] + box["height"])


@pytest.mark.parametrize(
    ("wide", "high", "least"),
    [(900, 600, 220), (1280, 600, 220), (400, 700, 220), (360, 740, 220), (844, 390, 155), (667, 375, 149)],
)
def test_a_small_window_shows_the_node_and_all_that_can_be_done(
    served: Served, visit: Callable[..., Any], wide: int, high: int, least: int
) -> None:
    page = served.open(visit, wide=wide, high=high)
    about = page.locator("#about")
    assert about.bounding_box()["height"] >= min(least, about.evaluate("element => element.scrollHeight"))
    assert end_of(page, ".actions") <= high
    last = page.locator(".choice").last
    last.scroll_into_view_if_needed()
    last.click(trial=True)


def test_a_window_as_narrow_as_a_telephone_shows_seven_classes_at_once(
    served: Served, visit: Callable[..., Any]
) -> None:
    page = served.open(visit, wide=400, high=700)
    assert end_of(page, ".choice >> nth=-1") <= page.locator("#classbox").bounding_box()["y"]
    assert end_of(page, "#classbox") <= page.locator(".actions").bounding_box()["y"]
