"""The right column of the call page: what the signals, verdicts and latencies of a trial say, each with its cause."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from evalsite import speech_figures, transcript
from evalsite.judged import call_judging
from evalsite.pages.calls import CallRecord
from evalsite.reviewed import history_of, overrulers
from scenarios import domains
from scenarios.domains.base import ScenarioSpec
from scenarios.models import ForeignResult, Run, SignalResult, Trial, TrialEvent, Verdict
from scenarios.newest import newest
from scenarios.scoring.evidence import read_events
from scenarios.scoring.remarks import Remark, remarks
from scenarios.scoring.upstream import nothing_written

WRONG = ("wrong", "missing", "unexpected")
# Events that no remark is read from; some of them are long.
UNREMARKABLE = ("attempt.started", "context.pulled", "usage.reported")


def explain(trial: Trial, record: CallRecord) -> dict[str, Any]:
    """Return the right column: signals, claims, predicates, database, actions, latency, judge."""
    signals = newest(trial.signals.all())
    every = list(trial.verdicts.select_related("judge"))
    verdicts = newest(every)
    by_name = {signal.signal: signal for signal in signals if signal.state != "not_applicable"}
    marks = _remarks(record)
    places = _places(record, verdicts, marks)
    histories = history_of([v for v in verdicts if v.signal == "nl_assertion"])
    judging = trial.judgings.select_related("judge", "batch").first()
    judged = call_judging(trial, verdicts, judging)
    claims = [
        {
            **shown_verdict(v, places),
            "history": histories[v.pk],
            "stale": judged["stale"].get(v.pk, []),
            "earlier": [w for w in every if (w.signal, w.index) == (v.signal, v.index) and w.scoring < v.scoring],
        }
        for v in verdicts
        if v.signal == "nl_assertion"
    ]
    return {
        "is_scored": bool(signals),
        "not_applicable": [signal.signal for signal in signals if signal.state == "not_applicable"],
        "claims": claims,
        "overrulers": ", ".join(overrulers(histories.values())),
        "predicates": [shown_verdict(v, places) for v in verdicts if v.signal == "db_state_assertion"],
        "nl_signal": by_name.get("nl_assertion"),
        "judge_signal": by_name.get("judge_passed"),
        "predicate_signal": by_name.get("db_state_assertion"),
        "exit_signal": by_name.get("clean_exit"),
        "upstream": _upstream(
            trial, [shown_verdict(v, places) for v in verdicts if v.signal in ("communicate", "action")]
        ),
        "remarks": [{"row": mark, "anchor": places.get(mark.seq, "")} for mark in marks],
        "judging": judging,
        "judged": judged,
        "database": shown_database(by_name.get("db_state_match")),
        "actions": _actions(by_name.get("is_action_match"), record),
        "task": None if signals else task(trial),
        "foreign": ForeignResult.objects.filter(trial=trial).first() if trial.run.imported_from_id else None,
        **_speech(trial, record),
    }


def _speech(trial: Trial, record: CallRecord) -> dict[str, Any]:
    """Return where the time went, and of a call that was spoken how it was understood and who talked when."""
    events = list(record.events.filter(seq__gte=record.current.first, kind__in=speech_figures.KINDS))
    read = read_events(events)
    is_voice = trial.run.channel == Run.Channel.VOICE
    is_heard = is_voice or (trial.run.imported_from_id and any(turn.heard for turn in read.turns.values()))
    return {
        "is_voice": is_voice,
        "latency": speech_figures.ledgers_of_call(read, events),
        "words": speech_figures.words_of_call(read) if is_heard else [],
        "talk": speech_figures.talk_of_call(read) if is_voice and trial.is_timed else None,
    }


def task(trial: Trial) -> ScenarioSpec | None:
    """Return what was asked and must be true, for a call that is not scored yet; None when no code knows it."""
    domain = domains.load().get(trial.scenario.domain)
    if domain is None or domain.missing_data():
        return None
    return next((spec for spec in domain.scenarios() if spec.name == trial.scenario.name), None)


def _upstream(trial: Trial, checks: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return what upstream's reward rests on: each part, whether anything is written for it, and what it adds."""
    spec = task(trial)
    basis = spec.reward_basis if spec else ()
    if not basis and not checks:
        return None
    unwritten = nothing_written(spec) if spec else ()
    return {"checks": checks, "basis": [(part, part in unwritten) for part in basis]}


def _remarks(record: CallRecord) -> list[Remark]:
    """Return what a reader should look at, once the call is over: before that, what is missing may still come."""
    current = record.events.filter(seq__gte=record.current.first)
    if not current.filter(kind="call.ended").exists():
        return []
    return remarks(read_events(current.exclude(kind__in=UNREMARKABLE)))


