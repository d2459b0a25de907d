"""docs/authoring-a-domain.md against the code: its example runs from another package, its tables are complete."""

import inspect
import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from scenarios.domains import ENTRY_POINT_GROUP, load
from scenarios.domains.base import SIGNALS, Domain
from scenarios.replay import Health

ROOT = Path(__file__).resolve().parents[3]
GUIDE = (ROOT / "docs" / "authoring-a-domain.md").read_text()
HOLD_A_CALL = """
import json
from scenarios.domains import load
from scenarios.domains.environment import Environment
from scenarios.replay import gold_replay

domain = load()["library"]
(spec,) = domain.scenarios()
environment = Environment(domain, spec)
refused = environment.call_tool("agent", "renew_loan", {"book_id": "B2"})
renewed = environment.call_tool("agent", "renew_loan", {"book_id": "B1"})
ended = environment.call_tool("agent", "end_conversation", {})
gold = gold_replay(spec)
print(json.dumps({
    "module": type(domain).__module__,
    "refused": refused.error,
    "is_expected": environment.databases["agent"].hash == gold.expected_hashes["agent"],
    "ends": ended.ends_call,
    "equals_seed": gold.health.gold_equals_seed,
}))
"""


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", GUIDE, re.S)
    assert found
    return found[1]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Return a folder with the guide's domain as an installed package, its entry point as the guide writes it."""
    entry = re.search(r'^(\w+) = "([\w.]+)"$', block("toml"), re.M)
    assert entry
    package, module = entry[2].split(".")
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").touch()
    (tmp_path / package / f"{module}.py").write_text(block("python"))
    metadata = tmp_path / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\n{entry[0]}\n".replace('"', ""))
    return tmp_path


def test_the_example_is_found_by_its_entry_point_and_works(installed: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{installed}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", HOLD_A_CALL], env=environment, capture_output=True, text=True, cwd=installed, check=False
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "module": "our_library.domain",
        "refused": "reserved",
        "is_expected": True,
        "ends": "end_tool",
        "equals_seed": False,
    }


def test_the_health_snippet_runs() -> None:
    snippet = re.search(r"<<'PYTHON'\n(.*?)\nPYTHON", block("sh"), re.S)
    assert snippet
    done = subprocess.run([sys.executable, "-c", snippet[1]], capture_output=True, text=True, cwd=ROOT, check=False)

    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(load()["frontdesk"].scenarios())


def members() -> list[str]:
    methods = [name for name, _ in inspect.getmembers(Domain, inspect.isfunction) if not name.startswith("_")]
    return [*methods, "name", "title", "description", "now"]


@pytest.mark.parametrize("member", members())
def test_every_member_of_the_contract_is_explained(member: str) -> None:
    assert re.search(rf"`{member}[`(]", GUIDE)


@pytest.mark.parametrize("name", [*SIGNALS, *(field.name for field in fields(Health))])
def test_every_signal_and_every_finding_is_explained(name: str) -> None:
    assert f"| `{name}` |" in GUIDE


@pytest.mark.parametrize("signal", SIGNALS)
def test_the_examples_of_a_signal_use_it(signal: str) -> None:
    row = re.search(rf"^\| `{signal}` \| .* \| (.*) \|$", GUIDE, re.M)
    assert row
    specs = {spec.task_id: spec for spec in load()["frontdesk"].scenarios()}
    named = list(specs) if row[1] == "all" else re.findall(r"`(\w+)`", row[1])

    assert named
    assert all(signal in specs[task_id].success_signals for task_id in named)


def test_the_files_it_names_are_there() -> None:
    folder = ROOT / "scenarios" / "domains" / "frontdesk"
    table = GUIDE.partition("## The shape")[2].partition("\n\nA domain knows")[0]
    named = set(re.findall(r"`(\w+\.(?:py|md|json))`", table))

    assert named == {path.name for path in folder.iterdir() if path.is_file()}
