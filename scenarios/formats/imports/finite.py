"""JSON as Python writes it: NaN and Infinity, which JSON does not have, are read as null, and counted."""

import re
from collections.abc import Iterable, Iterator

_NOT_FINITE = re.compile(rb"-?Infinity|NaN")
# The beginning of such a number, where a piece of the text cuts it in two.
_CUT = re.compile(rb"(?<![A-Za-z\-])(?:-|-?I(?:n(?:f(?:i(?:n(?:it?)?)?)?)?)?|Na?)\Z")


class FiniteNumbers:
    """Passes JSON text on with every NaN and Infinity outside of texts replaced; ``replaced`` counts them."""

    def __init__(self) -> None:
        self.replaced = 0
        self._in_text = False
        self._held = b""

    def __call__(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the text in pieces of about the same sizes."""
        for block in blocks:
            if piece := self._piece(self._held + block):
                yield piece
        if self._held:
            yield self._replace(self._held)

    def _piece(self, text: bytes) -> bytes:
        # A backslash at the end belongs to what follows.
        tail = len(text) - len(text.rstrip(b"\\"))
        end = len(text) - tail % 2
        # Of the same length, with every quote that does not end a text masked.
        masked = text[:end].replace(b"\\\\", b"__").replace(b'\\"', b"__")
        quotes = masked.count(b'"')
        ends_in_text = self._in_text ^ (quotes % 2 == 1)
        if not ends_in_text and (cut := _CUT.search(masked)):
            end = cut.start()
        piece, masked, self._held = text[:end], masked[:end], text[end:]
        if b"NaN" in piece or b"Infinity" in piece:
            piece = self._outside_texts(piece, masked)
        self._in_text = ends_in_text
        return piece

    def _outside_texts(self, piece: bytes, masked: bytes) -> bytes:
        parts, start = [], 0
        is_text = self._in_text
        for part in masked.split(b'"'):
            own = piece[start : start + len(part)]
            parts.append(own if is_text else self._replace(own))
            start += len(part) + 1
            is_text = not is_text
        return b'"'.join(parts)

    def _replace(self, text: bytes) -> bytes:
        replaced, count = _NOT_FINITE.subn(b"null", text)
        self.replaced += count
        return replaced
