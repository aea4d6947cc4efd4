"""The page in a real browser: the system's Chromium through playwright, one for the whole module."""

import csv
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lcgnn.report.html import write_page
from lcgnn.report.page import Report

NASTY = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def html(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(Report.of([str(study)], study.parent / "records", study.parent / "results"), path)
    return path


@pytest.fixture(scope="module")
def shared_page(browser: Any, html: Path) -> Iterator[Any]:
    """The page opened once, with everything written down that should not happen."""
    with browser.new_context(viewport={"width": 1200, "height": 900}) as context:
        page = context.new_page()
        page.complaints, page.requests = [], []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (page.complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto(html.as_uri())
        yield page


@pytest.fixture
def page(shared_page: Any) -> Iterator[Any]:
    yield shared_page
    shared_page.set_viewport_size({"width": 1200, "height": 900})
    shared_page.emulate_media(color_scheme="light", media="screen")


def first_column(table: Any) -> list[str]:
    return table.locator("tbody th").all_inner_texts()


def wait_until(page: Any, condition: str) -> None:
    """Ask again and again; playwright's own way evaluates text inside the page, which the page forbids."""
    deadline = time.monotonic() + 60
    while not page.evaluate(condition):
        assert time.monotonic() < deadline, f"Never true: {condition}"
        page.wait_for_timeout(30)


def test_nothing_is_asked_of_the_network_and_nothing_complains(page: Any, html: Path) -> None:
    assert page.requests == [html.as_uri()]
    assert page.complaints == []


def test_a_click_on_a_heading_sorts_one_way_then_the_other_then_back(page: Any) -> None:
    table = page.locator("table[data-name=study-accuracy]")
    heading = table.locator("th[aria-sort]").nth(1)
    original = first_column(table)
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert first_column(table) == [NASTY, "GCN", "=1+1", "not run"]
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert first_column(table)[-1] == "not run"
    assert first_column(table)[2] == NASTY
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "none"
    assert first_column(table) == original


def test_tables_sort_by_the_keyboard(page: Any) -> None:
    table = page.locator("table[data-name=study-comparisons]")
    heading = table.locator("th[aria-sort]").nth(2)
    heading.locator("button").focus()
    page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    shown = [float(text.replace("−", "-")) for text in table.locator("tbody td:nth-child(3)").all_inner_texts()]
    assert shown == sorted(shown, reverse=True)


def test_a_verdict_is_a_sign_and_a_word_besides_its_colour(page: Any) -> None:
    table = page.locator("table[data-name=study-comparisons]")
    assert table.locator("td.better").all_inner_texts() == ["▲ better", "▲ better"]
    assert table.locator("td.unclear").all_inner_texts() == ["≈ no clear difference", "≈ no clear difference"]


def test_every_plot_is_drawn(page: Any) -> None:
    titles = page.locator("figure.plot h3").all_inner_texts()
    assert titles == [
        "Accuracy by labels per class",
        "Paired differences",
        "Accuracy by label consistency of the node",
        "Confusion of classes",
        "Training curves",
    ]
    drawn = page.evaluate(
        "[...document.querySelectorAll('figure.plot')].map(figure =>"
        " figure.querySelectorAll('.scatterlayer .trace, .barlayer .trace, .heatmaplayer image, .hm').length)"
    )
    assert all(drawn), drawn
    # Two rows with a line each, and the band of each.
    assert page.locator("figure.plot").first.locator(".fills path, .js-fill").count() >= 3


def test_another_figure_can_be_chosen(page: Any) -> None:
    plot = page.locator("figure.plot", has_text="Training curves")
    options = plot.locator("option").all_text_contents()
    assert f"{NASTY}, 10 labels · {NASTY}" in options
    before = plot.locator(".canvas").evaluate("canvas => canvas.data[0].y[5]")
    plot.locator("select").select_option(str(len(options) - 1))
    assert plot.locator(".canvas").evaluate("canvas => canvas.data.length") == 12
    assert plot.locator(".canvas").evaluate("canvas => canvas.data[0].y[5]") == before


def test_names_from_files_are_shown_as_text_in_page_and_plots(page: Any) -> None:
    assert page.evaluate("[...document.scripts].filter(script => script.textContent === 'alert(1)').length") == 0
    assert page.locator("section h2").first.inner_text() == f"A study | of {NASTY}"
    assert "<b>tags</b>" in page.locator(".note").inner_text()
    for number in range(page.locator("figure.plot").count()):
        figure = page.locator("figure.plot").nth(number)
        if figure.locator("h3").inner_text() != "Training curves":
            assert NASTY in figure.locator("svg.main-svg").first.text_content() + " ".join(
                figure.locator("svg.main-svg text").all_text_contents()
            )
    confusion = page.locator("figure.plot", has_text="Confusion of classes")
    assert "b<sub>i</sub> & c" in confusion.locator(".yaxislayer-above text").all_text_contents()
    confusion.locator(".canvas").hover(position={"x": 300, "y": 40})
    assert f"{NASTY} taken for" in confusion.locator(".hoverlayer").text_content()


def test_a_table_downloads_as_csv_that_no_spreadsheet_takes_for_formulas(page: Any, tmp_path: Path) -> None:
    box = page.locator(".table", has=page.locator("table[data-name=study-accuracy]"))
    with page.expect_download() as waiting:
        box.locator("button.csv").click()
    assert waiting.value.suggested_filename == "study-accuracy.csv"
    waiting.value.save_as(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"GCN", NASTY, "'=1+1", "not run"}
    own = f"{NASTY}, 5 labels: "
    assert rows["GCN"][f"{own}ours"] == "70.6"
    assert float(rows["GCN"][f"{own}ours, standard deviation"]) == 0.5
    assert rows[NASTY][f"{own}Δ"] == "+0.3"
    assert rows["not run"][f"{own}ours"] == ""


def test_a_negative_number_stays_a_number_in_csv(page: Any, tmp_path: Path) -> None:
    box = page.locator(".table", has=page.locator("table[data-name=study-comparisons]"))
    with page.expect_download() as waiting:
        box.locator("button.csv").click()
    waiting.value.save_as(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(encoding="utf-8-sig", newline="") as file:
        lows = [float(row["95 % from"]) for row in csv.DictReader(file)]
    assert min(lows) < 0 < max(lows)


def test_a_phone_scrolls_tables_and_not_the_page(page: Any) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    wait_until(page, "document.documentElement.scrollWidth <= 360")
    # All but a matrix, which scrolls in its own box so that its cells stay readable.
    plots = "[...document.querySelectorAll('.plot:not(.matrix) svg.main-svg')]"
    wait_until(page, f"{plots}.length > 0 && {plots}.every(plot => plot.clientWidth <= 360)")
    box = page.locator(".scroll", has=page.locator("table[data-name=study-accuracy]"))
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")


def test_a_dark_theme_reaches_the_plots_at_once(page: Any) -> None:
    ink = "getComputedStyle(document.querySelector('.xtick text')).fill"
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ink), page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    wait_until(page, f"{ink} !== {light[0]!r}")
    assert page.evaluate(ink) == "rgb(230, 235, 239)"
    assert page.evaluate(ground) == "rgb(18, 22, 26)" != light[1]


def test_print_is_on_white_and_as_wide_as_paper(page: Any) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    wait_until(page, "document.querySelector('.main-svg').clientWidth === 660")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('.xtick text')).fill") == "rgb(0, 0, 0)"
    assert not page.locator("button.csv").first.is_visible()


def test_nothing_has_complained_until_the_end(page: Any, html: Path) -> None:
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith(("blob:", "data:"))] == [html.as_uri()]
