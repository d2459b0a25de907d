"""The stored trajectories of other people: every file is read, and every verdict comes out again or is explained."""

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scenarios.domains.predicates import PredicateVerdict
from scenarios.formats.imports.comparison import Rescored, rescore
from scenarios.formats.imports.detect import open_import
from scenarios.formats.imports.records import ImportedTrial
from scenarios.formats.imports.tasks import CannotReplay
from tests.scenarios.formats.imports.files import real

pytestmark = pytest.mark.usefixtures("benchmarks")

_FORMATS = ("tau2-mono", "tau2-dir:results", "tau2-single", "tau1", "tau1-modified")


def _manifest() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(real("manifest.json").read_text(encoding="utf-8"))
    return entries


def _paths() -> list[str]:
    chosen = [entry["path"] for entry in _manifest() if entry.get("format") in _FORMATS]
    return [*chosen, "sierra-tau2-bench/voice/experiment"]


@cache
def _rescored(path: str, upstream: bool) -> tuple[tuple[ImportedTrial, Rescored | str], ...]:
    def each() -> Iterator[tuple[ImportedTrial, Rescored | str]]:
        run = open_import(real(path))
        for trial in run.trials():
            try:
                yield trial, rescore(run, trial, upstream=upstream)
            except CannotReplay as problem:
                yield trial, str(problem)

    return tuple(each())


def _all(upstream: bool = False) -> list[tuple[str, ImportedTrial, Rescored | str]]:
    return [(path, trial, result) for path in _paths() for trial, result in _rescored(path, upstream)]


def test_the_manifest_agrees_with_what_is_read() -> None:
    wrong = []
    for entry in _manifest():
        if entry.get("format") not in _FORMATS or "n_sims" not in entry:
            continue
        run = open_import(real(entry["path"]))
        trials = list(run.trials())
        found = {"sha256": run.source.content_sha256, "n_sims": len(trials)}
        if trials and isinstance(entry.get("mean_reward"), float):
            rewards = [trial.verdict.reward or 0.0 for trial in trials]
            found["mean_reward"] = round(sum(rewards) / len(rewards), 4)
        wrong += [(entry["path"], name, entry[name], value) for name, value in found.items() if entry[name] != value]
        assert run.refused == []
    assert wrong == []


def test_every_difference_is_explained_by_its_cause() -> None:
    rescored = [(path, result) for path, _, result in _all() if isinstance(result, Rescored)]
    differing = [(path, result) for path, result in rescored if result.agrees is False]

    assert Counter(result.agrees for _, result in rescored) == {True: 791, False: 1, None: 41}
    kinds = Counter((path.rsplit("/", 1)[-1], reason.kind) for path, result in differing for reason in result.reasons)
    assert kinds == {("grok-3-retail.json.gz", "harness"): 1}


def test_with_upstreams_ways_every_tau2_verdict_comes_out_again() -> None:
    compared = [result for path, _, result in _all(upstream=True) if isinstance(result, Rescored) and "v1" not in path]

    assert Counter(result.agrees for result in compared) == {True: 500, None: 18}


def test_what_cannot_be_replayed_says_why() -> None:
    reasons = [(path.rsplit("/", 1)[-1], result) for path, _, result in _all() if isinstance(result, str)]

    assert Counter(path for path, _ in reasons) == {
        "mock_10tasks.json.gz": 10,
        "toolorchestra_airline_1trial_broken-ids.json.gz": 7,
        "toolorchestra_retail_1trial.json.gz": 2,
    }
    assert all("mock" in why or "several tasks of the file would fit" in why for _, why in reasons)


