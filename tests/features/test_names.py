"""What features are called, and their values as the table has them."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from lcgnn.features.encoding import Encoding
from lcgnn.features.names import feature_names
from lcgnn.sources.frames import table_of


def test_values_are_told_in_the_units_of_the_table() -> None:
    cells = {"age": [30.0, 40.0, 50.0, None] * 3, "kind": ["a", "b", "a", "b"] * 3, "is_new": [True, False] * 6}
    table = table_of(pd.DataFrame(cells), "X")
    encoding, _ = Encoding.fit(table, table.names)
    features, _ = encoding.apply(table)
    names = feature_names(encoding, encoding.width, table)
    row = (features.toarray() if isinstance(features, csr_array) else np.asarray(features))[1]
    told = {name: names.as_in_table(number, float(row[number])) for number, name in enumerate(names.names)}
    assert told["age"] == pytest.approx(40, abs=1e-4)
    assert (told["kind = a"], told["kind = b"]) == (0, pytest.approx(1))
    assert told["age is missing"] == told["is_new"] == 0
