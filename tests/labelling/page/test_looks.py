"""How the page looks and how it is reached: colours, a small window, the dark, the keyboard alone, the map."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread
from numpy.typing import NDArray
from tests.labelling.page.serving import Served

PARTS = ("#card", "#map", "#brings", "#classes", "#look")
# Of the first three classes, as the page's palette has them.
COLOURS = ((0x39, 0x5D, 0xD0), (0xD9, 0x8A, 0x02), (0x22, 0xAA, 0xA1))


def picture(page: Any, what: str = "#map") -> NDArray[np.float64]:
    """(height, width, 3) what a part of the page looks like, 0 to 255."""
    return np.asarray(imread(io.BytesIO(page.locator(what).screenshot()))[..., :3] * 255.0)


def looking_like(shown: NDArray[np.float64], colour: tuple[int, int, int]) -> NDArray[np.int64]:
    """Places (row, column) of the pixels that are of that colour, or nearly."""
    return np.argwhere(np.abs(shown - colour).max(axis=2) < 30)


def inside(places: NDArray[np.int64]) -> tuple[int, int]:
    """The place with most of the others around it: within a node, and not at the rim of one or on an edge."""
    distance = np.abs(places[:, None] - places).max(axis=2)
    row, column = places[int((distance <= 3).sum(axis=1).argmax())]
    return int(row), int(column)


def trained(fruits: Served, visit: Callable[..., Any], **how: Any) -> Any:
    page = fruits.open(visit, **how)
    page.locator("#training", has_text="Trained on").wait_for()
    # The colours turn in half a second.
    page.wait_for_timeout(700)
    return page


def test_the_map_has_the_classes_colours_and_a_click_opens_a_node(
    fruits: Served, visit: Callable[..., Any]
) -> None:
    page = trained(fruits, visit)
    shown = picture(page)
    above_the_legend = shown[
        : int(page.locator("#legend").bounding_box()["y"] - page.locator("#map").bounding_box()["y"])
    ]
    places = [looking_like(above_the_legend, colour) for colour in COLOURS]
    assert min(map(len, places)) > 20
    row, column = inside(places[2])
    page.locator("#overlay").hover(position={"x": column, "y": row})
    page.locator("#tip").wait_for()
    name = page.locator("#tip b").inner_text()
    page.locator("#overlay").click(position={"x": column, "y": row})
    page.locator(".kicker", has_text="Opened by you").wait_for()
    assert page.locator("#card-title").inner_text() == name


def test_the_map_moves_by_mouse_and_wheel_and_is_shown_whole_again(
    fruits: Served, visit: Callable[..., Any]
) -> None:
    page = trained(fruits, visit, reduced_motion="reduce")
    page.locator("#map").hover(position={"x": 5, "y": 5})
    whole = picture(page)
    box = page.locator("#map").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 30, steps=4)
    page.mouse.up()
    page.mouse.wheel(0, -400)
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.wait_for_timeout(400)
    assert len(np.argwhere(np.abs(picture(page) - whole).max(axis=2) > 60)) > 1000
    page.locator("#all").click()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.wait_for_timeout(400)
    assert len(np.argwhere(np.abs(picture(page)[:, :-60] - whole[:, :-60]).max(axis=2) > 60)) < 50


def test_an_explanation_lights_its_nodes_on_the_map(fruits: Served, visit: Callable[..., Any]) -> None:
    page = trained(fruits, visit, reduced_motion="reduce")
    before = picture(page)
    page.keyboard.press("e")
    page.locator(".explanation h3", has_text="Why").wait_for()
    page.wait_for_timeout(300)
    assert len(np.argwhere(np.abs(picture(page) - before).max(axis=2) > 60)) > 300
    page.keyboard.press("e")
    page.wait_for_timeout(300)
    assert len(np.argwhere(np.abs(picture(page) - before).max(axis=2) > 60)) < 50


@pytest.mark.parametrize("wide", [360, 320])
def test_a_window_as_narrow_as_a_telephone_is_enough(fruits: Served, visit: Callable[..., Any], wide: int) -> None:
    page = trained(fruits, visit, wide=wide, high=740, has_touch=True, is_mobile=True)
    page.locator("svg.curve").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == wide
    boxes = {name: page.locator(name).bounding_box() for name in PARTS}
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= wide for box in boxes.values())
    assert boxes["#card"]["y"] < boxes["#map"]["y"] < boxes["#brings"]["y"]
    title = page.locator("#card-title").inner_text()
    page.locator(".choice").first.tap()
    page.locator("#card-title").filter(has_not_text=title).wait_for()
    page.locator("#undo").tap()
    page.locator("#card-title", has_text=title).wait_for()


@pytest.mark.parametrize(("wide", "high"), [(1024, 500), (844, 390)])
def test_a_low_window_shows_the_node_above_the_classes_and_all_parts_as_wide_as_it_is(
    fruits: Served, visit: Callable[..., Any], wide: int, high: int
) -> None:
    page = trained(fruits, visit, wide=wide, high=high)
    card, answer, about = (page.locator(name).bounding_box() for name in ("#card", "#answer", "#about"))
    whole = page.locator("#about").evaluate("element => element.scrollHeight")
    assert about["height"] >= min(whole, 0.4 * high)
    assert answer["y"] + answer["height"] <= card["y"] + card["height"]
    assert answer["y"] < high
    widths = {page.locator(name).bounding_box()["width"] for name in PARTS}
    assert len(widths) == 1
    assert page.locator(".choice kbd").first.is_visible()


def test_whether_more_labels_pay_is_read_without_scrolling(fruits: Served, visit: Callable[..., Any]) -> None:
    page = trained(fruits, visit, wide=1280, high=800)
    page.locator("svg.curve").wait_for()
    panel, advice = (page.locator(name).bounding_box() for name in ("#brings", ".advice"))
    assert "More labels" in page.locator(".advice").inner_text()
    assert advice["y"] + advice["height"] <= panel["y"] + panel["height"]


def test_the_page_is_dark_where_the_system_is(fruits: Served, visit: Callable[..., Any]) -> None:
    light, dark = (trained(fruits, visit, color_scheme=scheme) for scheme in ("light", "dark"))
    for part in ("#map", "#card", "#brings", "header"):
        assert np.median(picture(light, part)) > 200
        assert np.median(picture(dark, part)) < 60
    light.emulate_media(color_scheme="dark")
    light.wait_for_timeout(300)
    assert np.median(picture(light)) < 60


def test_everything_is_reached_by_the_keyboard_alone(fruits: Served, visit: Callable[..., Any]) -> None:
    page = trained(fruits, visit)
    keyboard = page.keyboard
    title = page.locator("#card-title").inner_text()
    keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Go to the card"
    keyboard.press("Enter")
    keyboard.press("f")
    keyboard.type("che-39")
    page.locator("#found-0", has_text="che-39").wait_for()
    keyboard.press("Enter")
    page.locator("#card-title", has_text="che-39").wait_for()
    # Enter opens what was typed, not what was found for fewer letters.
    keyboard.press("f")
    keyboard.type("che-3")
    page.locator("#found li").first.wait_for()
    keyboard.type("8")
    keyboard.press("Enter")
    page.locator("#card-title", has_text="che-38").wait_for()
    keyboard.press("n")
    page.locator("#card-title", has_text=title).wait_for()

    keyboard.press("m")
    assert focused(page) == "overlay"
    before = picture(page)
    for key in ("+", "ArrowRight", "ArrowDown"):
        keyboard.press(key)
    page.wait_for_timeout(400)
    assert len(np.argwhere(np.abs(picture(page) - before).max(axis=2) > 60)) > 1000
    keyboard.press("0")

    keyboard.press("?")
    page.locator("#dialog", has_text="Undo the last answer").wait_for()
    keyboard.press("Escape")
    page.locator("#dialog").wait_for(state="hidden")
    seen = tabbed(page, 60)
    assert {"search", "simulate", "help", "addclass", "classbox", "skip", "unsure", "undo", "explain"} - seen == {
        "simulate"
    }


def tabbed(page: Any, steps: int) -> set[str]:
    """Ids of what Tab leads to; each of them must be seen to have the focus."""
    seen = set()
    page.locator(".jump").focus()
    for _ in range(steps):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        if focused(page) not in ("", "card"):
            assert outline != "none", focused(page)
        seen.add(focused(page))
    return seen


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.id"))


def test_keys_can_be_turned_off(fruits: Served, visit: Callable[..., Any]) -> None:
    page = trained(fruits, visit)
    title = page.locator("#card-title").inner_text()
    page.locator("#help").click()
    page.get_by_text("Letters and numbers work as keys").click()
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.wait_for_timeout(300)
    assert page.locator("#card-title").inner_text() == title


def test_nothing_moves_for_those_who_asked_for_that(fruits: Served, visit: Callable[..., Any]) -> None:
    page = trained(fruits, visit, reduced_motion="reduce")
    moving = """() => [...document.querySelectorAll("*")].filter((element) => {
      const style = getComputedStyle(element);
      return style.animationName !== "none" || style.transitionDuration !== "0s";
    }).length"""
    assert page.evaluate(moving) == 0