def test_upstreams_checks_of_actions_facts_and_predicates_come_out_again() -> None:
    """Every single check of every file: how many come out as stored, and how many are of calls without a replay."""
    counted: Counter[tuple[str, str]] = Counter()
    for _, trial, result in _all():
        verdict, ours = trial.verdict, result.replay if isinstance(result, Rescored) else None
        kinds = (
            ("action", [check["action_match"] for check in verdict.action_checks], ours and ours.action_checks),
            ("said", [check["met"] for check in verdict.communicate_checks], ours and ours.communicate_checks),
            ("predicate", [check["met"] for check in verdict.env_assertions], ours and ours.predicates),
        )
        for name, stored, found in kinds:
            again = [one.passed if isinstance(one, PredicateVerdict) else one.met for one in found or ()]
            for number, met in enumerate(stored):
                same = "not replayed" if ours is None else met == again[number]
                counted[name, same if isinstance(same, str) else "agrees" if same else "differs"] += 1

    assert counted == {
        ("action", "agrees"): 1898,
        ("said", "agrees"): 233,
        ("predicate", "agrees"): 164,
        # Of the domain "mock", which is none of ours, and of two calls whose task cannot be told.
        ("action", "not replayed"): 7,
        ("said", "not replayed"): 4,
        ("predicate", "not replayed"): 2,
    }


def test_wrong_labels_are_set_right() -> None:
    notes = [
        result.replay.task.notes[-1]
        for path in ("toolorchestra_retail_1trial", "toolorchestra_airline_1trial_broken-ids")
        for _, result in _rescored(f"sierra-tau2-bench/text/{path}.json.gz", False)
        if isinstance(result, Rescored) and result.replay.task.is_relabelled
    ]

    assert len(notes) == 111 + 43
    assert notes[0].startswith("task label ")
    assert notes[-1].startswith("no task label: ")


def test_todays_tasks_give_what_the_readme_says() -> None:
    counted = {}
    for path in ("ironshell_o3_airline", "ironshell_claude-sonnet-4-6_airline", "ironshell_deepseek-chat_airline"):
        results = [result for _, result in _rescored(f"sierra-tau2-bench-prs/{path}.json.gz", False)]
        assert all(isinstance(result, Rescored) and result.today for result in results)
        counted[path] = sum(r.today.db_match == r.stored for r in results if isinstance(r, Rescored) and r.today)
        assert all(
            r.today_reasons for r in results if isinstance(r, Rescored) and r.today and r.today.db_match != r.stored
        )

    assert list(counted.values()) == [4, 4, 3]


def test_upstreams_pricing_gives_the_recorded_answers() -> None:
    path = "sierra-tau2-bench/text/gpt-4.1_retail_1trial.json.gz"
    differing = {
        upstream: [
            call.tool
            for _, result in _rescored(path, upstream)
            if isinstance(result, Rescored)
            for call in result.replay.calls
            if call.difference
        ]
        for upstream in (False, True)
    }

    assert differing[True] == []
    assert len(differing[False]) == 18
    assert "modify_pending_order_items" in differing[False]


def test_nothing_secret_is_in_what_is_kept() -> None:
    for path in (
        "activegraph-tau2-bench/retail_1task.json.gz",
        "sierra-tau2-bench/text/gpt-4.1_airline_1trial.json.gz",
    ):
        run = open_import(real(path))
        raw = json.dumps([message.raw for trial in run.trials() for message in trial.messages])
        assert "://" not in raw
        assert "finish_reason" in raw


def test_voice_calls_have_turns_with_times_and_calls_with_ticks() -> None:
    folder = Path("simoneangarano-tau2-bench/audio_clean_vs_regular")
    (trial,) = open_import(real(str(folder / "task_14_note_2b920733_simulation.json.gz"))).trials()

    assert len(trial.ticks) > 200
    assert trial.mode == "full_duplex"
    assert trial.messages == ()
    assert len(trial.tool_calls) == 10
    assert all(call.tick is not None and call.result for call in trial.tool_calls)
    starts = [turn.started_ms for turn in trial.turns if turn.started_ms is not None]
    assert len(starts) == len(trial.turns)
    assert starts == sorted(starts)
    assert {"speech_environment", "review", "auth_classification"} <= trial.facts.keys()
