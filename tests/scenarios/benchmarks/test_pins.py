import json
from pathlib import Path

import pytest
from django.conf import settings

from scenarios.benchmarks.pins import read_pins
from scenarios.benchmarks.store import fault

PINS = settings.DATA_DIR / "benchmarks.toml"


def test_every_pin_describes_the_file_that_the_vectors_were_made_with(benchmarks: Path) -> None:
    pins = read_pins(PINS)

    assert len(pins.files) == 72
    there = [pin for pin in pins.files if (benchmarks / pin.path).exists()]
    assert "tau2_retail/db.json" in {pin.path for pin in there}
    assert {pin.path: fault(benchmarks, pin) for pin in there} == {pin.path: None for pin in there}


def test_only_the_voice_settings_can_be_done_without() -> None:
    optional = [pin.path for pin in read_pins(PINS).files if not pin.is_needed]

    assert optional == [f"tau2_{domain}/tasks_voice.json" for domain in ("retail", "airline", "telecom")]


def test_every_wheel_that_a_file_names_is_pinned_and_every_licence_is_there() -> None:
    pins = read_pins(PINS)

    assert {pin.wheel for pin in pins.files if pin.wheel} == set(pins.wheels)
    for names in pins.licences.values():
        assert all((settings.DATA_DIR / "licences" / name).read_text() for name in names)


def test_the_persona_table_says_what_the_voice_settings_say(benchmarks: Path) -> None:
    table = json.loads((settings.DATA_DIR / "personas.json").read_text())

    for domain, labels in table.items():
        path = benchmarks / domain / "tasks_voice.json"
        if not path.exists():
            pytest.skip(f"{path} is in no package; the table is what is used without it")
        configs = json.loads(path.read_text())["configs"]
        assert labels == {task: entry["configs"]["control"]["persona_name"] for task, entry in configs.items()}


def test_an_unknown_domain_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="pinned for tau9; there are tau2_retail, tau2_airline"):
        read_pins(PINS).of(["tau2_retail", "tau9"])


@pytest.mark.parametrize(
    "text", ["files = [", "[upstream]\n", '[upstream]\nraw = 3\n[domains.a.files]\n"b" = { x = 1 }']
)
def test_a_broken_file_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "pins.toml"
    path.write_text(text)

    with pytest.raises(ValueError, match="pins.toml cannot be read as pins"):
        read_pins(path)
