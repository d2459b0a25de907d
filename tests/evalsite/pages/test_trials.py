"""The call page as the server gives it."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evalsite import transcript
from evalsite.pages import calls as calls_module
from scenarios import events
from scenarios.models import Trial, TrialEvent
from tests.calls import Call, exchange_call, score_exchange
from tests.evalsite.test_transcript import ATTACK, every_kind
from tests.factories import make_run, make_scenario, make_trial

Get = Callable[..., str]


@pytest.fixture
def trial(db: None) -> Trial:
    return make_trial(state="running", last_seq=0)


def address(trial: Trial) -> str:
    return f"/runs/{trial.run_id}/trials/{trial.scenario.name}/{trial.number}/"


@pytest.fixture
def get(client: Client, viewer: User) -> Get:
    client.force_login(viewer)

    def get(trial: Trial, rest: str = "", **headers: Any) -> str:
        answer = client.get(address(trial) + rest, **headers)
        assert answer.status_code == 200, answer.status_code
        return str(answer.content.decode())

    return get


class Rows(HTMLParser):
    """Collects the transcript's rows as HTML, however the page around them is laid out."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=False)
        self.starts: list[int] = []
        self._lines = [0]
        for line in html.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self.feed(html)
        self.rows = {int(re.findall(r'data-seq="(\d+)"', html[at:])[0]): html[at:] for at in self.starts}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "li" and dict(attrs).get("data-seq"):
            line, column = self.getpos()
            self.starts.append(self._lines[line - 1] + column)


def test_every_row_of_the_page_is_the_row_of_the_stream(trial: Trial, get: Get) -> None:
    Call(trial).add(*(event for event in every_kind("<b>one</b> of each") if event.kind != "attempt.started"))
    rows = Rows(get(trial)).rows
    stored = list(TrialEvent.objects.filter(trial=trial))
    assert rows.keys() == {event.seq for event in stored}
    for event in stored:
        assert rows[event.seq].startswith(transcript.render_row(event)), event.kind


def test_every_mark_of_the_page_is_the_mark_of_the_stream(trial: Trial, get: Get) -> None:
    exchange_call(trial)
    html = get(trial)
    for event in TrialEvent.objects.filter(trial=trial):
        assert transcript.render_mark(event) in html


def test_a_failed_call_says_why_and_leads_to_the_cause(trial: Trial, get: Get) -> None:
    exchange_call(trial).end()
    score_exchange(trial)
    html = get(trial)
    assert "is-fail large" in html
    assert "2 of 3 claims failed" in html
    assert "Only one shirt is ever spoken of." in html
    assert 'href="?at=turn-5#turn-5" data-evidence' in html
    assert "not in the record" in html
    assert 'href="?at=call-3#call-3" data-cause="3"' in html
    assert "Never attempted" in html
    assert "Attempted and refused" in html
    assert "overwritten by" in html
    assert "data-live" not in html


def test_each_group_of_the_diff_is_one_record(trial: Trial, get: Get) -> None:
    exchange_call(trial).end()
    score_exchange(trial)
    html = get(trial)
    assert re.findall(r'<h4 class="mono">([^<]*)</h4>', html)[:2] == ["orders.#W2378156", "users.yusuf_rossi_9620"]


def test_signals_stand_in_their_five_buckets(trial: Trial, get: Get) -> None:
    buckets = ("passed", "failed", "not_applicable", "excluded", "undecided")
    Trial.objects.filter(pk=trial.pk).update(breakdown={bucket: [f"signal_{bucket}"] for bucket in buckets})
    html = get(trial)
    for bucket in buckets:
        assert f"outcome is-{bucket} plain" in html
        assert f"signal_{bucket}" in html


def test_only_the_latest_scoring_is_shown(trial: Trial, get: Get) -> None:
    exchange_call(trial).end()
    score_exchange(trial)
    trial.verdicts.create(scoring=2, signal="nl_assertion", index=1, claim="Again.", passed=True, reason="second look")
    html = get(trial)
    assert "second look" in html
    # The ruling before is folded away under the claim.
    assert "Only one shirt" not in html.partition("1 earlier ruling")[0]


