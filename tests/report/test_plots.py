from pathlib import Path

from lcgnn.report.plots import save_comparison

STAGE = {"mean": 0.8, "std": 0.01, "method": "gcn", "paper": {"mean": 81.2, "std": 0.6}}


def test_a_comparison_becomes_a_picture(tmp_path: Path) -> None:
    summary = {
        "dataset": "cora",
        "split": {"labels_per_class": None},
        "stages": [STAGE, {**STAGE, "method": "lc-gcn", "mean": 0.82, "paper": None}],
    }
    save_comparison(tmp_path / "plot.png", [summary, summary])
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
