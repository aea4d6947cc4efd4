"""An example with text: generated articles that link within their topic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcgnn.sources.examples.tables import ExampleTables, Row, some_of_each

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


def articles() -> ExampleTables:
    """300 articles on three topics that link mostly within their topic; 30 have a label."""
    generator = np.random.default_rng(_SEED)
    topics = generator.integers(0, len(_WORDS), NUM_NODES)
    names = [f"article-{number:03d}" for number in range(NUM_NODES)]
    classes = list(_WORDS)
    truth = [(name, classes[topic]) for name, topic in zip(names, topics, strict=True)]
    columns = ("id", "label", "year", "words", "language", "illustrated", "title")
    return ExampleTables(
        nodes=(columns, _nodes(names, topics, generator)),
        edges=(("source", "target"), _edges(names, topics, generator)),
        truth=(("id", "label"), truth),
    )


def _nodes(names: list[str], topics: NDArray[np.int64], generator: np.random.Generator) -> list[Row]:
    classes = list(_WORDS)
    labelled = some_of_each(topics, _LABELS_PER_CLASS, generator)
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
