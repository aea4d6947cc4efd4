"""What a session came to: the results of all seeds as one plain object."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lcgnn.assessment.evaluation import PairedDifference, Summary
from lcgnn.assessment.trust import Assessment
from lcgnn.files import write_json
from lcgnn.methods import entry
from lcgnn.runs.reported import Reported, paper_results
from lcgnn.runs.session import Session


def summarize(
    session: Session, results: list[dict[str, Any]], assessment: Assessment | None = None
) -> dict[str, Any]:
    """All results of a session as one plain object, every stage beside what the paper reports for it."""
    results = sorted(results, key=lambda result: result["seed"])
    names = [stage["name"] for stage in results[0]["stages"]]
    stages = [_stage_summary(session, position, results) for position in range(len(names))]
    summary: dict[str, Any] = {
        "dataset": session.configuration["dataset"],
        "method": session.configuration["method"],
        "split": session.configuration["split"],
        "settings": session.configuration["settings"],
        "seeds": [result["seed"] for result in results],
        "test_accuracy": stages[-1]["test_accuracy"],
        "validation_accuracy": stages[-1]["validation_accuracy"],
        "mean": stages[-1]["mean"],
        "std": stages[-1]["std"],
        "seconds": [result["seconds"] for result in results],
        "stages": stages,
        "folder": str(session.folder),
        "lcgnn": session.configuration["lcgnn"],
    }
    if session.tables is not None:
        summary |= _answers(session, results)
    if assessment is not None:
        summary["expected"] = assessment.to_json()
    if len(stages) > 1 and stages[0]["mean"] is not None:
        difference = PairedDifference.between(stages[-1]["test_accuracy"], stages[0]["test_accuracy"])
        summary["difference"] = _without_nan(dataclasses.asdict(difference))
    return summary


def _answers(session: Session, results: list[dict[str, Any]]) -> dict[str, Any]:
    """What a summary says of a graph of the user's own: where the predictions are, and how many of each class."""
    paths = [
        session.folder / f"seed-{spec.seed}" / f"predictions.{session.prediction_format}" for spec in session.specs
    ]
    return {
        "predictions": [str(path) for path in paths],
        "classes": results[0]["class_counts"],
        "notes": list(session.notes),
    }


def save_summary(session: Session, summary: Mapping[str, Any]) -> Path:
    """Write the summary into the session's folder."""
    path = session.folder / "summary.json"
    write_json(path, summary)
    return path


def _stage_summary(session: Session, position: int, results: list[dict[str, Any]]) -> dict[str, Any]:
    stages = [result["stages"][position] for result in results]
    test = [stage["test_accuracy"] for stage in stages]
    # Without test labels there is nothing to be measured.
    over_seeds = None if None in test else Summary.of(test)
    method = session.configuration["method"]
    is_last = position == len(results[0]["stages"]) - 1
    reported = _reported(session, method if is_last else entry(method).family)
    return {
        "name": stages[0]["name"],
        "method": method if is_last else entry(method).family,
        "test_accuracy": test,
        "validation_accuracy": [stage["validation_accuracy"] for stage in stages],
        "mean": over_seeds and over_seeds.mean,
        "std": over_seeds and over_seeds.std,
        "paper": None if reported is None else dataclasses.asdict(reported),
    }


def _reported(session: Session, method: str) -> Reported | None:
    """What the paper reports for this, if the session does what the paper did."""
    split = session.configuration["split"]
    if split["kind"] != "public" or session.tables is not None:
        return None
    return paper_results().get((method, session.configuration["dataset"], split["labels_per_class"]))


def _without_nan(content: dict[str, Any]) -> dict[str, Any]:
    return {key: None if value != value else value for key, value in content.items()}
