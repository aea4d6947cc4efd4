"""The demonstration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lcgnn.cli.app import app


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("demo"),
) -> None:
    """Train label consistency on the benchmark graphs, show a table and save a plot (a few minutes).

    Example: lcgnn demo
    """
    from lcgnn.cli.display import comparison_table
    from lcgnn.cli.display import out as console
    from lcgnn.cli.watching import TerminalWatcher
    from lcgnn.experiments.demo import demo_trainings
    from lcgnn.report.plots import PLOT, save_comparison

    plot = out / "accuracy.png"
    PLOT.check(plot)
    summaries = []
    for training in demo_trainings():
        console.print(f"\n{training.title}")
        summaries.append(training.carry_out(out, TerminalWatcher(console)).summary)
    console.print()
    console.print(comparison_table(summaries))
    save_comparison(plot, summaries)
    console.print(f"Plot: {plot}    Predictions, models and curves: {out}/", soft_wrap=True)
    console.print(
        "\nTry next:\n"
        "  lcgnn train citeseer --method lc-gcn --labels-per-class 10 --seeds 10\n"
        "  lcgnn label cora --simulate   (a page that suggests which nodes to label, and learns as you go)\n"
        "  lcgnn methods                 (what else can be trained)\n"
        "  lcgnn train --help            (all options)",
        markup=False,
    )
