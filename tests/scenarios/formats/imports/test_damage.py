"""Every field of every format dropped and changed in turn: each time a refusal or a remark, never another error."""

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from scenarios.formats.imports.comparison import rescore
from scenarios.formats.imports.detect import open_import
from scenarios.formats.imports.events import events_of
from scenarios.formats.imports.records import ImportedRun, ImportedTrial
from scenarios.formats.imports.source import DamagedFile
from scenarios.formats.imports.tasks import CannotReplay
from tests.scenarios.formats.imports import folders
from tests.scenarios.formats.imports.files import action, answer, call, results, simulation, task, write

pytestmark = pytest.mark.usefixtures("benchmarks")

SCRIPT = "<script>alert(1)</script>"
_DROPPED = object()
_DEEP = json.loads('{"a":' * 150 + "1" + "}" * 150)
WRONG: tuple[Any, ...] = (_DROPPED, None, True, -1e308, 2**63 - 1, SCRIPT, [[]], {"a": {}}, _DEEP)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every field and element."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield (*path, name)
        yield from paths(item, (*path, name))


def changed(value: Any, path: tuple[Any, ...], wrong: Any) -> Any:
    """Return the value with the one field dropped or replaced."""
    value = copy.deepcopy(value)
    inner = value
    for name in path[:-1]:
        inner = inner[name]
    if wrong is _DROPPED:
        del inner[path[-1]]
    else:
        inner[path[-1]] = wrong
    return value


def read(path: Path) -> tuple[ImportedRun, list[ImportedTrial]] | str:
    """Read a file to the end, its calls as events and run again; return the refusal where it is refused."""
    try:
        run = open_import(path)
        trials = list(run.trials())
    except DamagedFile as damage:
        return str(damage)
    for trial in trials:
        try:
            replay = rescore(run, trial).replay
        except CannotReplay:
            replay = None
        # What is stored must be JSON.
        json.dumps([dict(event.data) for event in events_of(trial, replay)], allow_nan=False)
        json.dumps([dict(trial.facts), trial.verdict.written, [one.raw for one in trial.messages]], allow_nan=False)
    return run, trials


def attack(data: Any, store: Callable[[Any], Path]) -> int:
    """Read the file with every field changed in every way; return how many files that were."""
    count = 0
    for path in paths(data):
        for wrong in WRONG:
            try:
                read(store(changed(data, path, wrong)))
            except Exception as error:
                raise AssertionError(f"{path} = {wrong!r:.60}") from error
            count += 1
    return count


def tau2_file() -> Any:
    arguments = {"order_id": "#W2378156"}
    messages = [
        call("get_order_details", arguments),
        answer("{}"),
        {"role": "user", "content": "Bye", "usage": {"a": 1}},
    ]
    reward = {
        "reward": 0.0,
        "db_check": {"db_match": False},
        "reward_basis": ["DB"],
        "action_checks": [{"action": action("get_order_details", arguments), "action_match": True}],
    }
    one = simulation(messages=messages, reward_info=reward)
    return results([one], [task("0", [action("get_order_details", arguments)])])


def tau_bench_file() -> Any:
    traj = [
        folders.asks("get_order_details", {"order_id": "#W1"}, "c"),
        {"role": "tool", "tool_call_id": "c", "content": "x"},
    ]
    given = {
        "user_id": "u",
        "instruction": "i",
        "actions": [{"name": "get_order_details", "kwargs": {}}],
        "outputs": ["5"],
    }
    reward = {"reward": 0.0, "info": {"r_actions": 1.0, "gt_data_hash": "x"}, "actions": []}
    return [{"task_id": 1, "reward": 0.0, "trial": 0, "traj": traj, "info": {"task": given, "reward_info": reward}}]


@pytest.mark.parametrize("build", [tau2_file, tau_bench_file, folders.inspect_json])
def test_no_field_of_a_file_breaks_the_reader(build: Callable[[], Any], tmp_path: Path) -> None:
    assert attack(build(), lambda data: write(tmp_path, data)) > 300


REFERENCE = [name for name in folders.reference_call() if name.endswith(".json")]


@pytest.mark.parametrize("name", REFERENCE)
def test_no_field_of_a_reference_run_breaks_the_reader(name: str, tmp_path: Path) -> None:
    root = folders.reference_run(tmp_path / "eval_1")

    def store(data: Any) -> Path:
        folders.put(root / "tau2_retail__24", {name: data})
        return root

    assert attack(folders.reference_call()[name], store) > 10


def test_no_field_of_a_runs_arguments_breaks_the_reader(tmp_path: Path) -> None:
    root = folders.reference_run(tmp_path)
    data = json.loads((root / "run_args.json").read_text())
    data["invocations"][0]["parsed_args"]["callboard"] = {
        "domain": "d",
        "trials": 1,
        "agent": {"slug": "a", "model": "m"},
    }

    assert attack(data, lambda value: folders.put(root, {"run_args.json": value})) > 50


EVA = [name for name in folders.eva_record() if name.endswith((".json", ".jsonl"))]


@pytest.mark.parametrize("name", EVA)
def test_no_field_of_an_eva_run_breaks_the_reader(name: str, tmp_path: Path) -> None:
    root = folders.eva_run(tmp_path / "run")
    content = folders.eva_record()[name]
    is_lines = name.endswith(".jsonl")
    data = [json.loads(line) for line in content.splitlines()] if is_lines else content

    def store(value: Any) -> Path:
        folders.put(root / "records/1.1.2", {name: folders.lines(*value) if is_lines else value})
        return root

    assert attack(data, store) > 10


def every_text(value: Any) -> Any:
    """Return the value with a script in every text that is no name of a kind."""
    if isinstance(value, Mapping):
        return {name: every_text(item) for name, item in value.items()}
    if isinstance(value, list):
        return [every_text(item) for item in value]
    return f"{value}{SCRIPT}" if isinstance(value, str) else value


@pytest.mark.parametrize("build", [tau2_file, tau_bench_file, folders.inspect_json])
def test_scripts_in_every_text_are_kept_as_texts(build: Callable[[], Any], tmp_path: Path) -> None:
    found = read(write(tmp_path, every_text(build())))

    assert isinstance(found, tuple)
    assert any(SCRIPT in (message.content or "") for trial in found[1] for message in trial.messages)


@pytest.mark.parametrize("kind", ["reference", "eva"])
@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b"\xff\xfe{", b'{"a": ' + b"9" * 5000 + b"}", b"[" * 100_000, b"\x1f\x8b\x08cut",
     b'{"a": 1} x'],
    ids=["empty", "cut", "list", "null", "utf16", "large", "deep", "gzip", "garbage"],
)  # fmt: skip
def test_each_damaged_file_of_a_folder_is_named(kind: str, data: bytes, tmp_path: Path) -> None:
    call_files = folders.reference_call() if kind == "reference" else folders.eva_record()
    for name in call_files:
        root = tmp_path / name.replace("/", "_")
        if kind == "reference":
            folders.reference_run(root, {"tau2_retail__24": {**call_files, name: data}})
        else:
            folders.eva_run(root, {"1.1.2": {**call_files, name: data}})
        found = read(root)
        assert isinstance(found, tuple), found
        run, trials = found
        assert len(trials) + len(run.refused) == 1
        noted = [remark.place for trial in trials for remark in trial.remarks]
        noted += [remark.place for remark in run.refused]
        is_quiet = name.endswith((".txt", "trace_metrics.json")) or data in (b"[]", b"null", b"")
        assert is_quiet or any(name in place for place in noted), (name, noted)
