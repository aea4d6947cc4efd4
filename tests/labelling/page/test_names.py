"""Names that would spoil what stands beside them: from right to left, or longer than any line."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.labelling.page.serving import Served
from tests.labelling.page.tables import write_ledger, write_table

HEBREW = "\u05e9\u05dc\u05d5\u05dd"
# As long as a class's name can be, and without a space.
LONG = "\u0633\u0644\u0627\u0645" + "W" * 196

# How far right each letter of the page's own stands, line by line; names, which are kept apart, are left out.
PLACES = """(what) => [...document.querySelectorAll(what)].flatMap((element) => {
  const lines = new Map();
  const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let depth = 0;
  while (walk.nextNode()) {
    const text = walk.currentNode;
    const own = text.parentElement.closest("bdi") === null;
    [...text.data].forEach((letter, at) => {
      depth += "\\u2066\\u2067\\u2068".includes(letter) - (letter === "\\u2069");
      if (!own || depth || !/[a-z%]/.test(letter)) return;
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      const { top, left } = range.getBoundingClientRect();
      lines.set(Math.round(top), [...(lines.get(Math.round(top)) ?? []), left]);
    });
  }
  return [...lines.values()];
})"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page of two circles of nodes whose ids turn the direction, with labels of classes that do."""
    folder = tmp_path_factory.mktemp("names")
    names = [f"{number} \u202e{HEBREW} id" for number in range(24)]
    write_table(
        folder / "graph" / "nodes.csv", [["id", "size"], *([name, str(i % 2)] for i, name in enumerate(names))]
    )
    edges = [[names[number], names[(number + step) % 24]] for number in range(24) for step in (2, 4)]
    write_table(folder / "graph" / "edges.csv", [["source", "target"], *edges])
    # One label is wrong, for something to be looked at.
    given = {name: (HEBREW, LONG)[(i % 2) ^ (i == 5)] for i, name in enumerate(names[:14])}
    write_ledger(folder / "labels.csv", given)
    serving = Served(folder / "graph", folder / "labels.csv")
    yield serving
    serving.kill()


def is_in_order(page: Any, what: str) -> bool:
    """Whether the page's own letters stand from left to right."""
    lines = page.evaluate(PLACES, what)
    assert lines
    return all(line == sorted(line) for line in lines)


def test_sentences_read_from_left_to_right_whatever_is_named_in_them(
    served: Served, visit: Callable[..., Any], tmp_path: Path
) -> None:
    page = served.open(visit)
    page.locator("#training", has_text="Trained on").wait_for()
    page.keyboard.press("e")
    page.locator(".explanation h3", has_text="Why").wait_for()
    page.locator("#looklist li").first.wait_for()
    for what in (".explanation h3", ".explanation p", ".why .amount, .why .change", "#looklist small"):
        assert is_in_order(page, what), what
    page.locator("button.dots").first.click()
    assert is_in_order(page, "#dialog-title")
    page.keyboard.press("Escape")
    page.locator("#exports summary").click()
    with page.expect_download() as download:
        page.locator("[data-export='report.html']").click()
    download.value.save_as(tmp_path / "report.html")
    report = page.context.new_page()
    report.goto((tmp_path / "report.html").as_uri())
    assert is_in_order(report, "td:last-child, p")


@pytest.mark.parametrize("wide", [1280, 1024, 400])
def test_a_name_longer_than_a_line_breaks_and_widens_nothing(
    served: Served, visit: Callable[..., Any], tmp_path: Path, wide: int
) -> None:
    page = served.open(visit, wide=wide)
    page.locator("#training", has_text="Trained on").wait_for()
    page.locator("#looklist li").first.wait_for()
    for panel in ("#look", "#classes", "#brings", "#about"):
        assert page.locator(panel).evaluate("element => element.scrollWidth <= element.clientWidth"), panel
    assert page.evaluate("document.documentElement.scrollWidth") == wide
    report = page.context.new_page()
    (tmp_path / "report.html").write_text(page.evaluate("fetch('/api/export/report.html').then((a) => a.text())"))
    report.goto((tmp_path / "report.html").as_uri())
    assert report.evaluate("document.documentElement.scrollWidth") <= wide