def test_neighbours_follow_the_order_of_the_run(db: None, get: Get) -> None:
    run = make_run([make_scenario(f"toy__{i}") for i in range(5)], outcomes=["fail", "pass", "fail", "pass", "stalled"])
    trials = list(run.trials.order_by("position"))
    html = get(trials[2])
    links = dict(re.findall(r'href="([^"]*)" data-key="(\w)"', html))
    assert {key: path for path, key in links.items()} == {
        "u": f"/runs/{run.pk}/",
        "F": address(trials[0]),
        "k": address(trials[1]),
        "j": address(trials[3]),
        "f": address(trials[4]),
    }
    assert 'data-key="j"' not in get(trials[4])


def test_nothing_said_by_a_model_is_markup_anywhere(trial: Trial, get: Get) -> None:
    Call(trial).add(*every_kind(ATTACK))
    trial.verdicts.create(
        signal="nl_assertion", index=1, claim=ATTACK, passed=False, reason=ATTACK, evidence=[{"text": ATTACK}]
    )
    row = {"path": ["t", ATTACK, ATTACK], "state": "wrong", "seed": ATTACK, "expected": ATTACK, "actual": ATTACK}
    trial.signals.create(signal="db_state_match", state="failed", is_gating=True, detail={"diff": [row]})
    action = {"name": ATTACK, "arguments": {ATTACK: ATTACK}}
    trial.signals.create(signal="is_action_match", state="failed", is_gating=True, detail={"missing": [action]})
    Trial.objects.filter(pk=trial.pk).update(outcome_reason=ATTACK)
    for rest in ("", "?q=onerror", "prompts/", "events/?raw=1", "events/", "events/5/?part=data"):
        assert "<img src=x" not in get(trial, rest, headers={"HX-Request": "true"}), rest


def test_one_value_can_be_had_whole_as_text(trial: Trial, get: Get, client: Client) -> None:
    long = f"<script>{'x' * 200_000}"
    Call(trial).add(events.ToolReturned("agent", 1, "dump", True, long, 1.0))
    answer = client.get(f"{address(trial)}events/1/?part=result")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.content.decode() == long
    assert len(get(trial)) < 60_000


@pytest.mark.parametrize("rest", ["events/99/", "events/1/?part=said", "events/1/?part=__class__", "events/0/"])
def test_a_value_that_is_not_there_is_not_found(trial: Trial, client: Client, viewer: User, rest: str) -> None:
    Call(trial).add(events.CallStarted("text"))
    client.force_login(viewer)
    assert client.get(address(trial) + rest).status_code == 404


@pytest.mark.parametrize("rest", ["", "events/", "prompts/", "judging/", "events/1/"])
def test_a_call_that_is_not_there_is_not_found(trial: Trial, client: Client, viewer: User, rest: str) -> None:
    client.force_login(viewer)
    assert client.get(f"/runs/{trial.run_id}/trials/{trial.scenario.name}/77/{rest}").status_code == 404


