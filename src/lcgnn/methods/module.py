"""Any torch module as a base: the paper's two phases, the control and the ablations around it.

A factory ``(num_features, num_classes) -> torch.nn.Module`` is all that is needed; the module is called as
PyTorch Geometric's models are (see ``networks/module.py``). ``module_method`` makes a method of it to fit at once,
``register_module`` gives it names that runs, experiments and saved models can refer to.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import torch

from lcgnn.compute.placement.base import Kind
from lcgnn.errors import ConfigError
from lcgnn.methods.checks import check_settings
from lcgnn.methods.lc import TwoPhase, register_network
from lcgnn.networks.module import ModuleFactory, ModuleNetwork, checked

# Whose versions change what a module computes, and which nobody edits in place.
_LIBRARIES = ("builtins", "torch", "torch_geometric")


@dataclass(frozen=True)
class ModuleMethod(TwoPhase):
    """A module of yours, trained alone and then with label consistency.

    Width, dropout and all else inside the module are the factory's to decide.
    """

    factory: ClassVar[ModuleFactory]
    base_name: ClassVar[str]

    def network(self, num_features: int, num_classes: int, generator: torch.Generator) -> ModuleNetwork:
        return ModuleNetwork(num_features, num_classes, type(self).factory, generator=generator)

    def own_parts(self, num_features: int, num_classes: int) -> dict[str, str]:
        """The module: its layers, the shapes of its parameters, and its code where there are files with it."""
        with torch.random.fork_rng(devices=[]):
            module = checked(type(self).factory(num_features, num_classes))
        shapes = [f"{name} {tuple(value.shape)}" for name, value in module.state_dict().items()]
        return {"module": "\n".join([repr(module), *shapes, *_code_of(module)])}

    @property
    def own_name(self) -> str:
        names = {"consistency": f"lc-{self.base_name}", "adjacency": f"{self.base_name}-adjacency"}
        return names.get(
            self.aggregation or "", f"{self.base_name}-control" if self.aggregation else self.base_name
        )

    @property
    def placements(self) -> frozenset[Kind]:
        # Asked of the class: a factory need not stand being called with sizes that are no graph's.
        return ModuleNetwork.runs_on

    def __deepcopy__(self, memo: dict[int, Any]) -> ModuleMethod:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # The class was made for the factory; whoever gets a copy makes it again.
        settings = {item.name: getattr(self, item.name) for item in fields(self)}
        return _again, (type(self).factory, self.base_name, settings)


def module_method(factory: ModuleFactory, *, name: str = "module", **settings: Any) -> ModuleMethod:
    """A method around a module: ``module_method(lambda f, c: GCN(f, 16, 2, c, dropout=0.5), epochs=500)``.

    Args:
        factory: Makes the untrained module, given the number of features and of classes.
        name: What to call it.
        settings: Of the two phases, as for every ``TwoPhase`` method; label consistency is on by default.
    """
    kind = _class_of(factory, name)
    check_settings(name, kind, settings)
    return kind(**settings)


def register_module(name: str, factory: ModuleFactory, *, title: str | None = None) -> type[ModuleMethod]:
    """Register a module under five names: the base, its control, two ablations and LC (see `register_network`).

    A model that was saved under such a name can be loaded wherever the name is registered. Worker processes know
    it if the registration is in a module that they import.

    Args:
        name: Of the base; label consistency around it is ``lc-NAME``.
        factory: Makes the untrained module, given the number of features and of classes.
        title: What to call it in texts; the name by default.
    """
    return register_network(name, title or name)(_class_of(factory, name))


def _class_of(factory: ModuleFactory, name: str) -> type[ModuleMethod]:
    if not callable(factory) or isinstance(factory, torch.nn.Module):
        raise ConfigError(
            f"{name}: a module's factory is a function of the number of features and of classes that returns the "
            f"module, not a {type(factory).__name__}. Give lambda features, classes: ..."
        )
    members = {"factory": staticmethod(factory), "base_name": name, "__doc__": ModuleMethod.__doc__}
    # The name is part of what identifies a run's first phase, and of what may be registered twice.
    made = type(ModuleMethod.__name__, (ModuleMethod,), {**members, "__qualname__": f"ModuleMethod[{name}]"})
    return dataclass(frozen=True)(made)


def _code_of(module: torch.nn.Module) -> list[str]:
    """The code of a module, of its parts and of what they inherit from, but for that of libraries."""
    kinds = {kind for part in module.modules() for kind in type(part).__mro__}
    own = [kind for kind in kinds if kind.__module__.partition(".")[0] not in _LIBRARIES]
    return [
        code for kind in sorted(own, key=lambda kind: (kind.__module__, kind.__qualname__)) for code in _of(kind)
    ]


def _of(kind: type) -> list[str]:
    try:
        return [inspect.getsource(kind)]
    except (OSError, TypeError):
        return []


def _again(factory: ModuleFactory, name: str, settings: dict[str, Any]) -> ModuleMethod:
    return _class_of(factory, name)(**settings)
