"""No damaged or crafted file does anything but be read or be refused; ``python -m tests.fuzz`` tries many more."""

from pathlib import Path

import pytest
from tests.fuzz.readers import READERS, content_of, damaged
from tests.fuzz.running import fuzz


@pytest.mark.parametrize("reader", READERS)
def test_damaged_files_are_read_or_refused_in_one_line(reader: str) -> None:
    (outcome,) = fuzz(60, readers=[reader])
    assert outcome.faults == []
    assert outcome.read + outcome.refused == 60
    assert outcome.refused > 0


def test_an_input_is_the_same_whenever_it_is_made(tmp_path: Path) -> None:
    for reader in ("npz", "csv", "parts"):
        contents = set()
        for _ in range(2):
            damaged(reader, 7, tmp_path / "input")
            contents.add(content_of(tmp_path / "input"))
        damaged(reader, 8, tmp_path / "input")
        assert content_of(tmp_path / "input") not in contents
        assert len(contents) == 1
