"""From a configuration to a run: what is refused and how, what is frozen, and that a second press launches nothing."""

import threading
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, connections, transaction
from pydantic import ValidationError
from pytest_django import DjangoAssertNumQueries, Settings

from scenarios import catalogue
from scenarios.launch import FrozenProfile, Limits, RunConfig, ScenarioRef, expand, launch
from scenarios.models import Run, Trial
from tests.factories import make_config, make_profile, make_run, make_scenarios

NAMES = ["toy__1", "toy__2", "toy__3"]


def profile(kind: Any, **fields: Any) -> FrozenProfile:
    return FrozenProfile(**{"slug": f"my-{kind}", "kind": kind, "model": "m", "base_url": "http://x/v1", **fields})


def refused(**fields: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        make_config(fields.pop("names", NAMES), **fields)
    return " | ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in caught.value.errors())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"names": []}, "scenarios: none chosen"),
        ({"names": ["toy__1", "toy__1"]}, "'toy__1' is listed twice; set trials"),
        ({"trials": 0}, "trials: Input should be greater than or equal to 1"),
        ({"trials": 101}, "trials: Input should be less than or equal to 100"),
        ({"names": [f"toy__{n}" for n in range(1001)], "trials": 100}, "1001 scenarios x 100 are more than 100,000"),
        ({"agent": profile("judge")}, "agent: 'my-judge' is a profile of a judge; choose one of a agent"),
        ({"channel": "telephone"}, "channel: Input should be 'text' or 'voice'"),
        ({"limits": {"max_turns": 0}}, "limits.max_turns: Input should be greater than or equal to 1"),
        ({"limits": {"max_trns": 5}}, "limits.max_trns: Extra inputs are not permitted"),
        ({"pace_s": -1}, "pace_s: Input should be greater than or equal to 0"),
        ({"domian": "toy"}, "domian: Extra inputs are not permitted"),
    ],
)
def test_bad_input_is_named(fields: dict[str, Any], message: str) -> None:
    assert message in refused(**fields)


def test_a_profile_must_lead_somewhere() -> None:
    with pytest.raises(ValidationError, match="'nowhere' names neither a model nor a socket address: edit the profile"):
        FrozenProfile(slug="nowhere", kind="agent")


def test_a_cap_on_money_needs_every_price() -> None:
    priced = {"prompt_price": 1.0, "completion_price": 2.0}
    parties: dict[str, Any] = {"agent": profile("agent", **priced), "caller": profile("caller", **priced)}
    message = refused(**parties, judge=profile("judge"), limits=Limits(max_cost=5))
    assert "no cap can be kept, since the price of my-judge is unknown; enter prices" in message
    assert make_config(NAMES, **parties, judge=profile("judge", **priced), limits=Limits(max_cost=5)).unpriced == []
    assert make_config(NAMES, **parties, judge=None, limits=Limits(max_cost=5)).judge is None


def test_a_stand_in_costs_nothing_so_a_cap_is_fine() -> None:
    free = {"is_standin": True}
    config = make_config(
        NAMES,
        agent=profile("agent", **free),
        caller=profile("caller", **free),
        judge=profile("judge", **free),
        limits=Limits(max_cost=1),
    )
    assert config.is_rehearsal


def test_one_stand_in_makes_a_rehearsal() -> None:
    assert not make_config(NAMES).is_rehearsal
    assert make_config(NAMES, judge=profile("judge", is_standin=True)).is_rehearsal


def test_stand_ins_are_where_their_endpoint_is_now(settings: Settings) -> None:
    settings.STANDIN_URL = "http://127.0.0.1:1111/v1"
    config = make_config(NAMES, agent=profile("agent", base_url="", is_standin=True))
    assert config.agent.base_url == "http://127.0.0.1:1111/v1"
    stored, fingerprint = config.stored(), config.fingerprint
    assert stored["agent"]["base_url"] == ""
    settings.STANDIN_URL = "http://127.0.0.1:2222/v1"
    again = RunConfig.model_validate(stored)
    assert again.agent.base_url == "http://127.0.0.1:2222/v1"
    assert again.fingerprint == fingerprint


def test_the_fingerprint_changes_with_anything() -> None:
    config = make_config(NAMES)
    assert config.fingerprint == make_config(NAMES).fingerprint
    others = [
        make_config(NAMES[:2]),
        make_config(NAMES, 2),
        make_config(NAMES, strict_match=True),
        make_config(NAMES, limits=Limits(max_turns=9)),
        make_config(NAMES, agent=profile("agent", parameters={"temperature": 1})),
    ]
    assert len({config.fingerprint, *(other.fingerprint for other in others)}) == 6


@pytest.mark.django_db
def test_launch_writes_the_run_and_its_trials(operator: User) -> None:
    make_scenarios(3)
    config = make_config(NAMES, 2)
    run = launch(config, person=operator, title="before the release")
    assert (run.title, run.domain, run.channel, run.trial_count) == ("before the release", "toy", "text", 6)
    assert (run.launched_by, run.is_rehearsal, run.cost) == (operator, False, None)
    places = list(run.trials.order_by("position").values_list("scenario__name", "number"))
    assert places == [(name, number) for number in (1, 2) for name in NAMES]
    assert set(run.trials.values_list("status", "attempts", "last_seq", "outcome")) == {("queued", 0, 0, "")}


