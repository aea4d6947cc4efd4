import logging
from pathlib import Path
from typing import Any

import pytest

from lcgnn.errors import OutputError
from lcgnn.experiments.store import Store, read_pack, write_pack


def record(run: str, seed: int = 0, method: str = "gcn") -> dict[str, Any]:
    return {
        "run": run,
        "dataset": "cora",
        "method": method,
        "settings": {"hidden": 16},
        "split": {"kind": "public"},
        "seed": seed,
        "graph": "abc",
        "seconds": 1.5,
        "stages": [{"name": "base", "test_accuracy": 0.8}],
        "environment": {"python": "3"},
    }


def test_what_is_added_is_found(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add(record("a"))
    assert store.find("a") == record("a")
    assert store.find("b") is None
    assert store.all() == [record("a")]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"run": "other"}', '{"run": "a"}'])
def test_a_damaged_record_is_named_and_counts_as_none(
    content: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.json").write_text(content)
    with caplog.at_level(logging.WARNING):
        assert Store(tmp_path).find("a") is None
    assert "a.json" in caplog.text
    assert Store(tmp_path).all() == []


def test_packing_loses_nothing(tmp_path: Path) -> None:
    records = [record("a", 0), record("b", 1), record("c", 0, "gat")]
    assert write_pack(tmp_path / "pack.jsonl", records) == 3
    assert sorted(read_pack(tmp_path / "pack.jsonl"), key=lambda item: item["run"]) == records
    assert len((tmp_path / "pack.jsonl").read_text().splitlines()) == 2


def test_packed_records_are_found_as_well(tmp_path: Path) -> None:
    write_pack(tmp_path / "pack.jsonl", [record("a")])
    store = Store(tmp_path / "records", [tmp_path / "pack.jsonl"])
    store.add(record("b"))
    assert store.find("a") == record("a")
    assert [item["run"] for item in store.all()] == ["a", "b"]


def test_a_damaged_pack_is_named_with_its_line(tmp_path: Path) -> None:
    write_pack(tmp_path / "pack.jsonl", [record("a"), record("b", 0, "gat")])
    path = tmp_path / "pack.jsonl"
    path.write_text(path.read_text()[:-30])
    with pytest.raises(OutputError, match=r"pack\.jsonl, line 2"):
        read_pack(path)
