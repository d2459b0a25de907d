"""Domains: one folder of one fixed shape each. ``load()`` imports them and returns the instances by name."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

from scenarios.domains.base import Domain, registered
from scenarios.domains.data import data_root, set_data_root

__all__ = ["ENTRY_POINT_GROUP", "data_root", "load", "set_data_root"]

# Packages installed beside this one can bring domains: an entry point of this group names a module that registers one.
ENTRY_POINT_GROUP = "callboard.domains"

_instances: dict[type[Domain], Domain] = {}


def load() -> Mapping[str, Domain]:
    """Return every registered domain by name, those without their data included (``missing_data`` says so)."""
    _import_all()
    for cls in registered().values():
        if cls not in _instances:
            _instances[cls] = cls()
    return {name: _instances[cls] for name, cls in registered().items()}


@cache
def _import_all() -> None:
    for module in iter_modules(__path__):
        if module.ispkg:
            import_module(f"{__name__}.{module.name}")
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        entry.load()