def _places(record: CallRecord, verdicts: Iterable[Verdict], marks: Iterable[Remark]) -> dict[int, str]:
    """Return the address of every event that a quote was found in or a remark stands on."""
    seqs = {quote.get("seq") for verdict in verdicts for quote in verdict.evidence} - {None}
    seqs |= {mark.seq for mark in marks}
    return {event.seq: transcript.anchor(event) for event in record.events.filter(seq__in=seqs)}


def shown_verdict(verdict: Verdict, places: Mapping[int, str]) -> dict[str, Any]:
    """Return a verdict with its quotes; ``places`` gives the address of an event by its number."""
    quotes = [
        {"text": quote["text"], "found": quote.get("found", False), "anchor": places.get(quote.get("seq") or 0, "")}
        for quote in verdict.evidence
    ]
    state = "judge_error" if verdict.error else "passed" if verdict.passed else "failed"
    detail = verdict.detail
    return {
        "row": verdict,
        "state": state,
        "ours": {True: "it holds", False: "it does not hold"}.get(detail.get("ours"), ""),
        "quotes": quotes,
        "expected": transcript.fold(detail["expected"]) if "expected" in detail else None,
        "actual": transcript.fold(detail["actual"]) if "actual" in detail else None,
    }


def shown_database(signal: SignalResult | None) -> dict[str, Any] | None:
    """Return the diff of both sides by record, None without the signal."""
    if signal is None:
        return None
    detail = signal.detail
    sides = []
    for side, prefix in (("agent", ""), ("user", "user_")):
        rows = detail.get(f"{prefix}diff")
        if rows is not None:
            fields = [_field(row) | {"id": f"{prefix}{number}".replace("_", "-")} for number, row in enumerate(rows, 1)]
            states = Counter(row["state"] for row in rows)
            sides.append(
                {
                    "side": side,
                    "groups": _groups([field for field in fields if field["state"] != "right"]),
                    "right": _groups([field for field in fields if field["state"] == "right"]),
                    "counts": [(state, states[state]) for state in (*WRONG, "right") if states[state]],
                    "left_out": detail.get(f"{prefix}diff_total", len(rows)) - len(rows),
                }
            )
    return {"signal": signal, "sides": sides, "detail": detail}


def _field(row: Mapping[str, Any]) -> dict[str, Any]:
    absent = row.get("absent", ())
    values = [(name, None if name in absent else transcript.fold(row[name])) for name in ("seed", "expected", "actual")]
    depth = _record_depth(row)
    place = transcript.place(row["path"][depth:]) or "the whole record"
    return {**row, "values": values, "record": transcript.place(row["path"][:depth]), "place": place}


def _record_depth(row: Mapping[str, Any]) -> int:
    """Return how many steps of a field's path name its record: a table's row, or a table that holds plain values."""
    is_plain = not any(isinstance(row.get(name), dict | list) for name in ("seed", "expected", "actual"))
    return 1 if is_plain and len(row["path"]) == 2 else 2


def _groups(fields: Iterable[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return fields by the record they belong to: ``orders.#W1``."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for field in fields:
        groups.setdefault(field["record"], []).append(field)
    return list(groups.items())


def _facts(action: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a flat record (``eva_airline``) tells beside its name and side."""
    return {name: value for name, value in action.items() if name not in ("action_type", "name", "side", "result")}


def _actions(signal: SignalResult | None, record: CallRecord) -> dict[str, Any] | None:
    if signal is None:
        return None
    detail = signal.detail
    calls = _calls_by_action(record.events.filter(seq__gte=record.current.first, kind="tool.returned"))

    def shown(action: Mapping[str, Any] | None) -> dict[str, Any] | None:
        if action is None:
            return None
        name = action.get("name") or action.get("action_type", "")
        arguments = transcript.fold(action.get("arguments", _facts(action)))
        return {"name": name, "side": action.get("side", ""), "arguments": arguments, "call": calls.get(_key(action))}

    return {
        "signal": signal,
        "strict": detail.get("strict", False),
        "why": detail.get("why", ""),
        "matched": [shown(pair["predicted"]) for pair in detail.get("matched", [])],
        "missing": [shown(action) for action in detail.get("missing", [])],
        "extra": [shown(action) for action in detail.get("extra", [])],
        "wrong": [
            {
                **(shown(pair["predicted"]) or {}),
                "fields": [
                    {
                        "place": transcript.place(field["path"]),
                        "note": field.get("note", ""),
                        "expected": transcript.fold(field["expected"]),
                        "actual": transcript.fold(field["actual"]),
                    }
                    for field in pair["fields"]
                ],
            }
            for pair in detail.get("wrong", [])
        ],
    }


def _calls_by_action(returned: Iterable[TrialEvent]) -> dict[str, int]:
    return {_key(event.data["action"]): event.data["call"] for event in returned if event.data.get("action")}


def _key(action: Mapping[str, Any]) -> str:
    return json.dumps(action, sort_keys=True)
