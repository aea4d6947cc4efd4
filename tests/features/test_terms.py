"""Words and parts of words against scikit-learn's, in memory that is bounded, and again from plain data."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from lcgnn.errors import DataError
from lcgnn.features import terms
from lcgnn.features.terms import Terms

NAMES = [
    "Museum of Modern Art", "modern dance museum", "The Royal Ballet", "Royal Opera House", "Opera de Paris",
    "Paris Saint-Germain", "FC Saint-Étienne", "Étienne dance", "art house", "a", "ballet a Paris", None, "", "!!",
]  # fmt: skip
TEXTS = pa.chunked_array([pa.array(NAMES, pa.string())])


def agreement(features: Any) -> np.ndarray:
    """Every two rows' product: the same for the same terms in any order."""
    return (features @ features.T).toarray()


def of_scikit_learn(texts: list[str], **how: Any) -> Any:
    return TfidfVectorizer(min_df=2, sublinear_tf=True, **how).fit_transform(texts)


@pytest.mark.parametrize("slice_bytes", [1, 40, 1 << 24])
def test_words_and_parts_are_weighted_as_scikit_learn_weights_them(
    slice_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terms, "_SLICE", slice_bytes)
    given_texts = pa.chunked_array([pa.array([name for name in NAMES if name is not None])])
    plain = [" ".join(str(text).replace("-", " ").replace("!", " ").split()) for text in given_texts.to_pylist()]
    found, _ = Terms.of(given_texts)
    features = found.apply(given_texts, "the texts").astype(np.float64)
    words = of_scikit_learn(plain, token_pattern=r"\w+")
    parts = of_scikit_learn(plain, analyzer="char_wb", ngram_range=(3, 4))
    assert found.num_words == words.shape[1]
    assert features.shape[1] == words.shape[1] + parts.shape[1]
    # Rows that have both kinds of terms get half of each.
    expected = agreement(words) + agreement(parts)
    lengths = np.sqrt(np.diag(expected))
    lengths[lengths == 0] = 1
    np.testing.assert_allclose(agreement(features), expected / np.outer(lengths, lengths), atol=1e-6)


def test_rows_have_length_one_or_nothing() -> None:
    found, told = Terms.of(TEXTS)
    lengths = np.linalg.norm(found.apply(TEXTS, "the texts").toarray(), axis=1)
    assert lengths == pytest.approx([1] * 11 + [0] * 3)
    assert f"{found.num_words} words and {len(found.hashes) - found.num_words} parts of words" == told


def test_long_texts_are_known_by_their_words_alone() -> None:
    text = " ".join(f"word{place}" for place in range(40))
    found, told = Terms.of(pa.chunked_array([[text, text]]))
    assert (found.num_words, len(found.hashes), told) == (40, 40, "40 words")


def test_of_too_many_terms_those_that_most_texts_have_are_kept_and_that_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(terms, "MOST_TERMS", 2)
    texts = pa.chunked_array([["aa bb cc", "aa bb", "aa cc", "aa bb", "dd", "dd"]])
    found, told = Terms.of(texts)
    assert told.startswith("the 2 most frequent of 4 words and the 2 most frequent of ")
    assert sorted(found.frequencies[:2]) == [3, 4]


def test_where_no_term_occurs_twice_all_are_kept() -> None:
    found, _ = Terms.of(pa.chunked_array([["red", "blue"]]))
    assert found.num_words == 2


def test_unknown_words_say_something_by_the_parts_that_are_known() -> None:
    found, _ = Terms.of(pa.chunked_array([["garden gardens", "garden", "river rivers", "river"]]))
    new = found.apply(pa.chunked_array([["gardener", "xyz"]]), "the texts").toarray()
    known = found.apply(pa.chunked_array([["garden", "river"]]), "the texts").toarray()
    assert new[0] @ known[0] > 0.3 > 0.1 > new[0] @ known[1]
    assert not new[1].any()


def test_a_mark_after_a_letter_beyond_ascii_ends_the_last_word_every_time() -> None:
    texts = [None, None, "0\x81", "0000000000¹¾ÑÖÛÞᄭ", "00îø", "00Øö", "000000000¹ÀÕØÝßᄥ/"]
    column = pa.chunked_array([pa.array(texts, pa.string())])
    found, _ = Terms.of(column)
    rows = {found.apply(column, "the texts").toarray().tobytes() for _ in range(300)}
    assert len(rows) == 1


@settings(max_examples=40)
@given(texts=st.lists(st.one_of(st.none(), st.text(max_size=30)), min_size=1, max_size=12))
def test_any_texts_give_finite_rows_that_plain_data_gives_again(texts: list[str | None]) -> None:
    encodable = [text if text is None else text.encode("utf-8", "ignore").decode() for text in texts]
    column = pa.chunked_array([pa.array(encodable, pa.string())])
    found, _ = Terms.of(column)
    again = Terms.from_json(json.loads(json.dumps(found.to_json())))
    assert again == found
    features = found.apply(column, "the texts").toarray()
    assert features.shape == (len(texts), len(found.hashes))
    lengths = np.linalg.norm(features, axis=1)
    assert np.isfinite(features).all()
    assert (np.isclose(lengths, 1, atol=1e-5) | (lengths == 0)).all()
    assert np.array_equal(again.apply(column, "the texts").toarray(), features)


@pytest.mark.parametrize(
    "damage",
    [
        None, [], {"texts": 3}, {"texts": "3"}, {"hashes": [2, 1]}, {"hashes": [-1, 4]}, {"hashes": [1, 1 << 34]},
        {"frequencies": [1]}, {"frequencies": [0, 1]}, {"frequencies": [1, 9]}, {"hashes": [1, 2.5]},
        {"hashes": "12"},
    ],
)  # fmt: skip
def test_a_damaged_description_is_refused(damage: Any) -> None:
    whole = {"texts": 3, "hashes": [1, 4], "frequencies": [1, 2]}
    assert Terms.from_json(whole).hashes == (1, 4)
    content = {**whole, **damage} if isinstance(damage, dict) and damage != {"texts": 3} else damage
    with pytest.raises(DataError, match="Train the model again"):
        Terms.from_json(content)
