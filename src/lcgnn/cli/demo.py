"""The demonstration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lcgnn.cli import options
from lcgnn.cli.answers import print_answer
from lcgnn.cli.app import app


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("demo"),
    as_json: options.AsJson = False,
) -> None:
    """Train label consistency on the benchmark graphs, show a table and save a plot (a few minutes).

    Example: lcgnn demo
    """
    from lcgnn.cli.display import comparison_table, err
    from lcgnn.cli.display import out as console
    from lcgnn.cli.watching import TerminalWatcher
    from lcgnn.experiments.demo import demo_trainings
    from lcgnn.report.plots import PLOT, save_comparison

    plot = out / "accuracy.png"
    PLOT.check(plot)
    summaries = []
    for training in demo_trainings():
        shown = err if as_json else console
        shown.print(f"\n{training.title}")
        summaries.append(training.carry_out(out, TerminalWatcher(shown)).summary)
    save_comparison(plot, summaries)
    if as_json:
        print_answer("demo", {"trainings": [item.to_json() for item in summaries], "plot": str(plot)})
        return
    console.print()
    console.print(comparison_table(summaries))
    console.print(f"Plot: {plot}    Predictions, models and curves: {out}/", soft_wrap=True)
    console.print(
        "\nTry next:\n"
        "  lcgnn train citeseer --method lc-gcn --labels-per-class 10 --seeds 10\n"
        "  lcgnn label cora --simulate   (a page that suggests which nodes to label, and learns as you go)\n"
        "  lcgnn methods                 (what else can be trained)\n"
        "  lcgnn train --help            (all options)",
        markup=False,
    )
