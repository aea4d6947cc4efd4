"""What is too large, or is changed from outside: one clear line on the page, and nothing is lost."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.page import write_large
from tests.labelling.page.serving import Served
from tests.labelling.page.tables import write_fruits

from lcgnn.sources.tables.ledger import HEADER, Line

CLASSES = 10_000
LONG = "x" * 1_000_000


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page of a graph for which somebody's program has made up ten thousand classes."""
    folder = tmp_path_factory.mktemp("classes")
    truth = write_fruits(folder / "fruits")
    lines = [Line(label=f"kind {number}", action="class").text() for number in range(CLASSES)]
    given = [Line(id=node, label=f"kind {number % 7}").text() for number, node in enumerate(list(truth)[:40])]
    (folder / "labels.csv").write_text("".join([HEADER, *lines, *given]), encoding="utf-8")
    serving = Served(folder / "fruits", folder / "labels.csv")
    yield serving
    serving.kill()


def test_ten_thousand_classes_are_told_and_can_be_given(served: Served, visit: Callable[..., Any]) -> None:
    page = served.open(visit, expected="Failed to load resource")
    page.locator(".notice.message", has_text="There are 10,000 classes").wait_for()
    assert "9,800 more classes" in page.locator("#classlist").inner_text()
    node, before = page.locator("#card-title").inner_text(), served.labels()
    page.keyboard.press("/")
    page.keyboard.type("kind 9876")
    page.keyboard.press("Enter")
    page.locator("#tally", has_text=f"{len(before) + 1} labels").wait_for()
    assert served.labels() == {**before, node: "kind 9876"}
    page.locator("#training", has_text="Trained on").wait_for()


def test_one_class_more_is_refused_in_a_line(served: Served, visit: Callable[..., Any]) -> None:
    page = served.open(visit, expected="Failed to load resource")
    before = served.ledger.read_bytes()
    page.locator("#addclass").click()
    page.keyboard.type("one more")
    page.keyboard.press("Enter")
    page.locator(".refused", has_text="no more are possible. Merge some.").wait_for()
    assert served.ledger.read_bytes() == before


@pytest.mark.parametrize("place", ["card", "dialog"])
def test_a_name_of_a_megabyte_is_refused_in_a_line_and_not_cut(
    served: Served, visit: Callable[..., Any], place: str
) -> None:
    page = served.open(visit)
    before, node = served.ledger.read_bytes(), page.locator("#card-title").inner_text()
    if place == "dialog":
        page.locator("#addclass").click()
    page.locator("#classbox" if place == "card" else "#classname").fill(LONG)
    page.keyboard.press("Enter")
    where = ".notice.trouble" if place == "card" else ".refused"
    page.locator(where, has_text="name of 1,000,000 characters is too long: at most 200").wait_for()
    assert page.locator("#card-title").inner_text() == node
    assert served.ledger.read_bytes() == before


def test_a_name_of_a_megabyte_in_the_file_is_told_until_it_is_gone(
    served: Served, visit: Callable[..., Any]
) -> None:
    page = served.open(visit, expected="Failed to load resource")
    before, labels = served.ledger.read_bytes(), served.labels()
    node = page.locator("#card-title").inner_text()
    with served.ledger.open("a", encoding="utf-8") as file:
        file.write(Line(label=LONG, action="class").text())
    line = page.locator(".notice", has_text="not a line of labels")
    line.wait_for()
    assert len(line.inner_text()) < 700
    page.keyboard.press("1")
    page.locator(".notice.trouble", has_text="not a line of labels").wait_for()
    page.locator("#card-title", has_text=node).wait_for()
    assert line.count() == 1
    served.ledger.write_bytes(before)
    line.wait_for(state="detached")
    page.keyboard.press("1")
    page.locator("#tally", has_text=f"{len(labels) + 1} labels").wait_for()
    assert served.labels() == {**labels, node: "kind 0"}


def test_a_graph_too_large_to_draw_is_shown_as_a_sample_that_says_so(
    tmp_path: Path, visit: Callable[..., Any]
) -> None:
    write_large(tmp_path / "large", 21_000, 21_000)
    serving = Served(tmp_path / "large", tmp_path / "labels.csv")
    try:
        page = serving.open(visit)
        page.locator("#legend", has_text="A sample: 20,000 of 21,000 nodes").wait_for()
        assert page.locator("#overlay").get_attribute("aria-label") == "Map of 20,000 nodes, a sample of 21,000"
        shown = set(page.evaluate("async () => (await (await fetch('/api/graph')).json()).numbers"))
        hidden = next(node for node in range(21_000) if node not in shown)
        page.keyboard.press("f")
        page.keyboard.type(f"node {hidden}")
        page.locator("#found li").first.click()
        page.locator("#card-title", has_text=f"node {hidden}").wait_for()
        page.keyboard.press("/")
        page.keyboard.type("left")
        page.keyboard.press("Enter")
        page.locator("#tally", has_text="1 label").wait_for()
        assert serving.labels() == {f"node {hidden}": "left"}
    finally:
        serving.kill()
