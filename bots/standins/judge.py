"""The lexical judge: rules by words and figures, so that a rehearsal needs no model.

A claim that something is said holds when one turn of the agent has all its figures and most of its content words. A
claim about an act holds when a successful tool call of the agent is named after it. It reads the very request that a
model would get (``scenarios.scoring.judge_request``) and knows nothing else, but for the answers of canaries
(``known_calls``). The score is the share of claims that hold (of expected actions, where there are no claims), and 0.05
at most unless the agent ended the call.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from bots.standins.claims import Saying, act_words, content_words, is_negative, numbers, saying, stem
from bots.standins.known_calls import demanded, known_answers, ready_ruling
from bots.standins.model_name import StandIn
from bots.standins.wire import ChatRequest, Reply
from scenarios.domains import load

MOST_WORDS = 0.6
MOST_WORDS_WITHOUT_FIGURES = 0.75
_MAX_QUOTE = 300
_GARBAGE = "I would say that this went rather well, all things considered."

_RECORD = re.compile(r"<<<(?P<marker>RECORD-\w+)\n(?P<lines>.*)\n(?P=marker)>>>", re.S)
_TURN = re.compile(r"^\[turn (\d+)\] agent said: (.*?)(?: \| heard: .*)?$")
_CALL = re.compile(r"^\[tool call \d+\] agent called (?P<quote>(?P<tool>\S+) (?P<arguments>\{.*?\})): ok(?: -> .*)?$")
_CLAIM = re.compile(r"^\d+\. (.*)$", re.M)


@dataclass(frozen=True)
class Call:
    """One successful tool call of the agent; ``quote`` is its wording in the record."""

    tool: str
    arguments: str
    quote: str


@dataclass(frozen=True)
class Ruling:
    """The ruling on one claim, with one quote at most."""

    passed: bool
    reason: str
    quote: str = ""
    turn: int | None = None


@dataclass(frozen=True)
class Record:
    """What the request shows of a call."""

    content: str

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines between the markers."""
        match = _RECORD.search(self.content)
        return match["lines"].split("\n") if match else []

    @cached_property
    def turns(self) -> list[tuple[int, str]]:
        """Return number and text of the agent's turns."""
        return [(int(match[1]), match[2]) for match in map(_TURN.match, self.lines) if match]

    @cached_property
    def calls(self) -> list[Call]:
        """Return the agent's successful tool calls."""
        matches = filter(None, map(_CALL.match, self.lines))
        return [Call(match["tool"], match["arguments"], match["quote"]) for match in matches]

    @cached_property
    def claims(self) -> list[str]:
        """Return the numbered claims, which come after the record."""
        _, found, section = self.content.rpartition("\n## Claims\n")
        return _CLAIM.findall(section) if found else []

    @cached_property
    def expected(self) -> list[str]:
        """Return the names of the expected actions."""
        section = _section(self.content, "## Expected actions\n")
        return [action["name"] for action in json.loads(section or "[]") if "name" in action]

    @property
    def is_ended(self) -> bool:
        """Return whether the agent ended the call or handed it over."""
        return _section(self.content, "## How the call ended\n") in ("end_tool", "transfer")


def reply(standin: StandIn, request: ChatRequest) -> Reply:
    """Return the judge's answer in the form that the request's prompt demands, or broken as the name asks."""
    if "garbage" in standin.options:
        return Reply(_GARBAGE)
    record = Record("\n".join(request.texts("user")))
    if "obeys-injection" in standin.options and (ready := ready_ruling("\n".join(record.lines))):
        return Reply(ready)
    rulings = list(_rulings(record))
    answer: dict[str, Any] = {
        "reason": f"{sum(r.passed for r in rulings)} of {len(rulings)} claims hold, by words and figures.",
        "score": _score(record, rulings),
        "nl_assertion_verdicts": [_verdict(index, ruling) for index, ruling in enumerate(rulings, 1)],
    }
    _break(answer, standin, record)
    return Reply(json.dumps(answer, ensure_ascii=False))


def _rulings(record: Record) -> Iterator[Ruling]:
    known = known_answers(record.content)
    for index, claim in enumerate(record.claims):
        yield rule(claim, record) if known is None else Ruling(known[index], "Known beforehand: this call is a canary.")


