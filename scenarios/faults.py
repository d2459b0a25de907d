"""Whose fault failed calls are, in the database: by rule from the record, by a person where somebody has looked.

Every ruling is a row and none is changed. ``Trial.fault`` holds the side that counts, so that grids and comparisons
need no join: a person's word on the outcome as it is, else what the rules decide. A rule's row carries the state of the
call that it was made from, so a call that was scored, judged or reviewed again is known to be due.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import connections, transaction
from django.db.models import Max

from scenarios import catalogue
from scenarios.analysis.fault import FAULT_SIDES, Attribution, Clue, FaultRates, FaultSide, LedgerCall, fault_rates
from scenarios.analysis.fault import attribute as attribute_clues
from scenarios.domains.base import ScenarioSpec
from scenarios.models import EffectiveVerdict, FaultRuling, JudgeBatch, Judging, Run, SignalResult, Trial, TrialEvent
from scenarios.models import Verdict as VerdictRow
from scenarios.replay import gold_replay
from scenarios.scoring.evidence import read_events
from scenarios.scoring.fault_clues import ScoredCall, clues
from scenarios.scoring.results import RATED, VerdictResult
from scenarios.storable import storable

log = logging.getLogger(__name__)

FAILED = ("fail", "stalled")
MAX_REASON = 2000
_CHUNK = 50
# Events that no clue is read from; some of them are long.
_UNREAD = ("context.pulled", "usage.reported", "latency.measured", "state.pulled")
# Clues that the record alone decides: an imported call was held on a task that may be another than the one here.
_RECORD_ONLY = frozenset({"silent", "loop", "hung_up", "no_answer"})


class Refused(ValueError):
    """Why a person's word was not taken, and what to do."""


def attribution_of(trial: Trial) -> Attribution:
    """Return whose fault a rated call is, computed now; writes nothing."""
    newest = _newest(trial.fault_rulings.all())
    found = _by_rule(trial)
    word = newest.get((trial.pk, kind_of(trial.outcome)))
    if word is not None and word.side:
        return Attribution(_side(word.side), "person", word.reason, found.suspected, found.clues)
    return found


def due(run: Run) -> list[int]:
    """Return the calls whose attribution by rule is missing or older than their score, in the order of the run."""
    rows = run.trials.filter(status__in=Trial.ENDED).order_by("position").values_list("pk", "outcome", "fault")
    rated = [(pk, outcome, fault) for pk, outcome, fault in rows if outcome in FAILED or fault]
    keys, made, doubts = _keys([], run), _made_from(run), _of_passes(run)
    return [
        pk
        for pk, outcome, fault in rated
        if (made.get(pk) != keys[pk] if outcome in FAILED else fault != doubts.get(pk, ""))
    ]


def attribute(trials: Iterable[int]) -> int:
    """Attribute ended calls by rule and bring ``Trial.fault`` in line; returns how many failed calls have a side now.

    Safe to repeat: a call whose score has not changed since gets no second row.
    """
    wanted, decided = sorted(set(trials)), 0
    for some in (wanted[start : start + _CHUNK] for start in range(0, len(wanted), _CHUNK)):
        rows = Trial.objects.filter(pk__in=some, status__in=Trial.ENDED).select_related("run", "scenario")
        for trial in rows.order_by("pk"):
            decided += _attribute(trial)
    return decided


def attribute_after_call(trial: int) -> None:
    """Attribute one call for a lane, on a connection of its own. A fault of a rule is logged and costs no call.

    The call then stays due, so the run page says so and whoever presses the button there sees the error.
    """
    try:
        attribute([trial])
    except Exception:
        log.exception("attributing trial %s", trial)
    finally:
        connections.close_all()


