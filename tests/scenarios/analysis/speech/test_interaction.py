"""Interaction metrics: upstream's published figures for its fixture, and each rule on calls of a few ticks."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.analysis.speech.interaction import Interaction, measure
from scenarios.formats.imports.detect import open_import
from scenarios.formats.imports.records import ImportedTick
from tests.scenarios.formats.imports.files import real


def of_files(*paths: Path) -> Interaction:
    measured = (measure(trial.ticks) for path in paths for trial in open_import(path).trials())
    return sum(measured, Interaction())


def call(user: str, agent: str, duration_ms: float | None = 200.0) -> list[ImportedTick]:
    """Return ticks from two lines of marks: ``#`` speech, ``b`` backchannel, ``t`` speech with a tic, ``.`` silence.

    On the user's line ``T`` and ``N`` are a tic and a phrase aside, in silence.
    """
    return [tick(index, *marks, duration_ms) for index, marks in enumerate(zip(user, agent, strict=True))]


def tick(index: int, user: str, agent: str, duration_ms: float | None) -> ImportedTick:
    effects: dict[str, Any] = {}
    if user in "tTN":
        kind = "non_directed_phrase" if user == "N" else "vocal_tic"
        effects = {"speech_effects" if user == "t" else "source_effects": {"speech_insert": {"type": kind}}}
    return ImportedTick(
        index=index,
        timestamp=None,
        duration_ms=duration_ms,
        agent_speaks=agent == "#",
        user_speaks=user in "#bt",
        agent_text="",
        user_text="word" if user in "#bt" else "",
        user_action="backchannel" if user == "b" else None,
        effects=effects,
        voice_activity=(),
    )


def test_the_voice_fixture_gives_upstreams_figures_to_the_last_digit() -> None:
    expected = json.loads(gzip.decompress(real("sierra-tau2-bench/voice/expected_metrics.json.gz").read_bytes()))
    assert of_files(real("sierra-tau2-bench/voice/experiment")).figures() == expected


def test_five_real_calls_give_the_figures_that_were_worked_out_for_them() -> None:
    figures = of_files(*sorted(real("simoneangarano-tau2-bench").glob("*/*.json.gz"))).figures()
    counts: Any = figures.pop("counts")

    assert (counts["n_simulations"], counts["response_total"]) == (5, 23)
    assert counts["yield_total"] == 4
    assert figures["response_latency_mean"] == pytest.approx(2.02, abs=0.005)
    assert figures["yield_latency_mean"] == pytest.approx(0.60, abs=0.005)
    assert figures["response_rate"] == pytest.approx(0.826, abs=0.0005)
    assert figures["yield_rate"] == 1.0
    assert figures["agent_interruption_rate"] == pytest.approx(0.348, abs=0.0005)
    assert figures["selectivity_vocal_tic"] == pytest.approx(0.667, abs=0.0005)
    assert figures["selectivity_non_directed"] == 0.0
    assert figures["selectivity_backchannel"] is None


@pytest.mark.parametrize(
    ("user", "agent", "answers", "unanswered"),
    [
        ("###.....", ".....##.", (400.0,), 0),
        ("##.##....", "......##.", (200.0,), 1),
        ("##.......", ".........", (), 0),  # the call just ends
        ("####.....", "..####...", (), 0),  # cut off: no answer is due
        ("##.bb.....", ".......##.", (1000.0,), 0),  # a backchannel is no turn
    ],
)
def test_an_answer_is_the_agents_next_start_before_the_next_turn(
    user: str, agent: str, answers: tuple[float, ...], unanswered: int
) -> None:
    found = measure(call(user, agent))
    assert (found.response_ms, found.unanswered) == (answers, unanswered)


@pytest.mark.parametrize(
    ("user", "agent", "yields", "not_yielded"),
    [
        ("..####....", "####......", (400.0,), 0),
        (".##" + "." * 13, "#" * 11 + "." * 5, (2000.0,), 0),
        (".##" + "." * 13, "#" * 12 + "." * 4, (), 1),
        ("..####....", "....##....", (), 0),
        ("..tttt....", "####......", (), 0),  # a tic does not take the word
        ("..bb......", "####......", (), 0),
    ],
)
def test_the_agent_yields_within_two_seconds(
    user: str, agent: str, yields: tuple[float, ...], not_yielded: int
) -> None:
    found = measure(call(user, agent))
    assert (found.yield_ms, found.not_yielded) == (yields, not_yielded)


@pytest.mark.parametrize(
    ("user", "agent", "count"),
    [("####...", "..###..", 1), ("####...", "###....", 1), ("..###..", "####...", 0), ("##.....", "...##..", 0)],
)
def test_the_agent_interrupts_by_starting_while_the_user_speaks(user: str, agent: str, count: int) -> None:
    assert measure(call(user, agent)).interruptions == count


@pytest.mark.parametrize(
    ("user", "agent", "errors"),
    [
        ("..bb......", "####......", (True,)),
        ("..bb......", "#######...", (True,)),  # 1.0 s
        ("..bb......", "########..", (False,)),  # 1.2 s
    ],
)
def test_a_backchannel_should_not_silence_the_agent(user: str, agent: str, errors: tuple[bool, ...]) -> None:
    assert measure(call(user, agent)).backchannels == errors


@pytest.mark.parametrize(
    ("user", "agent", "errors"),
    [
        ("..X.......", "####......", (True,)),
        ("..X.......", "##########", ()),  # spoke on: not counted
        ("..X............", "......##.......", (True,)),
        ("..X............", ".............##", (False,)),
    ],
)
def test_a_sound_aside_is_an_error_when_the_agent_falls_for_it(user: str, agent: str, errors: tuple[bool, ...]) -> None:
    assert measure(call(user.replace("X", "T"), agent)).tics == errors
    assert measure(call(user.replace("X", "N"), agent)).non_directed == errors


@pytest.mark.parametrize(
    ("user", "agent", "errors"),
    [("tttt....", "...##...", (True,)), ("tttt....", ".....##.", (False,)), ("..tt....", "####....", (True,))],
)
def test_a_tic_in_a_turn_is_an_error_when_it_costs_the_user_the_turn(
    user: str, agent: str, errors: tuple[bool, ...]
) -> None:
    assert measure(call(user, agent)).tics == errors


def test_the_token_that_ends_a_call_is_no_turn() -> None:
    ticks = call("##...#", "...#..")
    ticks[-1] = ImportedTick(**{**vars(ticks[-1]), "user_text": "Bye ###STOP###"})
    assert measure(ticks).responses == 1
    assert measure(ticks).unanswered == 0


def test_a_call_without_ticks_has_no_rates() -> None:
    figures = measure([]).figures()
    assert figures.pop("counts") == dict.fromkeys(
        [
            *("n_simulations", "response_total", "yield_total", "backchannel_total", "vocal_tic_total"),
            *("non_directed_total", "agent_interrupts_count"),
        ],
        0,
    )
    assert set(figures.values()) == {None}


def test_ticks_of_two_lengths_are_refused_and_unknown_ones_are_upstreams() -> None:
    mixed = [*call("#.", ".#"), *call("#.", ".#", 100.0)]
    with pytest.raises(ValueError, match="ticks of .* ms"):
        measure(mixed)
    assert measure(call("#..", "..#", None)).response_ms == (200.0,)
    assert measure(call("#..", "..#", 100.0)).response_ms == (100.0,)
