"""Every method in one file; importing this package registers all of them."""

from importlib import import_module
from pkgutil import iter_modules

from lcgnn.methods.base import (
    Context,
    Fit,
    Method,
    Stage,
    create,
    entries,
    entry,
    is_registered,
    recorded,
    register,
    setting,
)
from lcgnn.methods.module import ModuleMethod, module_method, register_module

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "Context",
    "Fit",
    "Method",
    "ModuleMethod",
    "Stage",
    "create",
    "entries",
    "entry",
    "is_registered",
    "module_method",
    "recorded",
    "register",
    "register_module",
    "setting",
]
