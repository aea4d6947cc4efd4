from pathlib import Path

from lcgnn.report.plots import save_comparison
from lcgnn.runs.records import StageSummary, Summary, UsedSplit
from lcgnn.runs.reported import Reported
from lcgnn.runs.spec import SplitSpec

STAGES = (
    StageSummary("base", "gcn", (0.8,), (None,), 0.8, 0.01, Reported(81.2, 0.6)),
    StageSummary("label consistency", "lc-gcn", (0.82,), (None,), 0.82, 0.01, None),
)


def test_a_comparison_becomes_a_picture(tmp_path: Path) -> None:
    split = UsedSplit(SplitSpec(), "public", "abc")
    summary = Summary("cora", "lc-gcn", split, {}, (0,), (1.0,), STAGES, "run", "0.1.0")
    save_comparison(tmp_path / "plot.png", [summary, summary])
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
