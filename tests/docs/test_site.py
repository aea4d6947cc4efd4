"""The site in a real browser: every page opens, fits a phone and the dark; search finds; no link is dead."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from docs.site.assemble import DOCS, SECTIONS, DeadLink, _index, beside, in_site
from docs.site.methods import families

PHONE = {"width": 360, "height": 700}


class Links(HTMLParser):
    """Where a page leads to, and the places in it that others may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.targets.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def pages_of(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def test_every_page_opens_without_a_complaint_or_a_request_and_fits_a_phone(browser: Any, site: Path) -> None:
    complaints: list[str] = []
    with browser.new_context(viewport=PHONE) as context:
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"{page.url}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
        outside = lambda request: urlsplit(request.url).scheme not in ("file", "data")  # noqa: E731
        page.on("request", lambda request: complaints.append(request.url) if outside(request) else None)
        for path in pages_of(site):
            page.goto(path.as_uri())
            width = page.evaluate("document.documentElement.scrollWidth")
            if width > PHONE["width"]:
                complaints.append(f"{page.url} is {width} wide")
    assert complaints == []


def test_no_link_inside_the_site_is_dead(site: Path) -> None:
    links = {path.resolve(): Links(path.read_text(encoding="utf-8")) for path in pages_of(site)}
    dead = []
    for path, found in links.items():
        for target in found.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = links[goal].anchors if goal in links else {"", unquote(parts.fragment)}
            if not goal.exists() or unquote(parts.fragment) not in anchors:
                dead.append(f"{path.name}: {target}")
    assert dead == []


@pytest.mark.parametrize(
    ("words", "page"),
    [("label consistency", "method.html"), ("calibration", "own-graph.html"), ("own graph", "own-graph.html")],
)
def test_search_finds(browser: Any, site: Path, words: str, page: str) -> None:
    complaints: list[str] = []
    with browser.new_context() as context:
        tab = context.new_page()
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.goto((site / "index.html").as_uri())
        tab.locator("input[name=q]").first.fill(words)
        tab.keyboard.press("Enter")
        tab.wait_for_selector("#search-results .search-summary:has-text('matching')", timeout=60_000)
        tab.wait_for_function(f"document.querySelector('#search-results a[href*=\"{page}\"]') !== null")
    assert complaints == []


def luminance(colour: str) -> float:
    """Of a colour as a browser writes it, between 0 and 1 (WCAG 2)."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", ["index.html", "own-graph.html", "methods/gcn.html", "reference/running.html"])
def test_in_the_dark_a_page_is_dark_and_can_be_read(browser: Any, site: Path, name: str) -> None:
    with browser.new_context(color_scheme="dark") as context:
        page = context.new_page()
        page.goto((site / name).as_uri())
        ground = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert ground < 0.05
        for selector in ("article h1", "article p", "article a.reference, article a", "article code, article pre"):
            colour = page.evaluate(f"getComputedStyle(document.querySelector({selector!r})).color")
            assert (luminance(colour) + 0.05) / (ground + 0.05) > 4.5, selector


def test_every_page_of_the_folder_and_every_family_of_methods_is_in_the_site(site: Path) -> None:
    wanted = {path.stem for path in DOCS.glob("*.md")} | {f"methods/{name}" for name in families()}
    wanted |= {name for names in SECTIONS.values() for name in names if "/" in name}
    assert [name for name in sorted(wanted) if not (site / f"{name}.html").exists()] == []


def test_the_results_begin_with_the_claims(site: Path) -> None:
    page = (site / "results" / "index.html").read_text(encoding="utf-8")
    headings = re.findall(r"<h2>(.*?)<a", page)
    assert headings[0] == "What the paper claims, and what holds"


def test_a_page_that_no_section_names_is_a_guide() -> None:
    first = _index({"start.md", "own-graph.md", "brand-new.md", "architecture.md"})
    guides = first[first.index(":caption: Guides") : first.index(":caption: Design")]
    assert guides.split("```")[0].split()[-2:] == ["own-graph", "brand-new"]


def test_links_lead_to_where_their_files_are_in_the_site() -> None:
    text = (
        "[a](../results/table2.md) [b](#here) [c](own-graph.md#x) [d](https://x.org)\n```\n[e](nowhere.md)\n```\n"
    )
    moved = "[a](../results/table2.md) [b](#here) [c](../own-graph.md#x) [d](https://x.org)\n```\n[e](nowhere.md)\n```\n"
    assert in_site(text, "docs/methods.md", "methods/gcn.md") == moved
    with pytest.raises(DeadLink, match=r"docs/data.md links to docs/nowhere.md"):
        in_site("[e](nowhere.md)", "docs/data.md", "data.md")


def test_two_blocks_with_nothing_between_stand_side_by_side() -> None:
    block = "```python\nx = 1\n```\n"
    assert beside(f"{block}\n{block}") == f"::::{{container}} beside\n{block}\n{block}::::\n"
    assert beside(f"{block}\nwords\n\n{block}") == f"{block}\nwords\n\n{block}"
