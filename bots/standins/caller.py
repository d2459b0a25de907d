"""The caller: plays the facts of a scenario's brief with whatever agent it meets.

It tells its reason sentence by sentence, says who it is when asked, agrees when asked to, does not remember what its
brief says it does not know, and says goodbye when the agent does. How far it has come is read from what it said itself;
the agent's words only steer by broad cues ("go ahead", "anything else"), so a misheard sentence cannot derail it. On
the voice channel it spells what is an identifier, and says again the line that has one when the agent missed it.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from bots.standins.aloud import aloud
from bots.standins.wire import ChatRequest, Reply
from scenarios.domains.base import CallerBrief

_FILLERS = (
    "Alright, thank you.",
    "I see, that makes sense.",
    "Okay, please go on.",
    "Good, thanks for checking.",
    "Yes, that sounds right to me.",
    "Okay, I understand.",
)
_GOODBYE = "Thank you very much for your help. Goodbye."
_NO_MORE = "No, that is everything. Thank you for your help."
_AGREE = "Yes, that is right. Please go ahead."
_REPEAT = re.compile(r"\b(repeat that|say that again|did not (catch|understand)|didn't (catch|understand))", re.I)
_NOT_CAUGHT = re.compile(r"\b(?:did not|didn't) catch the ([\w ]+)", re.I)
_GOODBYE_CUE = re.compile(r"\bgood ?bye\b", re.I)
_MORE_CUE = re.compile(r"\banything else\b", re.I)
_CONSENT_CUE = re.compile(
    r"\b(go ahead|confirm|proceed|shall i|should i|would you like me to|is that (right|correct))\b", re.I
)
_IDENTITY_CUE = re.compile(
    r"\b(your (full |last |first )?name|who am i speaking|zip|e-?mail|verify|identify|account)\b", re.I
)

# "You" of a brief becomes "I"; longer forms first.
_FIRST_PERSON = (
    (r"\byou are\b", "I am"),
    (r"\byou're\b", "I am"),
    (r"\byou were\b", "I was"),
    (r"\byou've\b", "I have"),
    (r"\byou'd\b", "I would"),
    (r"\byou'll\b", "I will"),
    (r"\byour name is\b|\byou name is\b", "my name is"),
    (r"\byou (?=mobile data\b)", "my "),
    (r"\byourself\b", "myself"),
    (r"\byours\b", "mine"),
    (r"\byour\b", "my"),
    (r"\b(to|for|with|from|give|gives|tell|tells|help|helps|asks|ask|charge|charged|on) you\b", r"\1 me"),
    (r"\byou\b", "I"),
)


@dataclass(frozen=True)
class Part:
    """What a caller has to say, in the first person."""

    opening: str
    reasons: tuple[str, ...]
    identity: str
    forgotten: str

    def aloud(self) -> "Part":
        """Return it as it is said on the telephone, identifiers spelled."""
        return Part(aloud(self.opening), tuple(map(aloud, self.reasons)), aloud(self.identity), self.forgotten)

    def about(self, words: str) -> str | None:
        """Return the line that spells an identifier and has most of some words; None when none has any of both."""
        wanted = set(words.lower().split())
        lines = [line for line in (self.opening, *self.reasons, self.identity) if aloud(line) != line]
        shared = [len(wanted & set(re.findall(r"\w+", line.lower()))) for line in lines]
        return lines[shared.index(max(shared))] if any(shared) else None


@lru_cache(maxsize=2048)
def part(brief: CallerBrief) -> Part:
    """Turn a brief's instructions into lines."""
    sentences = _sentences(first_person(brief.goal)) or ["I need some help, please."]
    identity = " ".join(_sentences(first_person(brief.known_info))) or "I would rather not say."
    forgotten = " ".join(_sentences(first_person(brief.unknown_info)))
    if not re.search(r"\bnot\b|\bno\b|n't", forgotten):
        forgotten = "I am sorry, I do not remember that."
    return Part(f"Hello. {sentences[0]}", tuple(sentences[1:]), identity, forgotten)


def first_person(text: str) -> str:
    """Return a brief's "You want your..." as "I want my...", without asides in brackets."""
    text = re.sub(r"\s*\([^)]*\)", "", text)
    for pattern, replacement in _FIRST_PERSON:
        text = re.sub(pattern, replacement, text, flags=re.I)
    return re.sub(r"(^|[.!?]\s+)([a-z])", lambda match: match[1] + match[2].upper(), text)


def reply(brief: CallerBrief, request: ChatRequest, *, spells: bool = False) -> Reply:
    """Return the caller's next line; ``spells``: on the voice channel, identifiers as they are spoken."""
    lines = part(brief)
    said = request.texts("assistant")
    heard = (request.texts("user") or [""])[-1]
    if not spells:
        return Reply(_line(lines, said, heard))
    missed = _NOT_CAUGHT.search(heard)
    again = lines.about(missed[1]) if missed else None
    return Reply(aloud(again) if again else _line(lines.aloud(), said, heard))


def _line(lines: Part, said: list[str], heard: str) -> str:
    if not said:
        return lines.opening
    if _REPEAT.search(heard):
        return said[-1]
    if _GOODBYE_CUE.search(heard):
        return _GOODBYE
    if _MORE_CUE.search(heard):
        return _NO_MORE
    if _CONSENT_CUE.search(heard):
        return _AGREE
    if _IDENTITY_CUE.search(heard) and "?" in heard:
        return lines.identity if lines.identity not in said else lines.forgotten
    for reason in lines.reasons:
        if reason not in said:
            return reason
    return _FILLERS[len(said) % len(_FILLERS)]


def _sentences(text: str) -> list[str]:
    parts = re.split(r"(?<=[.!?;])\s+", text.strip())
    return [part.strip(" ;") + ("" if part.strip(" ;")[-1] in ".!?" else ".") for part in parts if part.strip(" ;.")]
