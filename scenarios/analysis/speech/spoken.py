"""Spoken identifiers as characters: what is spelled in an utterance, and whether a known identifier stands in it.

"W as in whisky, double seven, oh" is ``W770``. With the identifier at hand the question is easier and sharper: of all
that the words can stand for, which reading comes nearest to it, and by how many characters does it differ?
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from scenarios.analysis.speech.readings import Spoken, spoken_words

# A reading that differs in more of its characters is not an attempt at the identifier.
_MAX_WRONG = 0.4
# So many characters too many are a slip; an identifier of no more than so many characters may stand in a longer one.
_NEIGHBOURS, _SHORT = 3, 5


@dataclass(frozen=True)
class Reading:
    """The stretch of an utterance nearest to an identifier. ``text`` is what it reads as, in compact form."""

    text: str
    distance: int  # characters added, lost or changed; 0: said as it is
    words: str  # as they were said

    @property
    def is_exact(self) -> bool:
        """Return whether the identifier was said as it is."""
        return self.distance == 0


def compact(text: str) -> str:
    """Return an identifier in the form in which the same one is the same: lower case, letters and digits only."""
    return "".join(character for character in text.casefold() if character.isalnum())


def spelled(text: str) -> list[str]:
    """Return the runs of two or more characters that are spelled in an utterance, letters in upper case.

    >>> spelled("It is B as in bravo, one two, K, D.")
    ['B12KD']
    """
    runs: list[str] = []
    run = ""
    for word in [*spoken_words(text), None]:
        if word is not None and word.is_character and not (word.plain in {",", "."} and not run):
            run += word.plain
            continue
        if word is not None and run and word.skip_cost == 0.0:
            continue
        if len(compact(run)) > 1:
            runs.append(run.strip(".-").upper())
        run = ""
    return runs


def find(utterance: str, identifier: str) -> Reading | None:
    """Return the stretch of an utterance that comes nearest to an identifier; None when nothing attempts it.

    An exact reading is found whichever way it is said; a wrong one differs in at most two characters in five.
    """
    target = compact(identifier)
    if not target:
        raise ValueError(f"{identifier!r} has no letters or digits to look for")
    return _find(utterance, target)


@lru_cache(maxsize=4096)
def _find(utterance: str, target: str) -> Reading | None:
    words = _words(utterance)
    if not _may_hold(words, target):
        return None
    best = _search(words, target)
    if best is None or best.cost > _MAX_WRONG * len(target):
        return None
    said = " ".join(word.text for word in words[best.start : best.end])
    return Reading(best.text, round(best.cost), said)


@lru_cache(maxsize=1024)
def _words(utterance: str) -> tuple[Spoken, ...]:
    return tuple(spoken_words(utterance))


def _may_hold(words: Iterable[Spoken], target: str) -> bool:
    """Return whether the words can cover half of an identifier at all; spares the search of most turns."""
    covered = sum(
        max((len(reading) for reading in word.readings if reading and reading in target), default=0) for word in words
    )
    return covered * 2 >= len(target) or any(
        target in word.text or word.text in target for word in words if len(word.text) > 3
    )


@dataclass(frozen=True)
class _Path:
    """The cheapest way to have read some of the target: its cost, the characters read, words ``[start, end)``."""

    cost: float
    text: str
    start: int
    end: int

    def rank(self) -> tuple[float, int, int]:
        """Return what makes a path better: fewer errors, then more characters that were read, then a later start."""
        return self.cost, -len(self.text), -self.start


def _search(words: tuple[Spoken, ...], target: str) -> _Path | None:
    """Return the best path over all stretches of words: edit distance between their readings and the target."""
    size = len(target)
    column: list[_Path | None] = [None] * (size + 1)
    best: _Path | None = None
    for index, word in enumerate(words):
        fresh = list(column)
        fresh[0] = _Path(0.0, "", index, index)
        reached: list[_Path | None] = [None] * (size + 1)
        for reading in word.readings:
            _advance(fresh, reading, target, index, reached)
        for place, path in enumerate(column):  # passed over in the middle
            if path is not None and 0 < place < size:
                _keep(reached, place, _Path(path.cost + word.skip_cost, path.text, path.start, path.end))
        column = reached
        if (last := column[size]) is not None:
            last = _with_neighbours(words, last, size)
            best = last if best is None or last.rank() < best.rank() else best
    return best


def _with_neighbours(words: tuple[Spoken, ...], path: _Path, size: int) -> _Path:
    """Return a path with the characters that adjoin it: a digit too many makes another identifier.

    Many of them are rather a second identifier beside a long one; a short one is then only a part of something.
    """
    end = path.end
    while end < len(words) and _adjoins(words[end]) and _adjoins(words[end - 1]):
        end += 1
    start = path.start
    while start > 0 and _adjoins(words[start - 1]) and _adjoins(words[start]):
        start -= 1
    before = "".join(compact(word.plain) for word in words[start : path.start])
    after = "".join(compact(word.plain) for word in words[path.end : end])
    extra = len(before) + len(after)
    if not extra or (extra > _NEIGHBOURS and size > _SHORT):
        return path
    return _Path(path.cost + extra, before + path.text + after, start, end)


def _adjoins(word: Spoken) -> bool:
    return word.is_character and 1 <= len(compact(word.plain)) <= 3 and word.text not in {"a", "i"}


def _advance(column: list[_Path | None], reading: str, target: str, index: int, reached: list[_Path | None]) -> None:
    """Read one word as ``reading`` from every place of the target that was reached, and keep what is better."""
    row = column
    for character in reading:
        after: list[_Path | None] = [None] * len(row)
        for place, path in enumerate(row):
            if path is None:
                continue
            text = path.text + character
            _keep(after, place, _Path(path.cost + 1, text, path.start, path.end))
            if place < len(target):
                cost = path.cost + (character != target[place])
                _keep(after, place + 1, _Path(cost, text, path.start, path.end))
        _lose(after)
        row = after
    for place, path in enumerate(row):
        if path is not None and (reading or path.start < index):
            _keep(reached, place, _Path(path.cost, path.text, path.start, index + 1))


def _lose(row: list[_Path | None]) -> None:
    """Let characters of the target be missing, at a cost of one each."""
    for place in range(1, len(row)):
        before = row[place - 1]
        if before is not None:
            _keep(row, place, _Path(before.cost + 1, before.text, before.start, before.end))


def _keep(row: list[_Path | None], place: int, path: _Path) -> None:
    present = row[place]
    if present is None or path.rank() < present.rank():
        row[place] = path