@pytest.mark.django_db
@pytest.mark.parametrize(("asked", "kept"), [(None, 1), (4, 4)])
def test_a_bot_with_its_own_state_holds_one_call_at_a_time(asked: int | None, kept: int) -> None:
    make_scenarios(3)
    bot = FrozenProfile(slug="nemo", kind="agent", address="ws://127.0.0.1:9", tools_run="theirs")
    run = launch(make_config(NAMES, agent=bot, limits=Limits(concurrency=asked)), person=None)
    assert run.config["limits"]["concurrency"] == kept
    assert RunConfig.model_validate(run.config).fingerprint == run.fingerprint


@pytest.mark.django_db
def test_a_run_is_frozen_with_what_it_runs_on() -> None:
    make_scenarios(3)
    run = launch(make_config(NAMES), person=None)
    versions = run.config["versions"]
    assert {"callboard", "pipecat-ai", "python", "benchmarks"} <= set(versions)
    assert len(versions["benchmarks"]) == 64
    frozen = RunConfig.model_validate(run.config)
    assert frozen.fingerprint == run.fingerprint


@pytest.mark.django_db
def test_a_run_keeps_its_profile_when_the_profile_changes() -> None:
    make_scenarios(1)
    row = make_profile("careful", prompt_price=1, completion_price=2)
    run = launch(make_config(["toy__1"], agent=FrozenProfile(**row.frozen())), person=None)
    row.model = "other-model"
    row.save()
    run.refresh_from_db()
    assert run.config["agent"]["model"] == "small-model"
    assert run.config["agent"]["key_env"] == "TOY_KEY"


@pytest.mark.django_db
def test_known_prices_make_the_cost_start_at_zero() -> None:
    make_scenarios(1)
    free = {"prompt_price": 0, "completion_price": 0}
    parties: dict[str, Any] = {kind: profile(kind, **free) for kind in ("agent", "caller", "judge")}
    assert launch(make_config(["toy__1"], **parties), person=None).cost == 0


@pytest.mark.django_db
def test_a_second_submit_finds_the_first_run(operator: User) -> None:
    make_scenarios(3)
    first = launch(make_config(NAMES), person=operator, launch_key="k")
    again = launch(make_config(NAMES, 5), person=operator, launch_key="k")
    assert again.pk == first.pk
    assert (Run.objects.count(), Trial.objects.count()) == (1, 3)
    assert launch(make_config(NAMES), person=operator).pk != first.pk


@pytest.mark.django_db(transaction=True)
def test_two_submits_at_once_are_one_run() -> None:
    make_scenarios(3)
    runs: list[int] = []
    start = threading.Barrier(4)

    def press() -> None:
        start.wait()
        try:
            runs.append(launch(make_config(NAMES), person=None, launch_key="k").pk)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=press) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(runs) == 4
    assert len(set(runs)) == 1
    assert Trial.objects.count() == 3


@pytest.mark.django_db
def test_ten_thousand_trials_are_launched_in_few_statements(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    make_scenarios(100)
    config = make_config([f"toy__{number}" for number in range(1, 101)], 100)
    # SQLite takes 999 values in a statement: about 30 rows.
    with django_assert_max_num_queries(400):
        run = launch(config, person=None)
    assert run.trials.count() == 10_000
    assert run.trials.latest("position").position == 9_999


@pytest.mark.django_db
def test_an_unknown_scenario_launches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "sync", lambda: None)
    with pytest.raises(ValueError, match="domain 'toy' has no scenario 'toy__1'"):
        launch(make_config(["toy__1"]), person=None)
    assert Run.objects.count() == 0


@pytest.mark.django_db
def test_rows_that_are_missing_are_mirrored_first() -> None:
    names = [ref.name for ref in expand("frontdesk", [spec.name for spec in catalogue.specs("frontdesk")])]
    run = launch(make_config(names, domain="frontdesk"), person=None)
    assert run.trials.count() == len(names) > 3


def test_expand_gives_fingerprints_in_the_order_asked() -> None:
    specs = catalogue.specs("frontdesk")
    names = [specs[2].name, specs[0].name]
    assert expand("frontdesk", names) == [
        ScenarioRef(name=specs[2].name, fingerprint=specs[2].fingerprint),
        ScenarioRef(name=specs[0].name, fingerprint=specs[0].fingerprint),
    ]


def test_expand_names_what_is_unknown() -> None:
    with pytest.raises(ValueError, match=r"no domain is called 'frontdsk'; there are .*frontdesk"):
        expand("frontdsk", [])
    with pytest.raises(ValueError, match=r"domain 'frontdesk' has no scenario 'x1', .* and 2 more; its names"):
        expand("frontdesk", [f"x{number}" for number in range(1, 8)])


def test_the_stand_in_setting_is_a_loopback_address() -> None:
    assert settings.STANDIN_URL.startswith("http://127.0.0.1:")


@pytest.mark.django_db
def test_a_trial_is_stored_once_whatever_is_tried() -> None:
    """B64: unique by run, scenario and number, so that no trial is counted twice."""
    trial = make_run(1, 2, ["pass"]).trials.first()
    assert trial is not None
    with pytest.raises(IntegrityError), transaction.atomic():
        Trial.objects.create(run=trial.run, scenario=trial.scenario, number=trial.number, position=99)
    assert trial.run.trials.count() == 2
