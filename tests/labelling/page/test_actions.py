"""What can be done on the page of a graph that has some labels."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.labelling.page.serving import Served


def given(page: Any) -> int:
    return sum(map(int, page.locator("#classlist tbody tr td:nth-child(2)").all_inner_texts()))


def wait_for_labels(page: Any, number: int) -> None:
    page.locator("#tally", has_text=f"{number} labels").wait_for()
    page.locator("#card:not(.busy)").wait_for()


def test_a_label_is_taken_back(fruits: Served, visit: Callable[..., Any]) -> None:
    page = fruits.open(visit)
    number = given(page)
    node = page.locator("#card-title").inner_text()
    page.keyboard.press("1")
    wait_for_labels(page, number + 1)
    assert page.locator("#card-title").inner_text() != node
    page.keyboard.press("z")
    wait_for_labels(page, number)
    page.locator("#card-title", has_text=node).wait_for()
    page.keyboard.press("1")
    wait_for_labels(page, number + 1)
    page.keyboard.press("Backspace")
    wait_for_labels(page, number)
    page.locator("#card-title", has_text=node).wait_for()


def test_skipped_and_unsure_nodes_are_counted_and_not_asked_again(
    fruits: Served, visit: Callable[..., Any]
) -> None:
    page = fruits.open(visit)
    title = page.locator("#card-title")
    seen = [title.inner_text()]
    page.keyboard.press("s")
    page.locator("#tally", has_text="1 skipped").wait_for()
    seen.append(title.inner_text())
    page.keyboard.press("u")
    page.locator("#tally", has_text="1 not sure").wait_for()
    assert title.inner_text() not in seen
    page.reload()
    page.locator("#tally", has_text="1 skipped, 1 not sure").wait_for()
    assert title.inner_text() not in seen
    for left in ("1 skipped", "0"):
        page.locator("#undo").click()
        if left != "0":
            page.locator("#tally", has_text="not sure").wait_for(state="detached")
    page.locator("#tally", has_text="skipped").wait_for(state="detached")


def test_a_class_is_added_renamed_and_merged(fruits: Served, visit: Callable[..., Any]) -> None:
    page = fruits.open(visit, expected="Failed to load resource")
    names = page.locator("#classlist tbody th")
    number = given(page)
    page.locator("#addclass").click()
    page.keyboard.type("plum")
    page.keyboard.press("Enter")
    names.filter(has_text="plum").wait_for()
    page.locator("#addclass").click()
    page.keyboard.type("plum")
    page.keyboard.press("Enter")
    page.locator(".refused", has_text="already").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("4")
    page.locator("#tally", has_text=f"{number + 1} labels").wait_for()

    page.get_by_label("Rename or merge plum").click()
    page.locator("#classname").fill("quince")
    page.get_by_role("button", name="Rename", exact=True).click()
    names.filter(has_text="quince").wait_for()
    assert names.filter(has_text="plum").count() == 0

    page.get_by_label("Rename or merge quince").click()
    page.locator("#mergeinto").select_option("cherry")
    page.get_by_role("button", name="Merge", exact=True).click()
    names.filter(has_text="quince").wait_for(state="detached")
    assert given(page) == number + 1
    assert names.count() == 3


def test_a_reloaded_page_shows_the_same_labels_and_the_same_card(
    fruits: Served, visit: Callable[..., Any]
) -> None:
    page = fruits.open(visit)
    shown = page.locator("#card-title").inner_text(), page.locator("#tally").inner_text()
    page.reload()
    page.locator("body.ready").wait_for()
    assert (page.locator("#card-title").inner_text(), page.locator("#tally").inner_text()) == shown


def test_two_pages_show_each_others_labels(fruits: Served, visit: Callable[..., Any]) -> None:
    page = fruits.open(visit)
    other = page.context.new_page()
    other.goto(fruits.address)
    other.locator("body.ready").wait_for()
    number, node = given(page), page.locator("#card-title").inner_text()
    assert other.locator("#card-title").inner_text() == node
    page.keyboard.press("1")
    wait_for_labels(other, number + 1)
    other.locator("#card-title").filter(has_not_text=node).wait_for()
    # A key that comes right after a card that nobody asked for was meant for the card before.
    other.wait_for_timeout(600)
    other.keyboard.press("2")
    page.locator("#tally", has_text=f"{number + 2} labels").wait_for()
    for _ in range(2):
        page.locator("#undo").click()
        page.locator("#card:not(.busy)").wait_for()
    page.locator("#tally", has_text=f"{number} labels").wait_for()


def test_an_answer_is_explained_on_the_card(fruits: Served, visit: Callable[..., Any]) -> None:
    page = fruits.open(visit)
    page.locator("#training", has_text="Trained on").wait_for()
    page.keyboard.press("e")
    page.locator(".explanation h3", has_text="Why").wait_for()
    assert page.locator(".why.soft li").count() > 0
    assert page.locator(".why.neighbour li").count() > 0
    page.keyboard.press("e")
    page.locator(".explanation").wait_for(state="hidden")


@pytest.mark.parametrize("name", ["labels.csv", "predictions.csv", "model", "report.html"])
def test_everything_can_be_taken_home(
    fruits: Served, visit: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    page = fruits.open(visit)
    page.locator("#training", has_text="Trained on").wait_for()
    page.locator("#exports summary").click()
    with page.expect_download() as download:
        page.locator(f"[data-export='{name}']").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    assert saved.stat().st_size > 100
    if saved.suffix == ".csv":
        rows = list(csv.DictReader(saved.read_text(encoding="utf-8").splitlines()))
        assert len(rows) == (given(page) if name == "labels.csv" else 120)
