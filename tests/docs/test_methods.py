"""The pages of the methods say what there is to say, and their examples run."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from docs.site.assemble import DOCS
from docs.site.methods import families, pages, papers, sections

import lcgnn
from lcgnn.graph import Graph, Split
from lcgnn.methods.base import entry, settings_of

TOLD = (DOCS / "methods.md").read_text(encoding="utf-8")
PAGES = {place.removeprefix("methods/").removesuffix(".md"): text for place, text in pages(TOLD)}


def test_every_family_is_described_and_has_a_source() -> None:
    assert set(sections(TOLD)) == set(families()), "docs/methods.md has a section '### Title (`name`)' for each."
    assert set(papers()) == set(families()), "docs/site/papers.toml has a line for each."


@pytest.mark.parametrize("family", families())
def test_a_page_has_every_name_and_every_setting(family: str) -> None:
    page = PAGES[family]
    for item in families()[family]:
        assert f"| `{item.name}` | {item.summary} |" in page
    for setting in settings_of(families()[family][0].method):
        assert f"| `{setting}` |" in page
    for heading in ("## Names", "## Example", "## Accuracy", "## Settings"):
        assert heading in page


def test_accuracies_are_those_of_the_tables() -> None:
    table = (DOCS.parent / "results" / "table2.md").read_text(encoding="utf-8")
    ours, paper = re.search(r"^\| LC-GCN \| ([^|]+) \| ([^|]+) \|", table, re.MULTILINE).groups()
    assert f"| LC-GCN (`lc-gcn`) | {ours} ({paper}) |" in PAGES["gcn"]


@pytest.mark.parametrize("family", families())
def test_the_example_of_a_page_runs(
    family: str, monkeypatch: pytest.MonkeyPatch, small_graph: Callable[..., tuple[Graph, Split]]
) -> None:
    if family == "deepwalk":
        pytest.importorskip("gensim")
    short = {"base_epochs": 2, "epochs": 2, "max_epochs": 2, "layers": 2, "walks": 20}

    def quick(name: str, dataset: str, **settings: Any) -> Any:
        assert dataset == "cora"
        known = settings_of(entry(name).method)
        return made(name, None, **{key: value for key, value in short.items() if key in known}, **settings)

    made = lcgnn.create
    monkeypatch.setattr(lcgnn, "load", lambda _: small_graph())
    monkeypatch.setattr(lcgnn, "create", quick)
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGES[family], re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102
    assert names["fit"].label_distribution.shape == (240, 4)
