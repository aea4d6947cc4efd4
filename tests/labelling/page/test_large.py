"""Twenty thousand nodes on the page."""

from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from benchmarks.page import EDGES, NODES, frames_a_second, key_to_card, write_large
from tests.labelling.page.serving import Served
from tests.labelling.page.tables import write_table


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    write_large(tmp_path / "large")
    serving = Served(tmp_path / "large", tmp_path / "labels.csv")
    yield serving
    serving.kill()


def test_twenty_thousand_nodes_are_all_drawn_and_moved(served: Served, visit: Callable[..., Any]) -> None:
    page = served.open(visit)
    assert f"{NODES:,} nodes" in page.locator("#size").inner_text()
    assert page.locator("#overlay").get_attribute("aria-label") == f"Map of {NODES:,} nodes"
    for number, name in enumerate(("left", "right"), 1):
        page.keyboard.press("/")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        page.locator("#tally", has_text=f"{number} label").wait_for()
        page.locator("#card:not(.busy)").wait_for()
    page.wait_for_timeout(1000)
    wait = key_to_card(page, "1")
    frames = frames_a_second(page, 2)
    # How fast it is depends on who else is at work here, so that it is told and not asserted.
    print(f"{NODES:,} nodes, {EDGES:,} edges: {frames:.0f} frames a second, {wait:.0f} ms from key to card")
    page.locator("#tally", has_text="3 labels").wait_for()


def test_more_edges_than_are_drawn_are_told_in_the_legend(tmp_path: Path, visit: Callable[..., Any]) -> None:
    names = [f"n{number}" for number in range(460)]
    write_table(tmp_path / "dense" / "edges.csv", [["source", "target"], *map(list, combinations(names, 2))])
    serving = Served(tmp_path / "dense", tmp_path / "labels.csv")
    try:
        page = serving.open(visit)
        page.locator("#legend .sample", has_text="A sample of 100,000 edges is drawn").wait_for()
    finally:
        serving.kill()
