"""Model names of stand-ins."""

import pytest

from bots.standins.model_name import AGENTS, BEHAVIOURS, UnknownModel, on_voice, parse


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_every_behaviour_can_be_named_with_a_scenario(behaviour: str) -> None:
    standin = parse(f"standin-{behaviour}:tau2_retail__24")

    assert (standin.behaviour, standin.scenario, dict(standin.options)) == (behaviour, "tau2_retail__24", {})


def test_options_are_read_in_any_number() -> None:
    standin = parse("standin-skips-a-write+429=2+slow=20.5+badjson+500:frontdesk__breakfast")

    assert standin.behaviour == "skips-a-write"
    assert standin.options == {"429": 2, "slow": 20.5, "badjson": None, "500": None}
    assert standin.milliseconds("slow") == 20.5
    assert standin.milliseconds("ttft") == 0


def test_a_scenario_name_may_hold_colons_and_pluses() -> None:
    assert parse("standin-null:tau2_telecom__a:b+c").scenario == "tau2_telecom__a:b+c"


@pytest.mark.parametrize("model", ["standin-faithful", "standin-faithful:", "standin-faithful:{scenario}"])
def test_a_name_without_a_scenario_is_a_preflight(model: str) -> None:
    assert parse(model).scenario == ""


@pytest.mark.parametrize(
    ("model", "part", "remedy"),
    [
        ("gpt-4o", "'gpt-4o'", "standin-"),
        ("standin-perfect:x", "'perfect'", AGENTS[-1]),
        ("standin-null+fire:x", "'fire'", "badjson"),
        ("standin-null+slow:x", "'slow'", "+slow=1"),
        ("standin-null+slow=soon:x", "'soon'", "number"),
        ("standin-null+ttft=-5:x", "'-5'", "number"),
        ("standin-null+ttft=inf:x", "'inf'", "number"),
        ("standin-null+429=nan:x", "'nan'", "number"),
        ("standin-null+badjson=2:x", "'badjson'", "no value"),
    ],
)
def test_a_wrong_name_is_refused_with_the_wrong_part_and_the_remedy(model: str, part: str, remedy: str) -> None:
    with pytest.raises(UnknownModel) as caught:
        parse(model)

    assert part in str(caught.value)
    assert remedy in str(caught.value)
    assert repr(model) in str(caught.value)


@pytest.mark.parametrize(
    ("model", "spoken"),
    [
        ("standin-faithful:toy__1", "standin-faithful+voice:toy__1"),
        ("standin-careless+share=0.5:toy__1", "standin-careless+share=0.5+voice:toy__1"),
        ("standin-caller+voice:toy__1", "standin-caller+voice:toy__1"),
        ("gpt-4o:latest", "gpt-4o:latest"),
    ],
)
def test_a_party_on_the_voice_channel_is_named_so(model: str, spoken: str) -> None:
    assert on_voice(model) == spoken
