import logging
from pathlib import Path

import pytest

from lcgnn.errors import OutputError
from lcgnn.experiments.store import Store, read_pack, write_pack
from lcgnn.runs.records import Environment, Record, StageRecord
from lcgnn.runs.spec import SplitSpec

RESULTS = Path(__file__).parents[2] / "results"


def record(run: str, seed: int = 0, method: str = "gcn") -> Record:
    return Record(
        run=run,
        dataset="cora",
        method=method,
        settings={"hidden": 16},
        split=SplitSpec(),
        seed=seed,
        graph="abc",
        seconds=1.5,
        stages=(StageRecord("base", 3, 5, None, None, 0.8),),
        environment=Environment(python="3"),
    )


def test_what_is_added_is_found(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add(record("a"))
    assert store.find("a") == record("a")
    assert store.find("b") is None
    assert store.all() == [record("a")]


@pytest.mark.parametrize("content", ["", "{", "[]", "[" * 100_000, "NaN", '{"run": "other"}', '{"run": "a"}'])
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
    assert sorted(read_pack(tmp_path / "pack.jsonl"), key=lambda item: item.run) == records
    assert len((tmp_path / "pack.jsonl").read_text().splitlines()) == 2


def test_packed_records_are_found_as_well(tmp_path: Path) -> None:
    write_pack(tmp_path / "pack.jsonl", [record("a")])
    store = Store(tmp_path / "records", [tmp_path / "pack.jsonl"])
    store.add(record("b"))
    assert store.find("a") == record("a")
    assert [item.run for item in store.all()] == ["a", "b"]


def test_a_damaged_pack_is_named_with_its_line(tmp_path: Path) -> None:
    write_pack(tmp_path / "pack.jsonl", [record("a"), record("b", 0, "gat")])
    path = tmp_path / "pack.jsonl"
    path.write_text(path.read_text()[:-30])
    with pytest.raises(OutputError, match=r"pack\.jsonl, line 2"):
        read_pack(path)


def test_a_record_of_another_run_is_named_and_counts_as_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Store(tmp_path).add(record("b"))
    (tmp_path / "b.json").rename(tmp_path / "a.json")
    with caplog.at_level(logging.WARNING):
        assert Store(tmp_path).find("a") is None
    assert "a.json is the record of another run" in caplog.text


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "1",
        "{}",
        '{"shared": {}, "runs": 5}',
        '{"shared": [], "runs": [[]]}',
        '{"shared": {}, "runs": [{}]}',
        '{"shared": {"run": NaN}, "runs": [{}]}',
        "[" * 100_000,
    ],
)
def test_a_line_that_is_no_packed_record_is_refused_in_one_line(line: str, tmp_path: Path) -> None:
    path = tmp_path / "pack.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(OutputError, match=r"pack\.jsonl, line 1: ") as caught:
        read_pack(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("pack", sorted(RESULTS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_packs_of_the_repository_are_packed_again_to_the_byte(pack: Path, tmp_path: Path) -> None:
    write_pack(tmp_path / "again.jsonl", read_pack(pack))
    # Asked without a comparison of megabytes line by line where it is not so.
    is_the_same = (tmp_path / "again.jsonl").read_bytes() == pack.read_bytes()
    assert is_the_same, f"{pack.name} is not as it would be written: pack it again."
