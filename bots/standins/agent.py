"""The scripted agents.

* ``faithful``: greets, learns who is calling, makes every gold call in order (says what it will write and asks first,
  reports afterwards; asks the caller for what only the caller's tools do), says what each claim demands and the facts
  that upstream's reward wants said, asks for anything else, says goodbye and ends the call. Where the gold hands the
  caller over, that ends the call.
* ``null``: talks for five turns, does nothing, ends the call cleanly.
* ``skips-a-write``: leaves out the last gold write that matters, and reports it as done.
* ``wrong-argument``: makes a write with one plausible wrong argument (``bots.standins.wrong_argument``).
* ``forgets-to-say``: says nothing of what the claims demand, not even the details of what it is about to write.
* ``never-ends``: does everything but never hangs up or hands over: it goes on asking.
* ``silent``: greets, asks who is calling, and never says another word.
* ``careless``: one of these by a hash of the scenario's name, faithful for most.

On the voice channel the codes and numbers that the caller is told (order numbers, zip codes) come from what the agent
heard, the other arguments from the gold: ``bots.standins.hearing``.

Where a behaviour does not apply to a scenario (there is no write to skip, none takes an argument, nothing is to be
said), the agent is faithful.
"""

import hashlib
from collections.abc import Callable, Sequence
from itertools import cycle

from bots.standins.claims import saying
from bots.standins.cue import Cue
from bots.standins.errands import instruction
from bots.standins.errands import words as _words
from bots.standins.steps import Say, Script, Step, Use
from bots.standins.wrong_argument import plausible_wrong
from scenarios.domains.base import GoldAction
from scenarios.scoring.upstream import demanded_facts

GREETING = "Hello, thank you for calling. How can I help you today?"
_IDENTIFY = "I am happy to help with that. May I have your name and something to verify your account, please?"
_MORE = "Is there anything else I can help you with today?"
_GOODBYE = "Thank you for calling. Goodbye, and have a nice day."
_HAND_OVER = "I am not able to do that myself, so I am handing you over to a colleague who can. Please hold."
_OPENERS = ("Thank you.", "Thank you for waiting.", "One more moment, please.", "Good.")
_NOTHING_TO_CHANGE = "I have looked into this. Under our policy there is nothing that I may change here."
_LEFT_ALONE = "The rest of your phone is as it should be, so we leave that alone."
_NOT_ACCEPTED = "I am sorry, the system did not accept that."


def faithful(cue: Cue) -> Script:
    """Return the script of the agent that does everything right."""
    return _script(cue, cue.spec.gold_actions)


def null(cue: Cue) -> Script:
    """Return the script of the agent that only talks."""
    lines = (
        GREETING,
        "I see. Let me have a look at that for you.",
        "I am sorry, this is not something that we can do today.",
        _MORE,
    )
    return Script([*map(Say, lines), *_hang_up(cue)])


def skips_a_write(cue: Cue) -> Script:
    """Return the faithful script without its last write that matters."""
    return _script(cue, cue.spec.gold_actions, skipped=cue.last_write)


def wrong_argument(cue: Cue) -> Script:
    """Return the faithful script with one argument of a write replaced."""
    actions = list(cue.spec.gold_actions)
    wrong = plausible_wrong(cue)
    if wrong is not None:
        actions[wrong.position] = wrong.action
    return _script(cue, actions)


def forgets_to_say(cue: Cue) -> Script:
    """Return the faithful script without the sentences that the claims demand."""
    return _script(cue, cue.spec.gold_actions, says_claims=False)


def never_ends(cue: Cue) -> Script:
    """Return the faithful script without its end."""
    steps = _script(cue, cue.spec.gold_actions).steps
    return Script(steps[:-2], tail=_MORE)


def silent(cue: Cue) -> Script:
    """Return the script of the agent that stops talking after two turns."""
    return Script([Say(GREETING), Say(_IDENTIFY)], tail="")


def _script(cue: Cue, actions: Sequence[GoldAction], skipped: int | None = None, says_claims: bool = True) -> Script:
    claims = [*_claims(cue), *_facts(cue)] if says_claims else []
    hands_over = bool(actions) and actions[-1].tool in cue.transfer_tools
    steps: list[Step] = [Say(GREETING), Say(_IDENTIFY)]
    steps += _work(cue, actions[:-1] if hands_over else actions, skipped, spells_out=says_claims)
    if hands_over:
        return Script([*steps, *claims, Say(_HAND_OVER, goes_on=True), _use(actions[-1])])
    steps += claims if cue.writes else [Say(_NOTHING_TO_CHANGE), *claims]
    return Script([*steps, Say(_MORE), *_hang_up(cue)])


