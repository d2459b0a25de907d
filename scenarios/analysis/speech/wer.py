"""Word error rate: how much of what one side said the other side's recogniser got wrong.

Rate = (substitutions + insertions + deletions) / words said, so it can exceed 1. Rates of several turns are pooled by
words, never averaged. A turn whose ``heard`` is None was not transcribed: it is counted as not measured.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from scenarios.analysis.intervals import Interval, Z, wilson
from scenarios.analysis.speech.alignment import align
from scenarios.analysis.speech.normalize import plain_words
from scenarios.scoring.evidence import Turn


@dataclass(frozen=True)
class WordErrors:
    """Counts of one turn or of many. ``words`` were said and could be heard; ``unheard`` were never played out."""

    words: int = 0
    substitutions: int = 0
    insertions: int = 0
    deletions: int = 0
    unheard: int = 0  # the rest of turns that were interrupted: no error of the recogniser
    turns: int = 0  # measured
    not_measured: int = 0  # turns without a transcript

    def __add__(self, other: Self) -> Self:
        """Return the counts of both together."""
        return type(self)(
            self.words + other.words,
            self.substitutions + other.substitutions,
            self.insertions + other.insertions,
            self.deletions + other.deletions,
            self.unheard + other.unheard,
            self.turns + other.turns,
            self.not_measured + other.not_measured,
        )

    @property
    def errors(self) -> int:
        """Return all errors."""
        return self.substitutions + self.insertions + self.deletions

    @property
    def rate(self) -> float | None:
        """Return errors per word said; None over no words."""
        return self.errors / self.words if self.words else None


def compare(said: str, heard: str, *, is_interrupted: bool = False) -> WordErrors:
    """Return the errors of one transcript; of an interrupted turn the unheard end is no error."""
    ours, theirs = plain_words(said), plain_words(heard)
    blocks = align(ours, theirs)
    unheard = 0
    if is_interrupted and blocks and blocks[-1].op == "delete":
        last = blocks.pop()
        unheard = last.said_to - last.said_from
    substitutions = insertions = deletions = 0
    for block in blocks:
        if block.op == "equal":
            continue
        lost, found = block.said_to - block.said_from, block.heard_to - block.heard_from
        substitutions += min(lost, found)
        deletions += max(0, lost - found)
        insertions += max(0, found - lost)
    return WordErrors(len(ours) - unheard, substitutions, insertions, deletions, unheard, turns=1)


def of_turn(turn: Turn) -> WordErrors:
    """Return the errors of one turn; nothing at all for a blank one."""
    if turn.heard is None:
        return WordErrors() if turn.is_blank else WordErrors(not_measured=1)
    if turn.is_blank and not turn.heard.strip():
        return WordErrors()
    return compare(turn.said, turn.heard, is_interrupted=turn.interrupted)


def pooled(parts: Iterable[WordErrors]) -> WordErrors:
    """Return the counts of all parts (turns of a call, calls of a run) together."""
    return sum(parts, WordErrors())


def interval(parts: Sequence[WordErrors]) -> Interval | None:
    """Return the 95 % interval of a pooled rate; None below two parts with words.

    ``parts`` are what varies independently: the calls of a run, or the turns of a call. Ratio estimator with its
    linearised variance (Cochran 1977, 6.4). Without a single error that variance is 0, which nobody should believe:
    then it is Wilson's interval over the words.
    """
    measured = [part for part in parts if part.words]
    together = pooled(measured)
    if len(measured) < 2 or together.rate is None:
        return None
    if not together.errors:
        return wilson(0, together.words, "Wilson over words")
    squares = sum((part.errors - together.rate * part.words) ** 2 for part in measured)
    spread = Z * math.sqrt(squares * len(measured) / (len(measured) - 1)) / together.words
    return Interval(max(0.0, together.rate - spread), together.rate + spread, "ratio of sums")