class TestLongCalls:
    """A page renders a stretch of the record; all of it can be reached and searched."""

    @pytest.fixture
    def long(self, trial: Trial, monkeypatch: pytest.MonkeyPatch) -> Call:
        monkeypatch.setattr(calls_module, "CHUNK", 20)
        call = Call(trial).begin()
        for number in range(40):
            call.turn("user" if number % 2 else "agent", f"remark {number}")
        return call

    def shown(self, html: str) -> list[int]:
        return sorted(Rows(html).rows)

    def test_a_live_call_opens_at_its_end_and_an_ended_one_at_its_beginning(self, long: Call, get: Get) -> None:
        assert self.shown(get(long.trial))[-1] == long.seq
        long.end()
        assert self.shown(get(long.trial)) == list(range(1, 21))

    def test_the_total_is_visible_and_every_stretch_is_offered(self, long: Call, get: Get) -> None:
        """B77: no part of a long record is left out without a word."""
        long.end()
        html = get(long.trial)
        assert f'<span id="event-count">{long.seq}</span>' in html
        offered = [(int(a), int(b)) for a, b in re.findall(r'hx-get="events/\?from=(\d+)&amp;to=(\d+)"', html)]
        covered = {seq for first, last in offered for seq in range(first, last + 1)} | set(self.shown(html))
        assert covered == set(range(1, long.seq + 1))
        first, last = offered[-1]
        assert self.shown(get(long.trial, f"events/?from={first}&to={last}")) == list(range(first, last + 1))

    def test_an_address_opens_the_stretch_that_has_it(self, long: Call, get: Get) -> None:
        long.end()
        html = get(long.trial, "?at=turn-31")
        assert 'id="turn-31"' in html
        assert 'id="turn-1"' not in html
        assert self.shown(get(long.trial, "?at=turn-999")) == list(range(1, 21))
        assert self.shown(get(long.trial, "?at=%3Cb%3E")) == list(range(1, 21))

    def test_search_finds_what_is_not_on_the_page(self, long: Call, get: Get) -> None:
        long.tool("dump", {}, {"deep": [{"text": "x" * 9_000 + "NeedLe" + "y" * 9_000}]}).end()
        html = get(long.trial, "?q=needle")
        assert "<b>1</b> event with" in html
        assert "<mark>NeedLe</mark>" in html
        assert "No event of this call has" in get(long.trial, "?q=nowhere")

    @pytest.mark.parametrize("query", ["Zo\u00eb", "Zoe\u0308", "zOE\u0308", "ZO\u00cb"])
    def test_search_finds_a_name_in_any_normal_form(self, long: Call, get: Get, query: str) -> None:
        """B57: composed or decomposed, in the record or in the query, it is one name."""
        long.turn("user", "I am Zo\u00eb.").turn("agent", "Hello Zoe\u0308.").end()
        html = get(long.trial, f"?q={query}")
        assert "<b>2</b> events with" in html
        assert html.count("<mark>Zo\u00eb</mark>") == 2

    def test_more_hits_than_are_listed_are_counted(self, long: Call, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(calls_module, "MAX_HITS", 5)
        html = get(long.trial, "?q=remark")
        assert "<b>40</b> events with" in html
        assert "the first 5 are listed" in html

    def test_a_request_for_everything_gets_one_stretch(self, long: Call, get: Get) -> None:
        assert self.shown(get(long.trial, "events/?from=1&to=999999999")) == list(range(1, 21))
        assert self.shown(get(long.trial, "events/?from=abc&to=-3")) == list(range(1, 21))


class TestAttempts:
    """Only what follows the last attempt.started counts; what was before is kept, folded."""

    @pytest.fixture
    def retried(self, trial: Trial) -> Call:
        call = Call(trial).begin().turn("agent", "first try")
        call.add(events.AttemptFailed("llm_http_429", "slow down", True))
        return call.begin(2).turn("agent", "second try")

    def test_the_first_attempt_is_folded(self, retried: Call, get: Get) -> None:
        html = get(retried.trial)
        assert "Attempt 1 failed" in html
        assert "llm_http_429" in html
        assert "first try" not in html
        assert "second try" in html

    def test_it_can_be_unfolded_without_a_second_turn_1(self, retried: Call, get: Get) -> None:
        first, last = re.findall(r'attempt" hx-get="events/\?from=(\d+)&amp;to=(\d+)"', get(retried.trial))[0]
        html = get(retried.trial, f"events/?from={first}&to={last}")
        assert "first try" in html
        assert 'id="turn-1"' not in html

    def test_the_timeline_has_only_the_attempt_that_counts(self, retried: Call, get: Get) -> None:
        assert get(retried.trial).count('<rect class="mark agent"') == 1


def test_a_late_word_of_a_turn_stands_in_that_turn(trial: Trial, get: Get) -> None:
    call = Call(trial).begin().turn("user", "I would like to")
    call.add(events.TurnEnded("user", 1, "I would like to return it", None, 0))
    html = get(trial)
    assert html.count('id="turn-1"') == 1
    assert "return it" in html


def test_times_that_go_backwards_are_shown_in_the_order_of_the_record(trial: Trial, get: Get) -> None:
    """B48: by number, whatever the times say; ``test_remarks`` has the mark."""
    call = Call(trial)
    for at_ms in (10_200, 9_800, 11_000):
        call.at_ms = at_ms
        call.add(events.Noted("info", f"at {at_ms}"))
    assert re.findall(r"at (\d+)</span>", get(trial)) == ["10200", "9800", "11000"]


def test_latency_says_what_was_not_measured(trial: Trial, get: Get) -> None:
    call = Call(trial)
    call.turn("agent", "Hello")
    call.turn("user", "Hi")
    html = get(trial).replace("\u00a0", " ")
    assert '<th scope="row">response</th><td class="right"><b>700 ms</b></td>' in html
    assert 'agent <span class="soft">1 of 1 turn measured' in html
    assert "not measured: endpointing, stt, tools, tts, transport" in html
    assert '<th scope="row">response</th><td colspan="3" class="soft">not measured</td>' in html


@pytest.mark.parametrize("show", ["talk", "call", "all"])
def test_the_filter_lives_in_the_address(trial: Trial, get: Get, show: str) -> None:
    assert f'class="call show-{show}"' in get(trial, f"?show={show}")
    assert 'class="call show-call"' in get(trial, "?show=nonsense")


@pytest.mark.parametrize(
    "state", ["queued", "running", "scoring", "cancelled", "infra_error", "judge_error", "tainted"]
)
def test_every_state_has_a_page(db: None, get: Get, state: str) -> None:
    html = get(make_trial(state=state, last_seq=0))
    assert f"is-{state}" in html
    assert ('data-live="trial"' in html) == (state in ("queued", "running", "scoring"))


def test_prompts_and_the_judge_are_had_on_demand(trial: Trial, get: Get) -> None:
    exchange_call(trial).end()
    score_exchange(trial)
    html = get(trial)
    assert "You are the agent." not in html
    assert "The record." not in html
    assert "You are the agent." in get(trial, "prompts/")
    judging = get(trial, "judging/")
    assert "The record." in judging
    assert "1a2b3c4d" in judging


def test_a_call_nobody_judged_says_so(trial: Trial, get: Get) -> None:
    assert "No judge was asked" in get(trial, "judging/")


def test_the_page_needs_few_queries_however_long_the_call(
    trial: Trial, client: Client, viewer: User, django_assert_max_num_queries: Any
) -> None:
    exchange_call(trial).end()
    score_exchange(trial)
    client.force_login(viewer)
    with django_assert_max_num_queries(32):
        client.get(address(trial))


class TestHangUp:
    """A POST of an operator, asked twice; the lane does the rest."""

    @pytest.fixture
    def held(self, trial: Trial) -> Trial:
        Trial.objects.filter(pk=trial.pk).update(lease="12345678-1234-5678-1234-567812345678")
        return trial

    def post(self, client: Client, person: User, trial: Trial) -> Any:
        client.force_login(person)
        return client.post(f"{address(trial)}hang-up/", follow=True)

    def test_an_operator_asks_for_it(self, held: Trial, client: Client, operator: User) -> None:
        html = self.post(client, operator, held).content.decode()
        held.refresh_from_db()
        assert held.hang_up_requested
        assert held.hang_up_by == operator
        assert "Hanging up" in html
        assert "hang-up asked for by operator" in html

    @pytest.mark.parametrize("role", ["viewer", "reviewer"])
    def test_others_may_not_and_are_not_offered_it(
        self, held: Trial, client: Client, person: Callable[[str], User], role: str
    ) -> None:
        answer = self.post(client, person(role), held)
        held.refresh_from_db()
        assert answer.status_code == 403
        assert not held.hang_up_requested
        assert 'id="hang-up"' not in client.get(address(held)).content.decode()

    def test_it_takes_a_post_and_a_token(self, held: Trial, operator: User) -> None:
        strict = Client(enforce_csrf_checks=True)
        strict.force_login(operator)
        assert strict.get(f"{address(held)}hang-up/").status_code == 405
        assert strict.post(f"{address(held)}hang-up/").status_code == 403
        held.refresh_from_db()
        assert not held.hang_up_requested

    def test_a_call_that_ended_meanwhile_is_told(self, trial: Trial, client: Client, operator: User) -> None:
        Call(trial).begin().end()
        assert "Nothing to hang up: this call is done" in self.post(client, operator, trial).content.decode()


def test_the_page_is_for_people_who_are_signed_in(trial: Trial, client: Client) -> None:
    answer = client.get(address(trial))
    assert answer.status_code == 302
    assert "/sign-in/" in answer["Location"]
