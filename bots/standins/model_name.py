"""What a stand-in does is written in its model name: ``standin-<behaviour>[+<option>[=<value>]...][:<scenario>]``.

``standin-faithful:tau2_retail__24`` plays the agent of that scenario, ``standin-judge+wrong-count`` a judge that loses
a verdict. ``+voice``, which the bridge adds (``on_voice``), is a party on the voice channel: it spells identifiers, and
an agent takes them from what it heard (``bots.standins.hearing``). The whole name travels with every request, so the
endpoint keeps no conversation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

AGENTS = (
    "faithful",
    "null",
    "skips-a-write",
    "wrong-argument",
    "forgets-to-say",
    "never-ends",
    "silent",
    "careless",
)
BEHAVIOURS = (*AGENTS, "caller", "judge")

# Faults of any stand-in. With ``=n`` the first n tries of a conversation's opening request fail, without it every
# request does; ``ttft`` and ``slow`` take milliseconds.
FAULTS = ("429", "500", "outage", "cut", "empty", "long", "badjson", "unknown-tool", "slow", "ttft")
JUDGE_FAULTS = ("garbage", "wrong-count", "string-booleans", "obeys-injection", "contrary")
# ``careless+share=0.25``: the part of the scenarios in which the careless agent fails.
OPTIONS = ("share", "voice")
_NEEDS_NUMBER = ("slow", "ttft", "share")
_TAKES_NUMBER = ("429", "500", "outage", "cut", "empty", *_NEEDS_NUMBER)

PREFIX = "standin-"


class UnknownModel(Exception):
    """A model name that no stand-in answers to; the text says which part is wrong and what there is."""


@dataclass(frozen=True)
class StandIn:
    """A parsed model name; ``options`` maps each fault or option to its number, or to None when it has none."""

    behaviour: str
    scenario: str = ""
    options: Mapping[str, float | None] = field(default_factory=dict)

    def milliseconds(self, option: str) -> float:
        """Return a delay in milliseconds, 0 when the name does not ask for it."""
        return self.options.get(option) or 0.0


@lru_cache(maxsize=4096)
def parse(model: str) -> StandIn:
    """Read a model name; ``UnknownModel`` names what is wrong with it."""
    head, _, scenario = model.partition(":")
    if not head.startswith(PREFIX):
        raise UnknownModel(f"no stand-in is called {model!r}; names begin with {PREFIX!r}, such as standin-faithful")
    behaviour, *suffixes = head.removeprefix(PREFIX).split("+")
    if behaviour not in BEHAVIOURS:
        raise UnknownModel(f"no stand-in behaves as {behaviour!r} (model {model!r}); there are {', '.join(BEHAVIOURS)}")
    # A profile's unfilled "{scenario}" is what a preflight request sends.
    named = "" if scenario == "{scenario}" else scenario
    return StandIn(behaviour, named, dict(_option(suffix, model) for suffix in suffixes))


def on_voice(model: str) -> str:
    """Return a stand-in's model name as its party on a voice call asks for it; any other name unchanged.

    >>> on_voice("standin-caller:tau2_retail__44")
    'standin-caller+voice:tau2_retail__44'
    """
    head, colon, scenario = model.partition(":")
    is_due = head.startswith(PREFIX) and "voice" not in head.split("+")[1:]
    return f"{head}+voice{colon}{scenario}" if is_due else model


def _option(suffix: str, model: str) -> tuple[str, float | None]:
    name, equals, value = suffix.partition("=")
    known = (*FAULTS, *JUDGE_FAULTS, *OPTIONS)
    if name not in known:
        raise UnknownModel(f"stand-ins have no option {name!r} (model {model!r}); there are {', '.join(known)}")
    if not equals:
        if name in _NEEDS_NUMBER:
            raise UnknownModel(f"option {name!r} needs a number, such as +{name}=1 (model {model!r})")
        return name, None
    if name not in _TAKES_NUMBER:
        raise UnknownModel(f"option {name!r} takes no value (model {model!r})")
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1e6:
        raise UnknownModel(f"option {name!r} needs a number from 0, not {value!r} (model {model!r})")
    return name, number
