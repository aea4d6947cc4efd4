"""Small folders of tables to start from, with the truth to compare with: what ``lcgnn init`` writes."""

from __future__ import annotations

from pathlib import Path

from lcgnn.errors import ConfigError
from lcgnn.files import check_new_folder
from lcgnn.sources.examples.articles import articles
from lcgnn.sources.examples.market import market
from lcgnn.sources.examples.papers import papers
from lcgnn.sources.examples.wine import wine

EXAMPLES = {"articles": articles, "market": market, "papers": papers, "wine": wine}


def write_example(folder: Path, name: str = "articles") -> list[Path]:
    """Write an example's nodes.csv, edges.csv and truth.csv into a new folder, the same ones every time.

    The truth is there to compare predictions with; nothing else reads it.
    """
    if name not in EXAMPLES:
        raise ConfigError(f"There is no example {name!r}. There are {', '.join(EXAMPLES)}.")
    check_new_folder(folder)
    return EXAMPLES[name]().write(folder)
