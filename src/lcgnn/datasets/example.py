"""A small folder of tables to start from, generated: what ``lcgnn init`` writes."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lcgnn.errors import OutputError
from lcgnn.files import written_atomically

NUM_NODES = 300
_SEED = 7
_LABELS_PER_CLASS = 10
_LINKS_PER_NODE = 3
# Of an article's links, how many lead to its own topic.
_SAME_TOPIC = 0.85
# Of a title's words, how many are of its topic; the others are everybody's.
_OWN_WORDS = 0.3

# Words of each topic, and of all.
_WORDS = {
    "astronomy": "star orbit telescope planet galaxy eclipse comet lens moon dwarf",
    "cooking": "oven bread pepper stew flour roast onion recipe salt dough",
    "football": "goal league striker coach stadium penalty keeper season club derby",
}
_COMMON_WORDS = "new guide story week great small how notes first question city year best plan long"
_LANGUAGES = ("en", "de", "fr", "es")

Row = Sequence[object]


def write_example(folder: Path) -> list[Path]:
    """Write nodes.csv, edges.csv and truth.csv into a new folder, the same ones every time.

    300 articles on three topics that link mostly within their topic; 30 have a label. The truth is there to
    compare predictions with; nothing else reads it.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(f"{folder} is there already. Choose another folder, or empty it first.")
    generator = np.random.default_rng(_SEED)
    topics = generator.integers(0, len(_WORDS), NUM_NODES)
    names = [f"article-{number:03d}" for number in range(NUM_NODES)]
    classes = list(_WORDS)
    truth = [(name, classes[topic]) for name, topic in zip(names, topics, strict=True)]
    content: dict[str, tuple[Row, Iterable[Row]]] = {
        "nodes.csv": (("id", "label", "year", "words", "language", "illustrated", "title"),
                      _nodes(names, topics, generator)),
        "edges.csv": (("source", "target"), _edges(names, topics, generator)),
        "truth.csv": (("id", "label"), truth),
    }  # fmt: skip
    for name, (header, rows) in content.items():
        _write(folder / name, header, rows)
    return [folder / name for name in content]


def _nodes(names: list[str], topics: NDArray[np.int64], generator: np.random.Generator) -> list[Row]:
    classes = list(_WORDS)
    labelled = {
        int(node)
        for topic in range(len(classes))
        for node in generator.choice(np.flatnonzero(topics == topic), _LABELS_PER_CLASS, replace=False)
    }
    rows: list[Row] = []
    for node, (name, topic) in enumerate(zip(names, topics.tolist(), strict=True)):
        length = int(generator.normal(800 + 100 * topic, 200))
        rows.append(
            (
                name,
                classes[topic] if node in labelled else "",
                int(generator.integers(1995, 2025)),
                length if generator.random() < 0.95 else "",
                str(generator.choice(_LANGUAGES, p=(0.55, 0.2, 0.15, 0.1))),
                "yes" if generator.random() < 0.5 else "no",
                _title(classes[topic], generator),
            )
        )
    return rows


def _title(topic: str, generator: np.random.Generator) -> str:
    own = generator.random(5) < _OWN_WORDS
    words = [str(generator.choice((_WORDS[topic] if is_own else _COMMON_WORDS).split())) for is_own in own]
    return " ".join(words)


def _edges(names: list[str], topics: NDArray[np.int64], generator: np.random.Generator) -> list[Row]:
    rows: list[Row] = []
    for node, topic in enumerate(topics.tolist()):
        for same in generator.random(_LINKS_PER_NODE) < _SAME_TOPIC:
            others = np.flatnonzero((topics == topic) == same)
            rows.append((names[node], names[int(generator.choice(others[others != node]))]))
    return rows


def _write(path: Path, header: Row, rows: Iterable[Row]) -> None:
    with written_atomically(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
