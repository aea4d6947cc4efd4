from pathlib import Path

import pytest

from lcgnn.errors import ConfigError, OutputError
from lcgnn.experiments.graphs import Graphs
from lcgnn.experiments.library import load, packaged_statistics
from lcgnn.experiments.reproduce import Reproduction
from lcgnn.experiments.statistics import Statistics
from lcgnn.report.markdown import write_tables
from lcgnn.report.statistics import read_measured

TABLE = """
kind = "statistics"
[[columns]]
dataset = "cora"
[[rows]]
name = "Nodes"
statistic = "nodes"
paper = [2708]
"""


@pytest.mark.parametrize("name", packaged_statistics())
def test_what_is_counted_agrees_with_the_paper(name: str) -> None:
    table = packaged_statistics()[name]
    measured = table.measure(Graphs())
    for row in table.rows:
        for ours, paper in zip(measured[row.statistic], row.paper, strict=True):
            assert paper is None or ours == pytest.approx(paper, abs=5e-4)


def test_a_table_of_statistics_is_written_without_any_run(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(TABLE)
    reproduction = Reproduction.of([str(tmp_path / "mine.toml")], None, [], tmp_path, tmp_path / "results")
    assert reproduction.missing() == []
    reproduction.measure()
    ((path, markdown),) = write_tables(reproduction)
    assert path.read_text() == markdown + "\n"
    assert "| Nodes | 2,708 | 2,708 |" in markdown


@pytest.mark.parametrize("content", ["[]", '{"nodes": [1, 2]}', '{"nodes": ["<b>"]}', '{"edges": [1]}', "{"])
def test_a_file_with_something_else_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(TABLE)
    table = load(str(tmp_path / "mine.toml"))
    assert isinstance(table, Statistics)
    assert read_measured(table, tmp_path) is None
    (tmp_path / "mine.json").write_text(content)
    with pytest.raises(OutputError, match=r"mine\.json"):
        read_measured(table, tmp_path)


@pytest.mark.parametrize(
    ("replaced", "by", "message"),
    [
        ('"nodes"', '"hats"', "no statistic 'hats'"),
        ("[2708]", "[1, 2]", "2 figures of the paper for 1 graphs"),
        ('"cora"', '"coral"', "no dataset 'coral'"),
    ],
)
def test_a_wrong_table_is_refused(replaced: str, by: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(TABLE.replace(replaced, by))
    with pytest.raises(ConfigError, match=message):
        load(str(tmp_path / "mine.toml"))
