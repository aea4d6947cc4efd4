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


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.id"))


def test_the_keyboard_is_where_it_was_when_a_class_has_another_name(
    served: Served, visit: Callable[..., Any]
) -> None:
    page = served.open(visit)
    for name in ("red", "green"):
        page.locator("#addclass").click()
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        page.locator("#classlist tbody th", has_text=name).wait_for()
        page.locator("#dialog").wait_for(state="hidden")
    page.get_by_label("Rename or merge green").focus()
    for keys in (["Enter", "blue", "Enter"], ["Enter", "Escape"]):
        for key in keys:
            page.keyboard.press(key) if key in ("Enter", "Escape") else page.keyboard.insert_text(key)
        page.locator("#dialog").wait_for(state="hidden")
        page.wait_for_timeout(300)
        assert focused(page) == "Rename or merge blue"


def test_the_keyboard_goes_to_the_card_with_the_node_that_is_opened_there(
    served: Served, visit: Callable[..., Any]
) -> None:
    page = served.open(visit)
    node = page.locator("#card-title").inner_text()
    page.locator(".chip").focus()
    page.keyboard.press("Enter")
    page.locator("#card-title").filter(has_not_text=node).wait_for()
    assert focused(page) == "card"
    page.locator("#next").focus()
    page.keyboard.press("Enter")
    page.locator("#card-title", has_text=node).wait_for()
    assert focused(page) == "card"


@pytest.mark.parametrize("what", ["new", "renamed"])
def test_a_name_that_is_refused_is_told_where_it_was_given_and_nowhere_else(
    served: Served, visit: Callable[..., Any], what: str
) -> None:
    page = served.open(visit, expected="Failed to load resource")
    if page.locator("#classlist tbody tr").count() < 2:
        for name in ("one", "other"):
            page.evaluate(
                """(name) => fetch("/api/classes", {
                  method: "POST", headers: { "Content-Type": "application/json" },
                  body: JSON.stringify({ action: "add", name }),
                })""",
                name,
            )
    page.locator("#classlist tbody tr").nth(1).wait_for()
    first = page.locator("#classlist tbody th").first.inner_text()
    page.locator("#addclass" if what == "new" else "#classlist tr:nth-child(2) .dots").click()
    page.locator("#classname").fill(first)
    page.keyboard.press("Enter")
    page.locator(".refused", has_text="already" if what == "new" else "there is one already").wait_for()
    assert page.locator(".notice").count() == 0
    page.keyboard.press("Escape")
    page.wait_for_timeout(300)
    assert page.locator(".notice").count() == 0


def test_labels_that_say_nothing_for_an_answer_are_left_out(served: Served, visit: Callable[..., Any]) -> None:
    page = served.open(visit)
    answer = {"label": "red", "probability": 0.9, "words": [], "soft_neighbours": [], "neighbours": []}
    influences = [1.234, -0.31, 0.049, 0.0, -0.001]
    labelled = [
        {"node": 0, "id": f"label {place}", "influence": influence, "label": "red"}
        for place, influence in enumerate(influences)
    ]
    told = {**answer, "version": 1, "labelled": labelled, "features": [], "changes": []}
    page.route("**/api/explain/*", lambda route: route.fulfill(json=told))
    page.keyboard.press("e")
    page.locator(".explanation h3", has_text="Why").wait_for()
    assert page.locator(".why.labelled .amount").all_inner_texts() == ["+1.2", "−0.31"]