def rule_on(trial: Trial, person: Any, side: str, reason: str) -> FaultRuling:
    """Take a person's word on a rated call; side '' takes an earlier word back. Refused says what is missing."""
    if trial.outcome not in RATED:
        raise Refused(f"this call is {trial.outcome or trial.status}: only passed, failed and stalled ones have a side")
    if side and side not in FAULT_SIDES:
        raise Refused(f"{side!r} is no side: give one of {', '.join(FAULT_SIDES)}")
    if not reason.strip():
        raise Refused("say why: whoever reads the rate will ask")
    kind = kind_of(trial.outcome)
    before = _newest(trial.fault_rulings.all()).get((trial.pk, kind))
    if not side and (before is None or not before.side):
        raise Refused("there is no word of a person to take back")
    with transaction.atomic():
        made = FaultRuling.objects.create(
            trial=trial,
            side=side,
            is_by_rule=False,
            rule=kind,
            person=person,
            reason=storable(reason.strip())[:MAX_REASON],
        )
        _cache(trial)
    return made


def ledger(run: Run) -> FaultRates:
    """Return a run's rates by whose fault its failed calls are, in two queries."""
    doubts = _of_passes(run)
    rows = (
        run.trials.filter(status__in=Trial.ENDED, outcome__in=RATED)
        .order_by()
        .values_list("pk", "outcome", "fault", "scenario_id")
    )
    return fault_rates(
        LedgerCall(
            str(pk),
            outcome == "pass",
            _side(doubts.get(pk, "") if outcome == "pass" else fault),
            str(scenario),
        )
        for pk, outcome, fault, scenario in rows
    )


def kind_of(outcome: str) -> str:
    """Return what a person's word is about: the call as a "pass" or as a "fail"; it holds for that kind only."""
    return "pass" if outcome == "pass" else "fail"


def counting(trial: Trial) -> FaultRuling | None:
    """Return the ruling that counts for a call as it is: a person's, else the newest by rule of a failed call."""
    newest = _newest(trial.fault_rulings.select_related("person"))
    word = newest.get((trial.pk, kind_of(trial.outcome)))
    if word is not None and word.side:
        return word
    return newest.get((trial.pk, "")) if trial.outcome in FAILED else None


def _attribute(trial: Trial) -> bool:
    with transaction.atomic():
        if trial.outcome in FAILED:
            key = _keys([trial.pk])[trial.pk]
            if _made_from(trial.run, trial.pk).get(trial.pk) != key:
                found = _by_rule(trial)
                kinds = "+".join(dict.fromkeys(clue.kind for clue in found.clues if clue.decides))
                FaultRuling.objects.create(
                    trial=trial,
                    side=found.side or "",
                    is_by_rule=True,
                    rule=f"{key} {kinds}"[:60].strip(),
                    reason=storable(found.reason)[:MAX_REASON],
                )
        return bool(_cache(trial)) and trial.outcome in FAILED


def _cache(trial: Trial) -> str:
    found = counting(trial)
    trial.fault = found.side if found else ""
    Trial.objects.filter(pk=trial.pk).update(fault=trial.fault)
    return trial.fault


def _newest(rulings: Iterable[FaultRuling]) -> dict[tuple[int, str], FaultRuling]:
    """Return the newest rulings by call and by what they are about: "pass", "fail", or "" for the rules'."""
    return {(row.trial_id, "" if row.is_by_rule else row.rule): row for row in sorted(rulings, key=lambda row: row.pk)}


def _keys(trials: Sequence[int], run: Run | None = None) -> dict[int, str]:
    """Return the state of each call that rules read: it changes whenever score, judge or reviews do."""
    chosen: dict[str, Any] = {"run": run} if run is not None else {"pk__in": trials}
    of_signals = {f"trial__{name}": value for name, value in chosen.items()}
    scorings = SignalResult.objects.filter(**of_signals).order_by().values_list("trial").annotate(Max("scoring"))
    newest = dict(scorings)
    rows = Trial.objects.filter(**chosen).values_list("pk", "last_seq", "overruled_count", "outcome")
    return {pk: f"{seq}.{overruled}.{newest.get(pk, 0)}.{outcome}" for pk, seq, overruled, outcome in rows}


