"""Stale verdicts: those whose judge, prompt, claim or record is not what it is today, and what exactly changed.

A verdict was given by a judge version; its profile may since have been edited. The parts of both fingerprints are
compared, so a run of thousands of verdicts costs a query over its judges, not one a verdict.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import Count, QuerySet

from scenarios import catalogue
from scenarios.domains.base import ScenarioSpec
from scenarios.judging.prompts import text_of
from scenarios.models import JudgeVersion, Judging, Profile, Run, Scenario, Trial, TrialEvent, Verdict
from scenarios.newest import newest_claims
from scenarios.replay import gold_replay
from scenarios.scoring.judge_identity import JudgeIdentity
from scenarios.scoring.judge_request import task_parts

CLAIM_CHANGED = "the scenario's claim reads differently now"
CLAIM_GONE = "the scenario has no such claim any more"


@dataclass(frozen=True)
class StaleShare:
    """How many of a run's newest rulings on claims are stale, and why: reason -> verdicts.

    ``judges``: who gave them, (judge version, verdicts), most first; a run with several is a mixed one.
    """

    stale: int = 0
    total: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    judges: Sequence[tuple[JudgeVersion, int]] = ()


def current_judges(slugs: Iterable[str] | None = None) -> dict[str, JudgeIdentity]:
    """Return who each judge profile is today, by its name; archived ones too, since they may still be asked."""
    profiles = Profile.objects.filter(kind=Profile.Kind.JUDGE).select_related("prompt")
    if slugs is not None:
        profiles = profiles.filter(slug__in=set(slugs))
    return {
        profile.slug: JudgeIdentity.of(profile.frozen(), text_of(profile.prompt) if profile.prompt else None)
        for profile in profiles
    }


def why_judge_changed(judge: JudgeVersion, current: Mapping[str, JudgeIdentity]) -> list[str]:
    """Return what is different about a judge's profile today; nothing for a profile that is not there any more."""
    now = current.get(judge.profile)
    if now is None:
        return []
    if "{scenario}" in now.model and _fits(now.model, judge.model):
        now = replace(now, model=judge.model)
    if judge.fingerprint == now.fingerprint:
        return []
    was = JudgeIdentity(judge.model, judge.parameters, judge.prompt_version, judge.structure)
    return was.changed(now) or ["how judges are identified"]


def stale_share(run: Run) -> StaleShare:
    """Return how many of a run's rulings are stale, in a handful of queries."""
    of_run = {"trial__run": run, "judge__isnull": False}
    judged = Verdict.objects.filter(signal="nl_assertion", **of_run)
    counts = _by_judge(judged)
    if len({scoring for _, scoring in counts}) > 1:
        judged = newest_claims().filter(**of_run)
        counts = _by_judge(judged)
    if not counts:
        return StaleShare()
    return _share(run, judged, {judge: sum(n for (pk, _), n in counts.items() if pk == judge) for judge, _ in counts})


def why_stale(trial: Trial, verdicts: Sequence[Verdict], judging: Judging | None) -> dict[int, list[str]]:
    """Return what makes each stale verdict of a call stale, by primary key; ``verdicts`` are those that are shown."""
    judged = [verdict for verdict in verdicts if verdict.judge is not None and verdict.signal == "nl_assertion"]
    if not judged:
        return {}
    current = current_judges({verdict.judge.profile for verdict in judged if verdict.judge})
    spec = _spec(trial)
    shared = _why_call_changed(trial, spec, judging)
    found = {}
    for verdict in judged:
        assert verdict.judge is not None
        why = why_judge_changed(verdict.judge, current) + shared
        if spec is not None and (claim := _why_claim_changed(verdict.index, verdict.claim, spec)):
            why.append(claim)
        if why:
            found[verdict.pk] = why
    return found


def _by_judge(verdicts: QuerySet[Verdict]) -> dict[tuple[int, int], int]:
    rows = verdicts.order_by().values_list("judge", "scoring").annotate(count=Count("pk"))
    return {(judge, scoring): count for judge, scoring, count in rows if judge is not None}


def _share(run: Run, judged: QuerySet[Verdict], counts: Mapping[int, int]) -> StaleShare:
    judges = JudgeVersion.objects.in_bulk(counts)
    current = current_judges(judge.profile for judge in judges.values())
    reasons: Counter[str] = Counter()
    changed = {pk: why for pk, judge in judges.items() if (why := why_judge_changed(judge, current))}
    for pk, why in changed.items():
        reasons["; ".join(why)] += counts[pk]
    stale = sum(counts[pk] for pk in changed)
    for _, judge_pk, why_claim in _changed_claims(run, judged):
        reasons[why_claim] += 1
        stale += judge_pk not in changed
    by_judge = [(judges[pk], count) for pk, count in Counter(counts).most_common()]
    return StaleShare(stale, sum(counts.values()), dict(reasons.most_common()), by_judge)


def _fits(template: str, model: str) -> bool:
    before, _, after = template.partition("{scenario}")
    return re.fullmatch(f"{re.escape(before)}.*{re.escape(after)}", model) is not None


def _changed_claims(run: Run, verdicts: QuerySet[Verdict]) -> list[tuple[int, int, str]]:
    """Return (verdict, judge, why) where a claim changed; claims are read only of scenarios that changed at all."""
    launched = {ref["name"]: ref["fingerprint"] for ref in run.config["scenarios"]}
    rows = Scenario.objects.filter(name__in=launched, is_registered=True).values_list("pk", "name", "fingerprint")
    moved = {pk: name for pk, name, fingerprint in rows if launched[name] != fingerprint}
    specs = {pk: spec for pk, name in moved.items() if (spec := _named(name)) is not None}
    if not specs:
        return []
    asked = verdicts.filter(trial__scenario__in=specs).values_list("pk", "judge", "trial__scenario", "index", "claim")
    return [
        (pk, judge, why)
        for pk, judge, scenario, index, claim in asked
        if judge is not None and (why := _why_claim_changed(index, claim, specs[scenario]))
    ]


def _why_claim_changed(index: int, claim: str, spec: ScenarioSpec) -> str:
    if index > len(spec.nl_assertions):
        return CLAIM_GONE
    return CLAIM_CHANGED if spec.nl_assertions[index - 1] != claim else ""


def _why_call_changed(trial: Trial, spec: ScenarioSpec | None, judging: Judging | None) -> list[str]:
    """Return what the judge was shown of the call and is otherwise now: its record, the task, the expected actions."""
    if judging is None:
        return []
    why = []
    started = TrialEvent.objects.filter(trial=trial, kind="attempt.started").order_by("-seq").first()
    if started is not None and started.created_at > judging.created_at:
        why.append("the call was held again after this ruling")
    launched = {ref["name"]: ref["fingerprint"] for ref in trial.run.config["scenarios"]}
    if spec is not None and launched.get(spec.name) != spec.fingerprint:
        gold = gold_replay(spec, trial.run.config.get("fidelity", "canonical"))
        words = ("the scenario's task reads differently now", "the scenario's expected actions are others now")
        why += [
            word
            for word, part in zip(words, task_parts(spec, gold), strict=True)
            if f"{part}\n\n" not in judging.user_content
        ]
    return why


def _spec(trial: Trial) -> ScenarioSpec | None:
    return _named(trial.scenario.name)


def _named(name: str) -> ScenarioSpec | None:
    try:
        return catalogue.spec(name)
    except ValueError:  # no code registers it any more, so nothing says what it would be now
        return None
