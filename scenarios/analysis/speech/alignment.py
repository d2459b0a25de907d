"""Two lists of words set against each other with the fewest edits (Levenshtein; the library is rapidfuzz)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from rapidfuzz.distance import Levenshtein

Op = Literal["equal", "replace", "insert", "delete"]


@dataclass(frozen=True)
class Block:
    """A stretch of said words ``[said_from, said_to)`` against heard words ``[heard_from, heard_to)``."""

    op: Op
    said_from: int
    said_to: int
    heard_from: int
    heard_to: int


def align(said: Sequence[str], heard: Sequence[str]) -> list[Block]:
    """Return blocks that cover both lists in order, equal ones and others in turn.

    Words that were only run together or taken apart ("e mail", "email") are equal: nothing else was heard.
    """
    blocks: list[Block] = []
    for edit in Levenshtein.opcodes(said, heard):
        block = Block(cast(Op, edit.tag), edit.src_start, edit.src_end, edit.dest_start, edit.dest_end)
        if blocks and block.op != "equal" and blocks[-1].op != "equal":
            block = _joined(blocks.pop(), block)
        blocks.append(block)
    return _merged([_respaced(block, said, heard) for block in blocks])


def _joined(first: Block, second: Block) -> Block:
    op: Op = first.op if first.op == second.op else "replace"
    return Block(op, first.said_from, second.said_to, first.heard_from, second.heard_to)


def _respaced(block: Block, said: Sequence[str], heard: Sequence[str]) -> Block:
    ours = "".join(said[block.said_from : block.said_to])
    theirs = "".join(heard[block.heard_from : block.heard_to])
    if block.op == "equal" or ours != theirs:
        return block
    return Block("equal", block.said_from, block.said_to, block.heard_from, block.heard_to)


def _merged(blocks: Sequence[Block]) -> list[Block]:
    merged: list[Block] = []
    for block in blocks:
        if merged and merged[-1].op == block.op == "equal":
            block = _joined(merged.pop(), block)
        merged.append(block)
    return merged
