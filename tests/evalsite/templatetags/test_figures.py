"""How numbers, durations, times and outcomes are written."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.template import Context, Template
from django.utils import timezone

from evalsite.templatetags import figures
from scenarios.scoring.results import OUTCOMES
from scenarios.scoring.rollup import OutcomeCount, Rate, do_nothing_rate, success_rate

NBSP = "\u00a0"


def render(text: str, **context: object) -> str:
    return Template("{% load figures %}" + text).render(Context(context)).strip()


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (None, "-"),
        (0, f"0{NBSP}ms"),
        (840.4, f"840{NBSP}ms"),
        (1000, f"1.0{NBSP}s"),
        (59_940, f"59.9{NBSP}s"),
        (59_960, "1m00s"),
        (102_000, "1m42s"),
        (3_599_400, "59m59s"),
        (3_599_600, "1h00m"),
        (7_500_000, "2h05m"),
    ],
)
def test_duration(ms: float | None, text: str) -> None:
    assert figures.duration(ms) == text


@pytest.mark.parametrize(("ms", "text"), [(None, "-"), (0, "0:00"), (31_900, "0:31"), (3_600_000, "60:00")])
def test_clock(ms: float | None, text: str) -> None:
    assert figures.clock(ms) == text


@pytest.mark.parametrize(
    ("dollars", "text"), [(None, "-"), (0, "$0.00"), (0.004, "<$0.01"), (0.39, "$0.39"), (1300, "$1,300.00")]
)
def test_money(dollars: float | None, text: str) -> None:
    assert figures.money(dollars) == text


def test_numbers_and_shares() -> None:
    assert figures.number(10_000) == "10,000"
    assert figures.number(None) == "-"
    assert figures.percent(0.83333) == f"83.3{NBSP}%"
    assert figures.percent(None) == "-"
    assert figures.percent_of(1, 8) == "12.50%"
    assert figures.percent_of(1, 0) == "0%"
    assert figures.size("x" * 312) == "312 characters"
    assert figures.size("x" * 200_000) == "200 kB"


def test_long_values_are_cut_with_their_size() -> None:
    assert figures.compact({"a": 1}) == '{"a": 1}'
    text = figures.compact(["x" * 1000])
    assert len(text) < 200
    assert text.endswith("(1004 characters)")


def test_a_rate_has_numerator_denominator_and_interval() -> None:
    rate = success_rate([OutcomeCount("pass", False, 95), OutcomeCount("fail", False, 19)])
    text = render("{% rate r %}", r=rate)
    for part in (f"83.3{NBSP}%", "95/114", "[75.4–89.1]"):
        assert part in text


def test_a_rate_over_nothing_is_a_dash_and_never_a_number() -> None:
    for nothing in (Rate(0, 0, None), None):
        text = render("{% rate r %}", r=nothing)
        assert ">-<" in text
        assert "%" not in text


@pytest.mark.parametrize("key", [*OUTCOMES, "queued", "running", "scoring", "not_applicable", "excluded", "undecided"])
def test_an_outcome_has_a_word_a_shape_and_a_colour(key: str) -> None:
    text = render("{% outcome key %}", key=key)
    assert f'class="outcome is-{key}"' in text
    assert '<span class="shape" aria-hidden="true"></span>' in text
    word = text.rpartition("</span>")[0].rpartition(">")[2]
    assert word
    assert "_" not in word


def test_times_are_shown_in_the_readers_zone_with_utc_for_machines() -> None:
    moment = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)
    with time_machine.travel(moment, tick=False), timezone.override(ZoneInfo("Europe/Berlin")):
        text = render("{% when m %}", m=moment)
        assert 'datetime="2026-11-30T23:30:00+00:00"' in text
        assert 'title="2026-12-01 00:30:00 CET"' in text
        assert ">00:30</time>" in text
        assert ">29 Nov 12:00</time>" in render("{% when m %}", m=datetime(2026, 11, 29, 11, tzinfo=UTC))
        assert ">1 Jan 2025 13:00</time>" in render("{% when m %}", m=datetime(2025, 1, 1, 12, tzinfo=UTC))
    assert render("{% when m %}", m=None) == "-"


def test_the_bar_is_drawn_without_styles() -> None:
    text = render("{% stacked parts 8 %}", parts=[("pass", 6), ("fail", 2)])
    assert '<rect class="part is-pass" x="0.00%" width="75.00%"' in text
    assert '<rect class="part is-fail" x="75.00%" width="25.00%"' in text
    assert "style=" not in text


def test_the_band_shows_the_interval_and_the_do_nothing_line() -> None:
    rate = success_rate([OutcomeCount("pass", False, 5), OutcomeCount("fail", False, 5)])
    text = render("{% band r n %}", r=rate, n=do_nothing_rate(10, 1))
    assert 'cx="50.00%"' in text
    assert 'class="nothing" x1="10.00%"' in text
    assert render("{% band r %}", r=Rate(0, 0, None)) == ""


def test_names_wrap_between_their_parts_and_stay_text() -> None:
    assert figures.breakable("a__<b>__c") == "a__<wbr>&lt;b&gt;__<wbr>c"


def test_what_a_mapping_lacks_is_none() -> None:
    assert figures.item({"a": 1, None: 2}, "a") == 1
    assert figures.item({}, "a") is None
