"""Tables are read once, however many workers there are."""

import shutil
from pathlib import Path

import pytest

from lcgnn.runs.board import temporary_board
from lcgnn.runs.run import execute
from lcgnn.runs.session import plan
from lcgnn.runs.shared_tables import read_tables
from lcgnn.sources.examples import write_example
from lcgnn.sources.tables.reading import Tables


def test_workers_need_no_tables_of_their_own(tmp_path: Path) -> None:
    write_example(tmp_path / "graph")
    tables, run = Tables(str(tmp_path / "graph")), tmp_path / "run"
    session = plan("graph", "gcn", seeds=2, settings={"base_epochs": 3}, tables=tables, folder=run, workers=2)
    for spec in session.specs:
        execute(spec, tmp_path / "here" / f"seed-{spec.seed}")
    shutil.rmtree(tmp_path / "graph")
    with temporary_board(2) as board:
        assert {position for position, _ in session.run(board)} == {0, 1}
    for name in ("seed-0/predictions.csv", "seed-1/predictions.csv"):
        assert (run / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_tables_are_read_once_until_others_are(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_example(tmp_path / name)
    one, two = (Tables(str(tmp_path / name)) for name in ("one", "two"))
    first = read_tables(one)
    assert read_tables(one) is first
    read_tables(two)
    assert read_tables(one) is not first


def test_a_plan_sees_the_tables_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        write_example(tmp_path / name / "graph")
    with (tmp_path / "two" / "graph" / "nodes.csv").open("a") as file:
        file.write("article-300,,2020,900,en,yes,telescope notes\n")
    nodes = []
    for name in ("one", "two"):
        monkeypatch.chdir(tmp_path / name)
        session = plan("graph", "lp", tables=Tables("graph"))
        nodes.append(read_tables(session.tables).graph.num_nodes)
    assert nodes == [300, 301]
