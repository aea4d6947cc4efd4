"""Training: one method on one graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from lcgnn.cli import options
from lcgnn.cli.ahead import start_workers
from lcgnn.cli.answers import print_answer
from lcgnn.cli.app import app
from lcgnn.cli.config import Config
from lcgnn.cli.gathering import takes_columns, takes_labels

if TYPE_CHECKING:
    from lcgnn.runs.train import Training


@app.command()
@takes_columns("guessed")
@takes_labels
def train(
    dataset: options.Graph,
    columns: Any,
    labels: Any,
    method: options.Method = None,
    seeds: options.Seeds = 1,
    estimate: options.Estimate = True,
    folds: options.Folds = None,
    budget: options.Budget = "5m",
    consistency_weight: options.ConsistencyWeight = None,
    base_epochs: options.BaseEpochs = None,
    epochs: options.Epochs = None,
    selection: options.Selection = None,
    set_: options.Set = None,
    device: options.Device = "auto",
    workers: options.Workers = None,
    threads: options.Threads = None,
    parts: options.Parts = 1,
    out: options.Out = None,
    predictions: options.Predictions = "csv",
    as_json: options.AsJson = False,
    _config: Config = None,
) -> None:
    """Train a method: on a benchmark beside the paper's results, on your own tables to label every node.

    On your own tables several methods are tried on labels that are held out in turn, and one is taken, unless you
    name it.

    A run that was stopped continues when the same command is given again; seeds that are done are not repeated.

    Example: lcgnn train my_graph/ --label-column topic --budget 2m

    Example: lcgnn train citeseer --method lc-gcn --labels-per-class 5 --seeds 10
    """
    if parts == 1:
        start_workers(dataset, workers, seeds=seeds, folds=estimate and folds != 0)
    from lcgnn.cli.display import err
    from lcgnn.cli.watching import TerminalWatcher
    from lcgnn.runs.train import train as carry_out

    named = {"consistency_weight": consistency_weight, "base_epochs": base_epochs, "epochs": epochs}
    training = carry_out(
        dataset,
        method,
        seeds=seeds,
        settings=options.settings_of({**named, "selection": selection}, set_),
        columns=columns,
        **labels,
        estimate=estimate,
        folds=folds,
        budget=budget,
        device=device,
        workers=workers,
        threads=threads,
        parts=parts,
        out=out,
        predictions=cast(Any, predictions),
        watcher=TerminalWatcher(err),
    )
    if as_json:
        print_answer("train", training.summary.to_json())
    else:
        _show(training)


def _show(training: Training) -> None:
    from lcgnn.cli.display import communication_table, out, say, summary_table
    from lcgnn.cli.display_graph import answers_table, tried_table

    summary, communication = training.summary, training.summary.communication
    if summary.choice is not None and not summary.choice.guard:
        out.print(tried_table(summary.dataset, summary.choice))
    if training.session.source.benchmark is None and summary.answers is not None:
        expected = None if summary.expected is None else summary.expected.by_class
        out.print(answers_table(summary.dataset, summary.method, summary.answers.classes, expected))
    if summary.last.mean is not None:
        out.print(summary_table(summary))
    if communication is not None and communication.ranks > 1:
        out.print(communication_table(communication))
    for sentence in training.words:
        say(sentence, out)
