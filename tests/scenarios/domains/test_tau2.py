"""What the tau2 domains share: files that are absent or damaged, and the labels that replace a 3 MB file."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenarios import domains
from scenarios.domains.tau2 import db_assertion, init_action
from scenarios.domains.tau2_retail import Tau2Retail


@pytest.fixture
def folder(tmp_path: Path, benchmarks: Path) -> Iterator[Path]:
    """Return a copy of the retail files that a test may damage; it is the data root while the test runs."""
    shutil.copytree(benchmarks / "tau2_retail", tmp_path / "tau2_retail", copy_function=shutil.copyfile)
    domains.set_data_root(tmp_path)
    yield tmp_path / "tau2_retail"
    domains.set_data_root(None)


def test_all_files_there(folder: Path) -> None:
    assert Tau2Retail().missing_data() is None


def test_an_absent_file_is_named_with_the_remedy(folder: Path) -> None:
    (folder / "db.json").unlink()
    missing = Tau2Retail().missing_data()
    assert missing is not None
    assert "tau2_retail/db.json is absent" in missing
    assert "manage.py fetch_benchmarks" in missing
    assert "policy.md" not in missing


def test_a_damaged_file_is_named(folder: Path) -> None:
    tasks = folder / "tasks.json"
    tasks.write_text(tasks.read_text().replace("Yusuf", "Jusuf", 1))
    missing = Tau2Retail().missing_data()
    assert missing is not None
    assert "tau2_retail/tasks.json is damaged: expected sha256" in missing


def test_a_domain_without_its_files_cannot_be_read(folder: Path) -> None:
    shutil.rmtree(folder)
    with pytest.raises(FileNotFoundError, match="tau2_retail cannot be used: .*fetch_benchmarks"):
        Tau2Retail().scenarios()


@pytest.mark.parametrize(("env_type", "side"), [("user", "user"), ("assistant", "agent")])
def test_the_environment_of_a_step_says_whose_it_is(env_type: str, side: str) -> None:
    entry: dict[str, object] = {"env_type": env_type, "func_name": "f", "arguments": {}, "assert_value": True}
    assert (init_action(entry).side, db_assertion(entry).side) == (side, side)


@pytest.mark.parametrize("env_type", ["robot", "", None])
def test_an_environment_that_there_is_not_is_no_side(env_type: str | None) -> None:
    entry: dict[str, object] = {"env_type": env_type, "func_name": "f", "arguments": {}, "assert_value": True}
    for parse in (init_action, db_assertion):
        with pytest.raises(KeyError, match=repr(env_type)):
            parse(entry)


def test_files_that_are_fetched_later_are_found_without_a_restart(folder: Path, benchmarks: Path) -> None:
    (folder / "db.json").unlink()
    domain = Tau2Retail()
    assert domain.missing_data() is not None
    shutil.copyfile(benchmarks / "tau2_retail" / "db.json", folder / "db.json")
    assert domain.missing_data() is None
    assert len(domain.scenarios()) == 114


@pytest.fixture
def voice_tasks(folder: Path) -> Path:
    path = folder / "tasks_voice.json"
    if not path.exists():
        pytest.skip("tasks_voice.json is not here: no package carries it, and the domain does without")
    return path


def test_without_the_voice_tasks_the_labels_are_the_same(voice_tasks: Path) -> None:
    with_file = Tau2Retail().scenarios()
    voice_tasks.unlink()
    without = Tau2Retail().scenarios()
    assert [spec.persona_name for spec in without] == [spec.persona_name for spec in with_file]
    assert without == with_file


def test_the_voice_tasks_are_what_the_labels_come_from_where_they_are(voice_tasks: Path) -> None:
    voices = json.loads(voice_tasks.read_text())
    voices["configs"]["0"]["configs"]["control"]["persona_name"] = "somebody_else"
    voice_tasks.write_text(json.dumps(voices))
    assert Tau2Retail().scenarios()[0].persona_name == "somebody_else"