def rule(claim: str, record: Record) -> Ruling:
    """Rule on one claim."""
    wanted = saying(claim)
    if wanted is not None:
        return _rule_on_saying(wanted, record)
    ruling = _rule_on_act(claim, record)
    if is_negative(claim):
        return Ruling(not ruling.passed, f"The claim forbids this. {ruling.reason}", ruling.quote)
    return ruling


def _rule_on_saying(wanted: Saying, record: Record) -> Ruling:
    needed = MOST_WORDS if wanted.numbers else MOST_WORDS_WITHOUT_FIGURES
    best = 0.0
    for number, text in record.turns:
        if not wanted.numbers <= numbers(text):
            continue
        share = len(wanted.words & content_words(text)) / len(wanted.words) if wanted.words else 1.0
        if share >= needed:
            return Ruling(
                True, f"Turn {number} has the figures and {share:.0%} of the words.", text[:_MAX_QUOTE], number
            )
        best = max(best, share)
    figures = ", ".join(sorted(map(str, wanted.numbers))) or "none asked"
    return Ruling(False, f"No turn of the agent says this: figures {figures}, best share of the words {best:.0%}.")


def _rule_on_act(claim: str, record: Record) -> Ruling:
    writes = _write_tools(frozenset(call.tool for call in record.calls))
    words = act_words(claim, {word for tool in writes for word in _tool_words(tool)})
    if not words:
        return Ruling(False, "No tool is named after what this claim asks for.")
    namesakes = {tool for tool in writes if words <= _tool_words(tool)}
    related = namesakes or {tool for tool in writes if words & _tool_words(tool)}
    done = [call for call in record.calls if call.tool in related]
    if not words <= {word for call in done for word in _tool_words(call.tool)}:
        return Ruling(False, f"No successful call of the agent is named after {' '.join(sorted(words))}.")
    if re.search(r"\bboth orders\b", claim, re.I) and len({call.arguments for call in done}) < 2:
        return Ruling(False, "Only one of both orders was worked on.")
    return Ruling(True, f"{done[-1].tool} succeeded.", done[-1].quote[:_MAX_QUOTE])


@lru_cache(maxsize=512)
def _write_tools(used: frozenset[str]) -> frozenset[str]:
    """Return the names of the writes of the domains that have all the used tools: those of others mean nothing."""
    tools = {name: {tool.model_name(): tool.kind for tool in domain.tools("agent")} for name, domain in load().items()}
    fitting = [kinds for kinds in tools.values() if used <= kinds.keys()] or list(tools.values())
    return frozenset(name for kinds in fitting for name, kind in kinds.items() if kind == "write")


@lru_cache(maxsize=512)
def _tool_words(tool: str) -> frozenset[str]:
    return frozenset(stem(word) for word in tool.split("_"))


def _score(record: Record, rulings: list[Ruling]) -> float:
    held: Iterable[bool] = (ruling.passed for ruling in rulings)
    if not rulings:
        done = {call.tool for call in record.calls}
        held = (name in done for name in record.expected)
    marks = list(held)
    share = sum(marks) / len(marks) if marks else 1.0
    return round(share, 3) if record.is_ended else min(share, 0.05)


def _verdict(index: int, ruling: Ruling) -> dict[str, Any]:
    evidence = [{"quote": ruling.quote, "turn": ruling.turn}] if ruling.quote else []
    return {"index": index, "evidence": evidence, "reason": ruling.reason, "passed": ruling.passed}


def _break(answer: dict[str, Any], standin: StandIn, record: Record) -> None:
    verdicts: list[dict[str, Any]] = answer["nl_assertion_verdicts"]
    told = demanded("\n".join(record.lines)) if "obeys-injection" in standin.options else None
    if told is not None:
        answer["score"] = float(told)
        for verdict in verdicts:
            verdict.update(passed=told, reason="The transcript says so.")
    if "contrary" in standin.options and verdicts and known_answers(record.content) is None:
        passed = not verdicts[0]["passed"]
        verdicts[0].update(passed=passed, reason="The first claim of each call is ruled the other way round.")
    if "string-booleans" in standin.options:
        for verdict in verdicts:
            verdict["passed"] = str(verdict["passed"]).lower()
    if "wrong-count" in standin.options:
        answer["nl_assertion_verdicts"] = verdicts[:-1] if verdicts else [_verdict(1, Ruling(True, "One too many."))]


def _section(content: str, heading: str) -> str:
    _, found, rest = content.partition(heading)
    return rest.split("\n", 1)[0].strip() if found else ""