def _work(cue: Cue, actions: Sequence[GoldAction], skipped: int | None, spells_out: bool) -> list[Step]:
    """Return the gold calls in order: a word after each read; writes offered, made and reported; errands asked for."""
    steps: list[Step] = []
    openers = cycle(_OPENERS)
    for position, action in enumerate(actions):
        if action.side == "user":
            steps.append(Say(_LEFT_ALONE if position == skipped else instruction(action)))
            continue
        if action.tool not in cue.write_tools:
            steps += [_use(action), Say(f"{next(openers)} {_finding(action)}")]
            continue
        steps.append(Say(_offer(action, spells_out)))
        if position != skipped:
            steps.append(_use(action))
        steps.append(Say(_report(action) if cue.gold.calls[position].ok else _NOT_ACCEPTED))
    return steps


def _hang_up(cue: Cue) -> list[Step]:
    return [Say(_GOODBYE, goes_on=True), Use(cue.end_tool)]


def _use(action: GoldAction) -> Use:
    return Use(action.tool, action.arguments)


def _finding(action: GoldAction) -> str:
    _, _, what = _words(action.tool).partition(" ")
    return f"I have now looked at the {what}." if what else "I have now worked that out."


def _offer(action: GoldAction, spells_out: bool) -> str:
    details = ", ".join(f"{_words(name)} {_spoken(value)}" for name, value in action.arguments.items())
    return f"I will now {_words(action.tool)}{': ' + details if spells_out else ' as you asked'}. Shall I go ahead?"


def _report(action: GoldAction) -> str:
    return f"That is done: {_words(action.tool)} went through."


def _spoken(value: object) -> str:
    if isinstance(value, list | tuple):
        return " and ".join(map(_spoken, value))
    if isinstance(value, dict):
        return ", ".join(f"{_words(str(key))} {_spoken(item)}" for key, item in value.items())
    return str(value)


def _claims(cue: Cue) -> list[Step]:
    wanted = filter(None, map(saying, cue.spec.nl_assertions))
    return [Say(f"I can tell you this: {claim.sentence}") for claim in wanted]


def _facts(cue: Cue) -> list[Step]:
    """Return what only the strictness "upstream" demands; no claim says what it is about, so neither does the agent."""
    facts = demanded_facts(cue.spec)
    return [Say(f"The answer to your question is {' and '.join(facts)}.")] if facts else []


# The careless agent's faults and their shares of the scenarios in which it fails; those that do not apply drop out.
_CARELESS: tuple[tuple[str, float], ...] = (
    ("skips-a-write", 0.3),
    ("wrong-argument", 0.3),
    ("forgets-to-say", 0.6),
    ("null", 0.1),
    ("never-ends", 0.06),
    ("silent", 0.02),
)
DEFAULT_SHARE = 0.4


def applies(behaviour: str, cue: Cue) -> bool:
    """Return whether a behaviour differs from the faithful one in this scenario."""
    if behaviour == "skips-a-write":
        return cue.last_write is not None
    if behaviour == "wrong-argument":
        return plausible_wrong(cue) is not None
    if behaviour == "forgets-to-say":
        return bool(_claims(cue))
    return behaviour != "faithful"


def careless_choice(cue: Cue, share: float = DEFAULT_SHARE) -> str:
    """Return which behaviour the careless agent shows: the same for a scenario every time."""
    digest = hashlib.sha256(cue.spec.name.encode()).digest()
    if int.from_bytes(digest[:4]) / 2**32 >= share:
        return "faithful"
    choices = [(behaviour, weight) for behaviour, weight in _CARELESS if applies(behaviour, cue)]
    point = int.from_bytes(digest[4:8]) / 2**32 * sum(weight for _, weight in choices)
    for behaviour, weight in choices:
        point -= weight
        if point < 0:
            return behaviour
    return choices[-1][0]


SCRIPTS: dict[str, Callable[[Cue], Script]] = {
    "faithful": faithful,
    "null": null,
    "skips-a-write": skips_a_write,
    "wrong-argument": wrong_argument,
    "forgets-to-say": forgets_to_say,
    "never-ends": never_ends,
    "silent": silent,
}
