"""Which nodes to label next: one strategy a file; importing this package registers all of them."""

from importlib import import_module
from pkgutil import iter_modules

from lcgnn.assessment.suggestion.base import Question, Strategy, Suggestion, register, strategies, strategy
from lcgnn.assessment.suggestion.landscape import Landscape
from lcgnn.assessment.suggestion.suggester import DEFAULT_STRATEGY, Suggester

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "DEFAULT_STRATEGY",
    "Landscape",
    "Question",
    "Strategy",
    "Suggester",
    "Suggestion",
    "register",
    "strategies",
    "strategy",
]
