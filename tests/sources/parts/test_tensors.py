"""A safetensors file that is written in pieces."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from lcgnn.sources.parts import tensors
from lcgnn.sources.parts.tensors import write_arrays_in_pieces


@pytest.mark.parametrize("size", [1, 100, 2**24])
def test_arrays_come_back_as_they_were(tmp_path: Path, size, monkeypatch):
    monkeypatch.setattr(tensors, "_BYTES", size)
    generator = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        "bytes": generator.integers(-9, 9, 7).astype(np.int8),
        "wide": generator.random((5, 3)).astype(np.float32),
        "turned": generator.random((3, 5)).T,
        "many": np.arange(1001, dtype=np.int32),
        "none": np.empty(0, dtype=np.int64),
        "rows of none": np.empty((4, 0), dtype=np.float32),
    }
    write_arrays_in_pieces(tmp_path / "file.safetensors", arrays)
    found = load_file(tmp_path / "file.safetensors")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)
