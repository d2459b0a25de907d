"""Finding domains: the built-in ones, those of other packages, and where their files are."""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from scenarios import domains
from scenarios.domains import base, data
from scenarios.domains.base import ScenarioSpec
from tests.scenarios.domains.toy import Toy


def test_every_folder_of_a_domain_is_loaded_once() -> None:
    loaded = domains.load()
    assert {"frontdesk", "tau2_retail"} <= set(loaded)
    assert all(domains.load()[name] is domain for name, domain in loaded.items())
    assert all(name == domain.name for name, domain in loaded.items())


def test_two_domains_cannot_have_one_name() -> None:
    first = base.registered()["frontdesk"]
    with pytest.raises(ValueError, match="two domains are called 'frontdesk'"):
        base.register(type("Other", (first,), {"name": "frontdesk"}))


def test_a_domain_of_another_package_comes_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    point = EntryPoint("clinic", "tests.scenarios.domains.test_load:announce", domains.ENTRY_POINT_GROUP)

    def entry_points(group: str) -> list[EntryPoint]:
        seen.append(group)
        return [point]

    monkeypatch.setattr(domains, "entry_points", entry_points)
    monkeypatch.setattr(EntryPoint, "load", lambda self: seen.append(self.name))
    domains._import_all.__wrapped__()
    assert seen == ["callboard.domains", "clinic"]


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Mapping[str, str]]:
    """Return a function that loads an entry point "clinic" and returns what is broken."""
    monkeypatch.setattr(base, "_REGISTRY", dict(base.registered()))
    monkeypatch.setattr(domains, "_broken", {})

    def loaded(module: str) -> Mapping[str, str]:
        point = EntryPoint("clinic", module, domains.ENTRY_POINT_GROUP)
        monkeypatch.setattr(domains, "entry_points", lambda group: [point])
        domains._import_all.__wrapped__()
        return domains.broken()

    return loaded


def test_another_package_that_cannot_be_imported_takes_no_domain_with_it(
    others: Callable[[str], Mapping[str, str]], caplog: pytest.LogCaptureFixture
) -> None:
    found = others("no_such_clinic.domain")
    assert found == {
        "clinic": "the entry point no_such_clinic.domain fails with ModuleNotFoundError: No module named "
        "'no_such_clinic'. Mend or uninstall its package, then start again."
    }
    assert "frontdesk" in domains.load()
    assert "ModuleNotFoundError" in caplog.text


def test_a_domain_that_is_not_whole_is_named_with_what_it_lacks(others: Callable[[str], Mapping[str, str]]) -> None:
    base.register(type("Clinic", (base.Domain,), {"name": "clinic"}))
    found = others("tests.scenarios.domains.test_load")
    assert "abstract" in found["clinic"]
    assert "seeds" in found["clinic"]
    assert "clinic" not in domains.load()
    assert "frontdesk" in domains.load()


def test_a_domain_whose_scenarios_cannot_be_made_is_named(others: Callable[[str], Mapping[str, str]]) -> None:
    class Clinic(Toy):
        name = "clinic"

        def scenarios(self) -> Sequence[ScenarioSpec]:
            raise ArithmeticError("no beds")

    base.register(Clinic)
    assert "Clinic fails with ArithmeticError: no beds." in others("tests.scenarios.domains.test_load")["clinic"]
    assert "clinic" not in domains.load()


def test_the_data_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path / "a"))
    assert domains.data_root() == tmp_path / "a"
    monkeypatch.delenv("EVAL_DATA_ROOT")
    assert domains.data_root().parts[-2:] == ("data", "benchmarks")
    monkeypatch.setattr(data, "_root", None)
    domains.set_data_root(tmp_path / "b")
    assert domains.data_root() == tmp_path / "b"
    domains.set_data_root(None)


@pytest.mark.parametrize("name", ["frontdesk", "tau2_retail", "tau2_airline", "eva_airline"])
def test_every_domain_keeps_the_contract(name: str, benchmarks: Path) -> None:
    domain = domains.load()[name]
    tools = {tool.model_name(): tool for tool in domain.tools("agent")}
    assert [tool.ends_call for tool in tools.values()].count("end_tool") == 1
    assert all(tool.description for tool in tools.values())
    for spec in domain.scenarios():
        assert spec.name.startswith(f"{name}__")
        assert spec.domain == name
        assert spec.success_signals
        assert set(spec.success_signals) <= set(base.SIGNALS)
        assert {action.tool for action in spec.gold_actions if action.side == "agent"} <= set(tools)
        assert {assertion.func_name for assertion in spec.db_assertions} <= set(domain.predicates())
        assert domain.agent_prompt(spec)
        assert spec.caller.goal in domain.caller_prompt(spec)
