"""Runs whose calls were held and wait to be judged, and an endpoint where the stand-in judges answer."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from bots.scorer import score
from scenarios.launch import FrozenProfile, RunConfig, expand, launch
from scenarios.models import Run, Trial, TrialEvent
from tests.bots.fake_calls import run_lane
from tests.bots.judge_endpoint import Answer, Endpoint, serving
from tests.bots.standins.conversation import Conversation, ask

DOMAIN = "frontdesk"
# All that ask a judge, about 7 claims in all; the last is gated by the score of the judge and not by its claims.
JUDGED = (
    "frontdesk__saver_refusal",
    "frontdesk__upgrade_price",
    "frontdesk__cancel_illness",
    "frontdesk__three_wishes",
    "frontdesk__bill_question",
)


@contextmanager
def standin_judges() -> Iterator[Endpoint]:
    """Serve the stand-in judges, whatever model is asked for."""

    def reply(request: dict[str, Any]) -> Answer:
        return Answer(ask(request["model"], request["messages"])[1].text)

    with serving() as endpoint:
        endpoint.by = reply
        yield endpoint


def judge_profile(endpoint: Endpoint, model: str = "standin-judge", **fields: Any) -> dict[str, Any]:
    """Return a frozen judge profile at an endpoint; it costs money, so that costs can be seen."""
    values = {
        "slug": "strict",
        "kind": "judge",
        "model": model,
        "base_url": endpoint.url,
        "parameters": {"tries": 1, "backoff_s": 0.001},
        "prompt_price": 1000.0,
        "completion_price": 0.0,
    }
    return values | fields


def held_run(judge: dict[str, Any] | None, names: Sequence[str], trials: int = 1, **config: Any) -> Run:
    """Launch a run whose calls are held by faithful stand-ins already and wait for their scoring."""
    model = {"model": "m", "base_url": "http://127.0.0.1:9/v1", "prompt_price": 0.0, "completion_price": 0.0}
    settings = RunConfig(
        domain=DOMAIN,
        scenarios=expand(DOMAIN, list(names)),
        trials=trials,
        agent=FrozenProfile.model_validate({"slug": "a", "kind": "agent", **model}),
        caller=FrozenProfile.model_validate({"slug": "c", "kind": "caller", **model}),
        judge=FrozenProfile.model_validate(judge) if judge else None,
        **config,
    )
    run = launch(settings, person=None)
    for trial in run.trials.select_related("scenario"):
        events = record_of(trial.scenario.name)
        TrialEvent.objects.bulk_create(
            TrialEvent(trial=trial, **{name: getattr(event, name) for name in _EVENT}) for event in events
        )
        Trial.objects.filter(pk=trial.pk).update(status="scoring", last_seq=events[-1].seq)
    return run


def judged_run(judge: dict[str, Any] | None, names: Sequence[str], trials: int = 1, **config: Any) -> Run:
    """Return such a run after a lane has scored it."""
    run = held_run(judge, names, trials, **config)
    run_lane(scorer=score)
    return run


@cache
def record_of(scenario: str) -> Sequence[Any]:
    """Return the events of a call of this scenario between faithful stand-ins."""
    return Conversation(scenario).hold().record.events


_EVENT = ("seq", "at_ms", "kind", "side", "data", "created_at")
