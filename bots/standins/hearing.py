"""What a stand-in agent takes from what it heard, instead of from the scenario's gold.

On the voice channel the codes and numbers that the caller is told (order numbers, zip codes) are read from the agent's
own transcript: it knows how such a thing looks (``#W0000000``), not which it is. So an error of speech reaches the tool
call and the score. Names, addresses, dates and what the agent looks up are the gold's, as before.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bots.standins.caller import Part
from bots.standins.errands import words
from bots.standins.wire import ChatRequest, Reply, ToolCall
from scenarios.analysis.speech.readings import Spoken, spoken_words
from scenarios.analysis.speech.shapes import in_text, leaves

_NOT_CAUGHT = "I am sorry, I did not catch the"
# So often it asks for one of them before it goes on with what it has.
_MOST_ASKED = 2
_HEARD = ("code", "digits")


@dataclass(frozen=True)
class Ear:
    """What one call's agent has to hear: the written forms that the caller is told, in the order it tells them."""

    told: tuple[str, ...]

    def asked(self, request: ChatRequest) -> int:
        """Return how often the agent has asked to hear something again: turns that are no steps of its script."""
        return sum(text.startswith(_NOT_CAUGHT) for text in request.texts("assistant"))

    def taken(self, reply: Reply, request: ChatRequest) -> Reply:
        """Return a reply with what was heard in place of what was told, or a question for what was not heard."""
        heard = self.heard(request.texts("user"))
        for call in reply.tool_calls:
            for name, bare in self._wanted(call):
                question = f"{_NOT_CAUGHT} {words(name)}. Could you spell it for me, please?"
                if heard.get(bare) is None and request.texts("assistant").count(question) < _MOST_ASKED:
                    return Reply(question)
        calls = tuple(ToolCall(call.name, self._replaced(call.arguments, heard)) for call in reply.tool_calls)
        return Reply(self._replaced(reply.text, heard), calls)

    def heard(self, transcripts: Sequence[str]) -> Mapping[str, str | None]:
        """Return what was heard of each: of several that look alike, in the order in which they came; None: nothing."""
        found: dict[str, str | None] = {}
        for shape in dict.fromkeys(map(_shape, self.told)):
            alike = [bare for bare in self.told if _shape(bare) == shape]
            came = list(dict.fromkeys(one for text in transcripts for one in looking_like(shape, text)))
            found |= {bare: came[i] if i < len(came) else None for i, bare in enumerate(alike)}
        return found

    def _wanted(self, call: ToolCall) -> Iterator[tuple[str, str]]:
        """Yield the argument and written form of each thing that a call takes from what was heard."""
        try:
            arguments = json.loads(call.arguments)
        except ValueError:  # a fault on demand
            return
        for path, value in leaves(arguments):
            for bare in self.told:
                if isinstance(value, str) and value.lstrip("#") == bare:
                    yield path.partition(".")[0], bare

    def _replaced(self, text: str, heard: Mapping[str, str | None]) -> str:
        for bare in self.told:
            text = re.sub(rf"(?<!\w){bare}(?!\w)", heard.get(bare) or "", text)
        return text


def ear(lines: Part) -> Ear:
    """Return what has to be heard of a caller with these lines."""
    text = " ".join([lines.opening, lines.identity, *lines.reasons])
    found = [one for one in in_text(text) if one.kind in _HEARD]
    return Ear(tuple(dict.fromkeys(one.text.lstrip("#") for one in sorted(found, key=lambda one: text.find(one.text)))))


def _shape(bare: str) -> str:
    """Return how an identifier looks: ``W23`` as ``A00``."""
    return "".join("0" if character.isdecimal() else "A" for character in bare)


def looking_like(shape: str, transcript: str) -> list[str]:
    """Return what was said in a transcript that has a shape, letters in upper case.

    A digit more, before or after, makes it something else.

    >>> looking_like("A00", "It is order hash W, two, three. Again: W24. And not W245.")
    ['W23', 'W24']
    """
    said = [word for word in spoken_words(transcript) if word.text != "-"]
    found: list[str] = []
    start = 0
    while start < len(said):
        read = _read(said, start, shape) if _may_begin(said, start, shape) else None
        if read is not None:
            text, start = read
            found.append(text.upper())
        else:
            start += 1
    return found


def _may_begin(said: Sequence[Spoken], start: int, shape: str) -> bool:
    """Return whether a thing can begin at a word: not in the middle of a number, nor with what follows a letter."""
    before = said[start - 1].plain if start else ""
    is_spelled = shape[0] == "0" and len(before) == 1 and before.isalpha() and before not in "ai"
    return not (before[-1:].isdecimal() or is_spelled)


def _read(said: Sequence[Spoken], start: int, shape: str) -> tuple[str, int] | None:
    """Return the text that words from a place on can be read as, and the place after it."""
    if not shape:
        return None if start < len(said) and said[start].plain[:1].isdecimal() else ("", start)
    if start >= len(said):
        return None
    for reading in said[start].readings:
        fits = 0 < len(reading) <= len(shape) and _shape(reading) == shape[: len(reading)]
        if fits and (rest := _read(said, start + 1, shape[len(reading) :])) is not None:
            return reading + rest[0], rest[1]
    return _read(said, start + 1, shape) if said[start].skip_cost == 0.0 else None
