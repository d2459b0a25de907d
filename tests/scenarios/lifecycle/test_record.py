"""Appending events under the fence of the lease."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from scenarios import lifecycle
from scenarios.lifecycle import Claim
from scenarios.models import Trial, TrialEvent
from tests.factories import make_run
from tests.scenarios.lifecycle.conftest import event, sequence, silence

pytestmark = pytest.mark.django_db


def test_a_flush_stores_all_trials_events_and_beats() -> None:
    make_run(2)
    one, two = lifecycle.claim(2)
    silence(one.trial_id, two.trial_id, seconds=20)
    before = Trial.objects.get(pk=two.trial_id).heartbeat_at
    report = lifecycle.flush({one: [event(1, side="agent", data={"a": 1}), event(2)], two: []})
    assert (report.lost, report.cancelled, report.hung_up) == (set(), set(), {})
    first = TrialEvent.objects.get(trial=one.trial_id, seq=1)
    assert (first.kind, first.side, first.data, first.at_ms) == ("note", "agent", {"a": 1}, 10)
    assert Trial.objects.get(pk=one.trial_id).last_seq == 2
    after = Trial.objects.get(pk=two.trial_id).heartbeat_at
    assert before is not None
    assert after is not None
    assert after > before


def test_a_lost_trials_events_are_refused_and_the_others_stored() -> None:
    make_run(2)
    lost, kept = lifecycle.claim(2)
    silence(lost.trial_id)
    lifecycle.claim(1)
    before = sequence(lost.trial_id)
    report = lifecycle.flush({lost: [event(1)], kept: [event(1)]})
    assert report.lost == {lost.trial_id}
    assert sequence(lost.trial_id) == before
    assert sequence(kept.trial_id) == [1]


def test_a_flush_can_be_repeated(take: Callable[[], Claim]) -> None:
    make_run(1)
    claim = take()
    lifecycle.flush({claim: [event(1), event(2)]})
    lifecycle.flush({claim: [event(1), event(2), event(3)]})
    assert sequence(claim.trial_id) == [1, 2, 3]


def test_a_hole_in_the_sequence_is_refused(take: Callable[[], Claim]) -> None:
    make_run(1)
    claim = take()
    with pytest.raises(RuntimeError, match="event 2 does not follow event 0"):
        lifecycle.flush({claim: [event(2)]})
    assert sequence(claim.trial_id) == []


@pytest.mark.parametrize("read", [lifecycle.look, lambda claims: lifecycle.flush({claim: [] for claim in claims})])
def test_reports_say_what_people_asked_for(
    read: Callable[[list[Claim]], lifecycle.FlushReport], operator: User
) -> None:
    run, other = make_run(1), make_run(2)
    claims = lifecycle.claim(3)
    lifecycle.request_cancel(run, operator)
    lifecycle.request_hang_up(Trial.objects.get(pk=claims[1].trial_id), operator)
    report = read(claims)
    assert report.cancelled == {claims[0].trial_id}
    assert report.hung_up == {claims[1].trial_id: "operator"}
    assert other.trials.count() == 2


def test_looking_writes_nothing(take: Callable[[], Claim]) -> None:
    make_run(1)
    claim = take()
    before = Trial.objects.get().heartbeat_at
    lifecycle.look([claim])
    assert Trial.objects.get().heartbeat_at == before


def test_a_lane_flushes_in_few_statements(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    make_run(16)
    claims = lifecycle.claim(16)
    with django_assert_max_num_queries(5):  # savepoint, select, insert, update, release
        lifecycle.flush({claim: [event(1), event(2)] for claim in claims})
