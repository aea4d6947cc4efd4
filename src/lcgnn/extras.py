"""Libraries that plain ``pip install lcgnn`` does not bring: imported here, on first use, and nowhere else."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lcgnn.errors import ExtraError

# The extra of pyproject.toml that brings a library, by the name of the module that is imported.
EXTRAS = {
    "distributed": "cluster",
    "gensim": "deepwalk",
    "jinja2": "report",
    "plotly": "report",
    "pymetis": "partition",
    "starlette": "label",
    "torch_geometric": "pyg",
    "uvicorn": "label",
}


def need(module: str, purpose: str) -> Any:
    """The module, or an ExtraError in one line that says what needs it and how to install it.

    Args:
        module: Its full name, such as "gensim.models".
        purpose: Who needs it, as a sentence begins: "The method deepwalk".
    """
    library = module.partition(".")[0]
    install = f"pip install 'lcgnn[{EXTRAS[library]}]'"
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or library).partition(".")[0]
        raise ExtraError(f"{purpose} needs {missing}, which is not installed: {install}") from error
    except ImportError as error:
        reason = (str(error) or "no reason given").splitlines()[0]
        raise ExtraError(
            f"{purpose} needs {library}, which cannot be imported ({reason}). Install it again: {install}"
        ) from error