def _made_from(run: Run, trial: int | None = None) -> dict[int, str]:
    """Return the state that the newest attribution by rule of each call was made from."""
    rows = FaultRuling.objects.filter(trial__run=run, is_by_rule=True)
    if trial is not None:
        rows = rows.filter(trial=trial)
    return {pk: rule.partition(" ")[0] for pk, rule in rows.order_by("pk").values_list("trial_id", "rule")}


def _of_passes(run: Run) -> dict[int, str]:
    """Return whose doing passes are by a person's word."""
    rows = FaultRuling.objects.filter(trial__run=run, is_by_rule=False, rule="pass").order_by("pk")
    return dict(rows.values_list("trial_id", "side"))


def _by_rule(trial: Trial) -> Attribution:
    """Return what the record says; undecided with the reason where the task of the call is not known here."""
    spec, why_not = _task(trial)
    if spec is None:
        return Attribution(None, "", why_not, (), ())
    found = clues(_scored(trial, spec))
    if trial.run.imported_from_id is None:
        return attribute_clues(found)
    own = attribute_clues([_weakened(clue) for clue in found])
    if own.side is None:
        return Attribution(None, "", f"held elsewhere: {own.reason}", own.suspected, own.clues)
    return own


def _task(trial: Trial) -> tuple[ScenarioSpec | None, str]:
    try:
        spec = catalogue.spec(trial.scenario.name)
    except ValueError:
        return None, "the task of this call is not known here any more, so no rule can read it"
    prints = {ref["name"]: ref["fingerprint"] for ref in trial.run.config["scenarios"]}
    is_own = trial.run.imported_from_id is None
    if is_own and prints.get(spec.name, spec.fingerprint) != spec.fingerprint:
        return None, "the task was changed after this call, so no rule can read it"
    return spec, ""


def _weakened(clue: Clue) -> Clue:
    """Return a clue of an imported call: one that leans on the task hints at most."""
    return clue if clue.kind in _RECORD_ONLY else clue._replace(decides=False)


def _scored(trial: Trial, spec: ScenarioSpec) -> ScoredCall:
    config = trial.run.config
    rows = list(trial.signals.order_by("-scoring", "id"))
    newest = [row for row in rows if row.scoring == rows[0].scoring]
    verdicts, scoring = _verdicts(trial)
    void = Judging.objects.filter(
        trial=trial, scoring=scoring, batch__canaries=JudgeBatch.Canaries.QUARANTINED
    ).exists()
    events = TrialEvent.objects.filter(trial=trial).exclude(kind__in=_UNREAD).order_by("seq")
    return ScoredCall(
        outcome=trial.outcome,  # type: ignore[arg-type]  # rated ones only
        failed=frozenset(row.signal for row in newest if row.is_gating and row.state == "failed"),
        record=read_events(events),
        spec=spec,
        gold=gold_replay(spec, config.get("fidelity", "canonical")),
        verdicts=verdicts,
        strictness=config.get("strictness", "reference"),
        is_quarantined=void,
    )


def _verdicts(trial: Trial) -> tuple[list[VerdictResult], int]:
    """Return the newest rulings on the claims as they count, and their scoring: a person's word has no odd reason."""
    rows = list(trial.verdicts.filter(signal="nl_assertion").order_by("-scoring", "index"))
    newest = [row for row in rows if row.scoring == rows[0].scoring]
    effective = dict(EffectiveVerdict.objects.filter(verdict__in=newest).values_list("verdict_id", "passed"))
    return [_verdict(row, effective) for row in newest], newest[0].scoring if newest else 0


def _verdict(row: VerdictRow, effective: Mapping[int, bool]) -> VerdictResult:
    if row.pk in effective:
        return VerdictResult("nl_assertion", row.index, row.claim, effective[row.pk], "ruled by a person")
    return VerdictResult(
        "nl_assertion", row.index, row.claim, row.passed, row.reason, error=row.error or None, detail=row.detail
    )


def _side(text: str) -> FaultSide | None:
    return next((side for side in FAULT_SIDES if side == text), None)
