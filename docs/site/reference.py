"""The reference: every public name on a page, from its docstring. What stands here is promised to be kept."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """A page of the reference.

    Args:
        title: Of the page.
        said: What its names have in common.
        names: Where they are to be imported from, in order.
    """

    title: str
    said: str
    names: tuple[str, ...]


def _of(module: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{module}.{name}" for name in names)


PAGES: dict[str, Page] = {
    "running": Page(
        "Train, compare, predict",
        "What the commands do, from Python: `lcgnn.train` is `lcgnn train`, and gives its words back as text.",
        (
            *_of("lcgnn", "train", "Training", "compare", "Comparison", "predict", "Prediction", "TrainedModel"),
            *_of("lcgnn", "Columns", "Watcher"),
            *_of("lcgnn.runs.records", "Record", "StageRecord"),
            *_of("lcgnn.assessment.trust", "Assessment", "Expected"),
        ),
    ),
    "labels": Page(
        "Which nodes to label, which labels to doubt, and why an answer",
        "What is worth labelling next, given labels and edges that look wrong, and the reasons for an answer.",
        (
            *_of("lcgnn", "suggest", "doubt", "explain"),
            *_of("lcgnn.runs.suggest", "Suggestions"),
            *_of("lcgnn.runs.doubt", "Doubts"),
            *_of("lcgnn.assessment.explanation", "Explanation"),
        ),
    ),
    "graphs": Page(
        "Graphs",
        "A graph, which of its labels are for what, and the ways in and out.",
        (
            *_of("lcgnn", "Graph", "Split", "Loaded", "load", "source_of", "from_frames", "from_arrays"),
            *_of("lcgnn", "from_networkx", "from_pyg", "to_pyg"),
            *_of("lcgnn.sources.npz", "save_npz"),
            *_of("lcgnn.sources.arrays", "save_arrays", "load_arrays"),
            *_of("lcgnn.sources.source", "Source"),
        ),
    ),
    "classifier": Page(
        "scikit-learn classifier",
        "Estimators like those of scikit-learn, with the edges beside the rows.",
        _of("lcgnn", "LCGNNClassifier", "LCGNNSearchCV"),
    ),
    "layer": Page(
        "Label consistency as a layer",
        "Around any torch module that returns logits, and the paper's equations as functions of tensors.",
        (
            "lcgnn.LabelConsistency",
            *_of("lcgnn.consistency", "aggregate", "agreement", "balanced", "label_consistency_loss"),
            *_of("lcgnn.consistency", "classification_loss", "regularization_loss", "same_label"),
            *_of("lcgnn.consistency", "row_normalize", "safe_log"),
        ),
    ),
    "methods": Page(
        "Methods",
        "A method by its name, and what it takes to add one.",
        (
            "lcgnn.create",
            *_of("lcgnn.methods", "Method", "Fit", "Stage", "Context", "setting", "register", "register_module"),
            *_of(
                "lcgnn.methods", "module_method", "ModuleMethod", "entries", "entry", "is_registered", "recorded"
            ),
            *_of("lcgnn.assessment.evaluation", "accuracy", "balanced_accuracy", "calibration_error"),
        ),
    ),
    "errors": Page(
        "Errors",
        "All that is raised on purpose; each is one line that says where, what and what to do.",
        _of(
            "lcgnn.errors",
            *(
                "LCGNNError",
                "DataError",
                "InputError",
                "DownloadError",
                "ConfigError",
                "ExtraError",
                "OutputError",
            ),
            *("TrainingError", "RankError", "InputWarning"),
        ),
    ),
}

# scikit-learn adds methods of its own, whose words lead to its own pages.
_REQUESTS = ", ".join(f"set_{name}_request" for name in ("fit", "predict", "predict_proba", "score"))
_MEMBERS = f"\n   :members:\n   :exclude-members: {_REQUESTS}"

_FIRST = """# Reference

What stands here is public: it changes only with a line in the changelog, and what is to go warns for one minor
version before it does. Everything else may change at any time. `tests/public_names.txt` has all of it with
signatures, and a test compares it with the code."""


def public_names() -> list[str]:
    """Every public name, by where it is to be imported from."""
    return [name for page in PAGES.values() for name in page.names]


def pages() -> Iterator[tuple[str, str]]:
    """Where a page goes and what it says."""
    tree = "\n".join(["```{toctree}", ":maxdepth: 2", "", *PAGES, "```"])
    yield "reference/index.md", f"{_FIRST}\n\n{tree}\n"
    for name, page in PAGES.items():
        parts = [f"# {page.title}", page.said, *(_documented(full) for full in page.names)]
        yield f"reference/{name}.md", "\n\n".join(parts) + "\n"


def _documented(full: str) -> str:
    name = full.rpartition(".")[2]
    kind = "class" if name[0].isupper() else "function"
    members = _MEMBERS if kind == "class" and not name.endswith(("Error", "Warning")) else ""
    return f"## {name}\n\n```{{eval-rst}}\n.. auto{kind}:: {full}{members}\n```"
