"""Short texts as features: a bag of words, counted in buckets by a hash that never changes."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array


def hashed_words(column: Any, buckets: int) -> csr_array:
    """(N, buckets) how often words of each bucket occur, every row at length 1; a word's hash is its bucket.

    Words are runs of letters and digits, in lower case. The hash is the same everywhere and always.
    """
    # Not utf8_split_whitespace, which may overlook a space that ends the last text (Arrow 26).
    lists = pc.split_pattern(
        pc.replace_substring_regex(pc.utf8_lower(pc.fill_null(column, "")), r"[^\pL\pN]+", " "), " "
    )
    lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    words = pc.list_flatten(lists)
    rows = pc.list_parent_indices(lists).to_numpy()
    real = pc.not_equal(words, "").to_numpy(zero_copy_only=False)
    encoded = words.dictionary_encode()
    bucket = np.array([_bucket(word, buckets) for word in encoded.dictionary.to_pylist()], dtype=np.int64)
    columns = bucket[encoded.indices.to_numpy()] if bucket.size else np.empty(0, dtype=np.int64)
    rows, columns = rows[real], columns[real]
    counts = csr_array((np.ones(rows.size, dtype=np.float32), (rows, columns)), shape=(len(column), buckets))
    lengths = np.sqrt(np.asarray(counts.power(2).sum(axis=1)).ravel())
    counts.data /= np.repeat(lengths, np.diff(counts.indptr))
    return counts


def _bucket(word: str, buckets: int) -> int:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % buckets
