"""Feature columns become numbers, and become the same numbers again from a description in JSON."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from lcgnn.errors import DataError
from lcgnn.features.encoding import Encoding
from lcgnn.features.table import TableFile
from lcgnn.features.words import hashed_words
from lcgnn.sources.tables.files import read_table

HEADER = "size,sure,colour,day,text\n"
ROWS = [
    "1,yes,red,2024-01-01,the cat sat here",
    "2,no,blue,2024-01-02,a dog ran off",
    "3,yes,red,2024-01-03,two birds flew away",
    ",no,blue,2024-01-04,some fish swam by",
    "5,,red,2024-01-05,no cow was there",
    "7,yes,,2024-01-06,the cat slept again",
]


def table(folder: Path, rows: list[str], header: str = HEADER) -> TableFile:
    path = folder / "nodes.csv"
    path.write_text(header + "\n".join(rows) + "\n")
    return read_table(path)


def dense(features: object) -> np.ndarray:
    return features.toarray() if isinstance(features, csr_array) else np.asarray(features)


@pytest.fixture
def file(tmp_path: Path) -> TableFile:
    return table(tmp_path, ROWS)


def test_every_kind_of_column_is_recognised(file: TableFile) -> None:
    encoding, notes = Encoding.fit(file, file.names)
    kinds = [(column.name, column.kind) for column in encoding.columns]
    assert kinds == [
        ("size", "number"),
        ("sure", "boolean"),
        ("colour", "category"),
        ("day", "date"),
        ("text", "text"),
    ]
    assert notes[0].startswith("Features: 1 number (size); 1 date (day); 1 boolean (sure)")


def test_features_are_as_wide_as_the_encoding_says(file: TableFile) -> None:
    encoding, _ = Encoding.fit(file, file.names)
    features, _ = encoding.apply(file)
    terms = encoding.columns[-1].terms
    assert terms is not None
    assert features.shape == (6, encoding.width) == (6, 2 + 2 + 3 + 1 + len(terms.hashes))


def test_numbers_are_standardised_and_missing_ones_marked(file: TableFile) -> None:
    encoding, notes = Encoding.fit(file, ["size"])
    features = dense(encoding.apply(file)[0])
    given = np.array([1, 2, 3, 5, 7.0])
    assert features[[0, 1, 2, 4, 5], 0] == pytest.approx((given - given.mean()) / given.std())
    assert features[3].tolist() == [0, 1]
    assert any("1 of 6 cells are missing; filled with the mean" in note for note in notes)


def test_a_category_has_a_feature_for_each_value(file: TableFile) -> None:
    encoding, _ = Encoding.fit(file, ["colour"])
    assert encoding.columns[0].categories == ("blue", "red")
    assert dense(encoding.apply(file)[0]).tolist() == [
        [0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1],
    ]  # fmt: skip


def test_words_are_counted_whatever_their_case_and_marks() -> None:
    texts = pa.array(["The cat, the CAT!", "cat the", None, "", "völlig anders"])
    features = hashed_words(texts, 64).toarray()
    assert features[0] == pytest.approx(features[1])
    assert np.linalg.norm(features, axis=1).tolist() == pytest.approx([1, 1, 0, 0, 1])


def test_the_hash_of_a_word_is_the_same_for_ever() -> None:
    assert hashed_words(pa.array(["cat", "dog"]), 256).nonzero()[1].tolist() == [51, 57]


def test_an_encoding_survives_json(file: TableFile) -> None:
    encoding, _ = Encoding.fit(file, file.names)
    again = Encoding.from_json(json.loads(json.dumps(encoding.to_json())))
    assert again == encoding
    assert (dense(again.apply(file)[0]) == dense(encoding.apply(file)[0])).all()


@pytest.mark.parametrize(
    "damage",
    [
        {}, "text", None, [1], [{}], [{"name": "a"}],
        "kind", "scale", "mean", "categories", "buckets", "weight", "terms",
    ],
)  # fmt: skip
def test_a_damaged_description_is_refused(damage: object, file: TableFile) -> None:
    content: Any = Encoding.fit(file, ["size"])[0].to_json()
    wrong: dict[str, Any] = {"kind": "pickle", "scale": 0, "mean": "x", "categories": 3, "buckets": -1}
    wrong |= {"weight": 0, "terms": {"texts": 2, "hashes": [5, 3], "frequencies": [1, 1]}}
    if isinstance(damage, str) and damage in wrong:
        content[0][damage] = wrong[damage]
    else:
        content = damage
    with pytest.raises(DataError, match="Train the model again"):
        Encoding.from_json(content)


def test_a_missing_column_is_refused_by_name(file: TableFile, tmp_path: Path) -> None:
    encoding, _ = Encoding.fit(file, file.names)
    other = table(tmp_path, ["1,yes", "2,no"], "size,sure\n")
    with pytest.raises(DataError, match=r"no column 'colour'.*needed are 'size'"):
        encoding.apply(other)


def test_unseen_categories_count_as_none_and_are_told(file: TableFile, tmp_path: Path) -> None:
    encoding, _ = Encoding.fit(file, ["colour"])
    features, notes = encoding.apply(table(tmp_path, ["1,yes,green,2024-01-01,x", "1,no,red,2024-01-01,y"]))
    assert dense(features).tolist() == [[0, 0, 0], [0, 1, 0]]
    assert any("1 cell holds a value that was not there" in note for note in notes)


def test_what_was_a_number_in_training_must_be_one(file: TableFile, tmp_path: Path) -> None:
    encoding, _ = Encoding.fit(file, ["size", "day", "sure"])
    for row, column in (("big,yes,red,2024-01-01,x", "size"), ("1,maybe,red,2024-01-01,x", "sure")):
        with pytest.raises(DataError, match=f"column '{column}'"):
            encoding.apply(table(tmp_path, [row]))
    with pytest.raises(DataError, match="'tomorrow' is not a date"):
        encoding.apply(table(tmp_path, ["1,yes,red,tomorrow,x"]))


def test_gaps_that_were_not_there_in_training_are_filled_and_told(file: TableFile, tmp_path: Path) -> None:
    encoding, _ = Encoding.fit(file, ["day"])
    features, notes = encoding.apply(table(tmp_path, ["1,yes,red,,x", "1,no,red,2024-01-01,y"]))
    assert dense(features)[0].tolist() == [0]
    assert any("'day': 1 cells are missing" in note for note in notes)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["5"] * 6, "every cell is '5'"),
        ([""] * 6, "every cell is empty"),
        (["NA", "nan", "NULL", "", "None", "n/a"], "every cell is empty"),
        (["ann", "bob", "cy", "dee", "eve", "flo"], "looks like a name"),
    ],
)
def test_columns_that_say_nothing_are_left_out_and_told(cells: list[str], message: str, tmp_path: Path) -> None:
    file = table(tmp_path, [f"{cell},1" for cell in cells], "odd,other\n")
    encoding, notes = Encoding.fit(file, ["odd"])
    assert encoding.columns == ()
    assert message in notes[0]


def test_a_cell_that_keeps_a_column_from_being_numbers_is_named(tmp_path: Path) -> None:
    rows = [f"{value},1" for value in ["1", "2", "1", "2", "unknown", "1", "2", "1"]]
    _, notes = Encoding.fit(table(tmp_path, rows, "odd,other\n"), ["odd"])
    assert any("line 6" in note and "'unknown' is not a number" in note for note in notes)


def test_mostly_numbers_stay_dense_and_words_stay_sparse(tmp_path: Path) -> None:
    rows = [f"{place % 50},the {chr(97 + place % 20) * 4} of {chr(98 + place % 20) * 5}" for place in range(60)]
    file = table(tmp_path, rows, "size,text\n")
    numbers, _ = Encoding.fit(file, ["size"])
    words, _ = Encoding.fit(file, ["text"])
    assert isinstance(numbers.apply(file)[0], np.ndarray)
    assert isinstance(words.apply(file)[0], csr_array)


def test_many_columns_of_every_kind_together_have_a_bounded_length(tmp_path: Path) -> None:
    cells = [(place % 7, "yes" if place % 2 else "no", "red" if place % 3 else "blue") for place in range(42)]
    rows = [",".join(str(cell) for cell in row * 4) for row in cells]
    file = table(tmp_path, rows, ",".join(f"size{i},sure{i},colour{i}" for i in range(4)) + "\n")
    features = dense(Encoding.fit(file, file.names)[0].apply(file)[0])
    # Twelve columns share a squared length of 4.
    assert np.square(features[:, 0]).mean() == pytest.approx(1 / 3, rel=1e-5)
    assert np.unique(features[:, 1]) == pytest.approx([0, np.sqrt(1 / 3)])
    assert np.square(features[:, 2:4]).sum(axis=1) == pytest.approx(1 / 3)


def test_a_model_of_version_0_2_makes_the_features_that_it_was_trained_on(tmp_path: Path) -> None:
    plain = {"mean": 0.0, "scale": 1.0, "categories": [], "buckets": 0, "marks_missing": False, "notation": ""}
    described: list[dict[str, Any]] = [
        {"name": "one", "kind": "count", **plain},
        {"name": "two", "kind": "count", **plain},
        {"name": "text", "kind": "text", **plain, "buckets": 64},
        {"name": "colour", "kind": "category", **plain, "categories": ["blue", "red"], "marks_missing": True},
    ]
    rows = ["3,1,The cat,red", "0,0,a dog,", "0,5,the the cat,blue"]
    features = dense(Encoding.from_json(described).apply(table(tmp_path, rows, "one,two,text,colour\n"))[0])
    np.testing.assert_allclose(features[:, :2], [[0.75, 0.25], [0.0, 0.0], [0.0, 1.0]])
    texts = pa.array(["The cat", "a dog", "the the cat"])
    np.testing.assert_allclose(features[:, 2:66], hashed_words(texts, 64).toarray())
    assert features[:, 66:].tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
