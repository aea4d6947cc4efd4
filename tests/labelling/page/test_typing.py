"""A class that is given by typing its name: what Enter gives is what was typed, or what was chosen."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.labelling.page.serving import Served
from tests.labelling.page.tables import write_classes, write_fruits


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page of a graph whose classes have one another's letters."""
    folder = tmp_path_factory.mktemp("typing")
    write_fruits(folder / "fruits")
    write_classes(folder / "labels.csv", ["pineapple", "grape", "grapefruit", "Kiwi", "kiwi"])
    serving = Served(folder / "fruits", folder / "labels.csv")
    yield serving
    serving.kill()


def typed(served: Served, visit: Callable[..., Any], text: str) -> Any:
    page = served.open(visit)
    page.keyboard.press("/")
    page.keyboard.type(text)
    return page


def keys(page: Any) -> dict[str, str]:
    """What stands before each row, where anything does."""
    shown = {row.locator(".name").inner_text(): row.locator("kbd") for row in page.locator(".choice").all()}
    return {name: key.inner_text() for name, key in shown.items() if key.inner_text()}


def given(served: Served, page: Any) -> str:
    """What the node on the card is said to be once Enter was pressed."""
    node, before = page.locator("#card-title").inner_text(), len(served.labels())
    page.keyboard.press("Enter")
    page.locator("#tally", has_text=f"{before + 1} label").wait_for()
    return served.labels()[node]


@pytest.mark.parametrize("name", ["apple", "pine"])
def test_a_new_class_can_be_a_part_of_the_name_of_another(
    served: Served, visit: Callable[..., Any], name: str
) -> None:
    page = typed(served, visit, name)
    assert keys(page) == {f"New class {name} for this node": "⏎"}
    assert "pineapple" in page.locator(".choice .name").all_inner_texts()
    assert given(served, page) == name


@pytest.mark.parametrize(
    ("text", "name"), [("GRAPE", "grape"), ("grapefruit", "grapefruit"), ("Kiwi", "Kiwi"), ("kiwi", "kiwi")]
)
def test_enter_gives_the_class_of_the_typed_name(
    served: Served, visit: Callable[..., Any], text: str, name: str
) -> None:
    page = typed(served, visit, text)
    assert keys(page) == {name: "⏎"}
    assert given(served, page) == name


def test_arrow_keys_choose_among_the_classes_that_have_the_typed_letters(
    served: Served, visit: Callable[..., Any]
) -> None:
    page = typed(served, visit, "rape")
    page.keyboard.press("ArrowDown")
    assert keys(page) == {"grape": "⏎"}
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert keys(page) == {"New class rape for this node": "⏎"}
    page.keyboard.press("ArrowUp")
    assert keys(page) == {"grapefruit": "⏎"}
    assert given(served, page) == "grapefruit"


def test_another_letter_takes_the_choice_back(served: Served, visit: Callable[..., Any]) -> None:
    page = typed(served, visit, "grap")
    page.keyboard.press("ArrowDown")
    page.keyboard.type("es")
    assert given(served, page) == "grapes"
