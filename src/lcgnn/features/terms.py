"""Texts as sparse features: words and parts of words, each weighted by how few texts have it (TF-IDF).

Words are runs of letters and digits in lower case. Parts are the runs of three and four characters of a word with
a space at either end, by which names that share a stem are alike; they are left out where texts are long, of which
the words alone say enough. A term counts 1 + ln(its occurrences), times ln((1 + n) / (1 + d)) + 1 if d of the n
texts that the terms were chosen by have it. The words of a row have length 1, as have the parts, and the whole.

Terms are known by a hash of 32 bits that is the same everywhere and always, so that what is kept with a model is
numbers, and what choosing them takes is bounded by the text and not by how many different parts there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, hstack, vstack

from lcgnn.errors import DataError
from lcgnn.features.scaling import divided_rows
from lcgnn.limits import check_memory

# As many words, and as many parts of words, are kept: those that most texts have.
MOST_TERMS = 1 << 14
# Texts with more words than this on average say enough by their words.
_LONG = 30
_PART_LENGTHS = (3, 4)
# Parts are numbered after all words.
_PARTS_FROM = 1 << 32
# Bytes of text that are worked on at a time.
_SLICE = 1 << 24
_BYTES_OF_AN_ENTRY = 8
_DAMAGED = "The description of a text's terms is damaged. Train the model again."

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Terms:
    """Which terms of a text are features, in the order of their hashes: words first, then parts of words.

    Args:
        texts: How many texts they were chosen by.
        hashes: Of the terms, ascending.
        frequencies: How many of the texts have each.
    """

    texts: int
    hashes: tuple[int, ...]
    frequencies: tuple[int, ...]

    @property
    def num_words(self) -> int:
        """How many of the terms are words."""
        return int(np.searchsorted(np.array(self.hashes, dtype=np.int64), _PARTS_FROM))

    @classmethod
    def of(cls, column: Any) -> tuple[Terms, str]:
        """The terms of these texts that at least two have, and in words how many there are."""
        num_texts = len(column) - column.null_count
        lengths = pc.list_value_length(pc.utf8_split_whitespace(column.drop_null()))
        found = [_chosen(*_frequencies(column, _words), "words")]
        if (pc.mean(lengths).as_py() or 0) <= _LONG:
            found.append(_chosen(*_frequencies(column, _parts), "parts of words"))
        hashes, frequencies = (np.concatenate([chosen[place] for chosen in found]).tolist() for place in (0, 1))
        return cls(num_texts, tuple(hashes), tuple(frequencies)), " and ".join(told for _, _, told in found)

    def apply(self, column: Any, what: str) -> csr_array:
        """(N, terms) every row at length 1; one without any known term is all zeros.

        Args:
            column: The texts.
            what: What to call them if they do not fit into memory.
        """
        hashes = np.array(self.hashes, dtype=np.int64)
        weights = np.log((1 + self.texts) / (1 + np.array(self.frequencies, dtype=np.float64))) + 1
        middle = self.num_words
        blocks, entries = [], 0
        for counts, words in _bags(column):
            found = [_weighted(counts, _words(words), hashes[:middle], weights[:middle])]
            if middle < hashes.size:
                found.append(_weighted(counts, _parts(words), hashes[middle:], weights[middle:]))
            blocks.append(divided_rows(csr_array(hstack(found, format="csr")), by_norm=True))
            entries += blocks[-1].nnz
            check_memory(what, _BYTES_OF_AN_ENTRY * entries)
        return csr_array(vstack(blocks, format="csr")) if blocks else csr_array((0, hashes.size), dtype=np.float32)

    def named(self, column: Any) -> tuple[str, ...]:
        """What the terms are in these texts, parts of words between dots; "" for one that none of them has."""
        places = {hashed: place for place, hashed in enumerate(self.hashes)}
        names = [""] * len(self.hashes)
        for _, words in _bags(column):
            for word in words:
                terms = [
                    (_hash(word), word),
                    *((_hash(part) + _PARTS_FROM, f"·{part}·") for part in _parts_of(word)),
                ]
                for hashed, name in terms:
                    if hashed in places and not names[places[hashed]]:
                        names[places[hashed]] = name
        return tuple(names)

    def to_json(self) -> dict[str, Any]:
        """Plain data, from which `from_json` makes the same again."""
        return {"texts": self.texts, "hashes": list(self.hashes), "frequencies": list(self.frequencies)}

    @classmethod
    def from_json(cls, content: Any) -> Terms:
        """The terms that `to_json` described; DataError if the content is something else."""
        if not isinstance(content, Mapping) or set(content) != {"texts", "hashes", "frequencies"}:
            raise DataError(_DAMAGED)
        texts, hashes, frequencies = (content[name] for name in ("texts", "hashes", "frequencies"))
        lists = [part for part in (hashes, frequencies) if isinstance(part, list)]
        numbers = [texts, *(number for part in lists for number in part)]
        if len(lists) < 2 or any(type(number) is not int for number in numbers):
            raise DataError(_DAMAGED)
        ascending = all(one < other for one, other in pairwise(hashes))
        bounded = all(0 <= number < 2 * _PARTS_FROM for number in hashes[:1] + hashes[-1:])
        counted = all(0 < number <= texts for number in frequencies)
        if not (ascending and bounded and counted and len(hashes) == len(frequencies)):
            raise DataError(_DAMAGED)
        return cls(texts, tuple(hashes), tuple(frequencies))


def _bags(column: Any) -> Iterator[tuple[csr_array, list[str]]]:
    """The texts in slices: (n, V) how often each word of a slice occurs in every text, and the words."""
    size = pc.sum(pc.binary_length(column)).as_py() or 0
    step = max(1, int(len(column) * _SLICE / max(size, 1)))
    for start in range(0, len(column), step):
        lower = pc.utf8_lower(pc.fill_null(column.slice(start, step), ""))
        # Not utf8_split_whitespace, which may overlook a space that ends the last text (Arrow 26).
        lists = pc.split_pattern(pc.replace_substring_regex(lower, r"[^\pL\pN\pM]+", " "), " ")
        lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
        words = pc.list_flatten(lists).dictionary_encode()
        rows, places = pc.list_parent_indices(lists).to_numpy(), words.indices.to_numpy()
        known = words.dictionary.to_pylist()
        # Around the spaces at the ends of a text are empty words.
        real = np.array([bool(word) for word in known], dtype=bool)[places] if known else places.astype(bool)
        ones = np.ones(int(real.sum()), dtype=np.float32)
        yield csr_array((ones, (rows[real], places[real])), shape=(len(lists), len(known))), known


def _words(words: list[str]) -> tuple[Numbers, Numbers]:
    """The hash of every word, and its number."""
    return np.array([_hash(word) for word in words], dtype=np.int64), np.arange(len(words))


def _parts(words: list[str]) -> tuple[Numbers, Numbers]:
    """The hashes of all parts of all words, and beside each the number of its word."""
    hashes: list[int] = []
    lengths: list[int] = []
    for word in words:
        before = len(hashes)
        hashes += [_hash(part) for part in _parts_of(word)]
        lengths.append(len(hashes) - before)
    numbers = np.array(hashes, dtype=np.int64) + _PARTS_FROM
    return numbers, np.repeat(np.arange(len(words)), np.array(lengths, dtype=np.int64))


def _parts_of(word: str) -> Iterator[str]:
    """Runs of characters of a word with its spaces; one that is shorter than a run is a part by itself, once."""
    padded = f" {word} "
    for length in _PART_LENGTHS:
        yield from (padded[start : start + length] for start in range(max(1, len(padded) - length + 1)))
        if len(padded) <= length:
            return


def _hash(term: str) -> int:
    return crc32(term.encode("utf-8", "surrogatepass"))


def _frequencies(column: Any, terms_of: Any) -> tuple[Numbers, Numbers]:
    """The hashes of all terms of the texts, ascending, and how many texts have each."""
    hashes, frequencies = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    for counts, words in _bags(column):
        found, numbers = terms_of(words)
        here, places = np.unique(found, return_inverse=True)
        occurring = counts @ _incidence(numbers, places, len(words), here.size)
        hashes = np.concatenate([hashes, here])
        frequencies = np.concatenate([frequencies, np.bincount(occurring.indices, minlength=here.size)])
        hashes, places = np.unique(hashes, return_inverse=True)
        frequencies = np.bincount(places, weights=frequencies).astype(np.int64)
    return hashes, frequencies


def _chosen(hashes: Numbers, frequencies: Numbers, what: str) -> tuple[Numbers, Numbers, str]:
    """The terms that two texts have or more (or one, if there is no other), by their hash, and how many these are.

    Of too many, those that most texts have are taken.
    """
    able = np.flatnonzero(frequencies >= (2 if (frequencies > 1).any() else 1))
    chosen = np.sort(able[np.argsort(-frequencies[able], kind="stable")[:MOST_TERMS]])
    which = "" if chosen.size == able.size else f"the {chosen.size:,} most frequent of "
    return hashes[chosen], frequencies[chosen], f"{which}{able.size:,} {what}"


def _incidence(numbers: Numbers, places: Numbers, num_words: int, num_terms: int) -> csr_array:
    """(V, T) how often every word has every term."""
    ones = np.ones(numbers.size, dtype=np.float32)
    return csr_array((ones, (numbers, places)), shape=(num_words, num_terms))


def _weighted(
    counts: csr_array, terms: tuple[Numbers, Numbers], hashes: Numbers, weights: NDArray[np.float64]
) -> csr_array:
    """(n, T) how much every known term counts in every text, the rows at length 1."""
    found, numbers = terms
    places = np.minimum(np.searchsorted(hashes, found), max(hashes.size - 1, 0))
    known = hashes[places] == found if hashes.size else np.zeros(found.size, dtype=bool)
    occurring = csr_array(counts @ _incidence(numbers[known], places[known], counts.shape[1], hashes.size))
    occurring.sort_indices()
    occurring.data = 1 + np.log(occurring.data.astype(np.float64))
    return divided_rows(csr_array(occurring @ diags_array(weights)), by_norm=True)
