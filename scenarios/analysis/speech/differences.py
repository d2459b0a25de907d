"""Said and heard side by side for a page: the writer's own words, marked where another word was heard."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scenarios.analysis.speech.alignment import Block, Op, align
from scenarios.analysis.speech.normalize import Word, pieces, words


@dataclass(frozen=True)
class Difference:
    """A stretch of a turn: ``said`` and ``heard`` as they are written, one of them "" where nothing stands there."""

    op: Op
    said: str
    heard: str


def differences(said: str, heard: str) -> list[Difference]:
    """Return stretches that cover both texts in order; spelling, case and punctuation alone make no difference."""
    ours, theirs = words(said), words(heard)
    blocks = align([word.text for word in ours], [word.text for word in theirs])
    if not blocks:  # neither has a word that counts
        return [Difference("equal", said, heard)] if said.strip() or heard.strip() else []
    left, right = pieces(said), pieces(heard)
    spans = _whole_pieces(blocks, ours, theirs)
    said_ends = [*(span[1] for span in spans[1:]), len(left)]
    heard_ends = [*(span[2] for span in spans[1:]), len(right)]
    starts = [(0, 0), *zip(said_ends, heard_ends, strict=True)]
    return [
        Difference(span[0], " ".join(left[start[0] : said_end]), " ".join(right[start[1] : heard_end]))
        for span, start, said_end, heard_end in zip(spans, starts, said_ends, heard_ends, strict=False)
    ]


def _whole_pieces(blocks: Sequence[Block], ours: Sequence[Word], theirs: Sequence[Word]) -> list[tuple[Op, int, int]]:
    """Return (op, first piece said, first piece heard) of each block; blocks that share a piece are one."""
    spans: list[tuple[Op, int, int]] = []
    said_end = heard_end = 0
    for block in _word_by_word(blocks):
        said_from = ours[block.said_from].first if block.said_from < block.said_to else said_end
        heard_from = theirs[block.heard_from].first if block.heard_from < block.heard_to else heard_end
        if spans and (said_from < said_end or heard_from < heard_end):
            op = spans[-1][0] if spans[-1][0] == block.op else "replace"
            spans[-1] = (op, *spans[-1][1:])
        else:
            spans.append((block.op, said_from, heard_from))
        if block.said_from < block.said_to:
            said_end = max(said_end, ours[block.said_to - 1].last + 1)
        if block.heard_from < block.heard_to:
            heard_end = max(heard_end, theirs[block.heard_to - 1].last + 1)
    return [span for index, span in enumerate(spans) if not index or not span[0] == spans[index - 1][0] == "equal"]


def _word_by_word(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield blocks of pairs one pair at a time, so that a wrong word marks no more than the piece it shares."""
    for block in blocks:
        length = block.said_to - block.said_from
        if length != block.heard_to - block.heard_from:
            yield block
            continue
        for step in range(length):
            said, heard = block.said_from + step, block.heard_from + step
            yield Block(block.op, said, said + 1, heard, heard + 1)
