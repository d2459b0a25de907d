"""Domains: one folder of one fixed shape each. ``load()`` imports them and returns the instances by name."""

import logging
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

from scenarios.domains.base import Domain, registered
from scenarios.domains.data import data_root, set_data_root

__all__ = ["ENTRY_POINT_GROUP", "broken", "data_root", "load", "set_data_root"]

logger = logging.getLogger(__name__)

# Packages installed beside this one can bring domains: an entry point of this group names a module that registers one.
ENTRY_POINT_GROUP = "callboard.domains"

_instances: dict[type[Domain], Domain] = {}
# Why an entry point or a registered class brings no domain, by its name; and such classes.
_broken: dict[str, str] = {}
_unmade: set[type[Domain]] = set()


def load() -> Mapping[str, Domain]:
    """Return every registered domain by name, those without their data included (``missing_data`` says so)."""
    _import_all()
    for name, cls in registered().items():
        if cls not in _instances and cls not in _unmade:
            try:
                _instances[cls] = _looked_at(cls())
            except Exception as error:
                _unmade.add(cls)
                _note(name, f"{cls.__module__}.{cls.__qualname__}", error)
    return {name: _instances[cls] for name, cls in registered().items() if cls in _instances}


def broken() -> Mapping[str, str]:
    """Return what was to bring a domain and does not, with the reason and the remedy.

    The code of another package may fail in any way, and must not take the other domains with it.
    """
    load()
    return dict(_broken)


def _looked_at(domain: Domain) -> Domain:
    """Return a domain of another package after a look at its scenarios: what fails there would fail on every page."""
    if not type(domain).__module__.startswith(f"{__name__}.") and domain.missing_data() is None:
        domain.scenarios()
    return domain


def _note(name: str, what: str, error: Exception) -> None:
    logger.error("the domain %s cannot be loaded", name, exc_info=error)
    reason = f"{what} fails with {type(error).__name__}: {error}"
    _broken[name] = f"{reason}. Mend or uninstall its package, then start again."


@cache
def _import_all() -> None:
    for module in iter_modules(__path__):
        if module.ispkg:
            import_module(f"{__name__}.{module.name}")
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        try:
            entry.load()
        except Exception as error:
            _note(entry.name, f"the entry point {entry.value}", error)
