"""Files of any storage over HTTP, whole or by range (RFC 9110, 14): what a browser needs to seek in a recording."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import IO

from django.core.files.storage import default_storage
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotModified, StreamingHttpResponse

BLOCK = 64 * 1024
# No file is longer than 18 digits, and Python refuses to read a number of thousands of them.
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})\Z", re.ASCII)


class Unsatisfiable(ValueError):
    """The range lies outside the file."""


@dataclass(frozen=True)
class Part:
    """Bytes ``first`` to ``last``, both included."""

    first: int
    last: int

    @property
    def length(self) -> int:
        """Return how many bytes it has."""
        return self.last - self.first + 1


def wanted(header: str, size: int) -> Part | None:
    """Return what a ``Range`` header asks for; None for the whole file. Raises Unsatisfiable.

    Several ranges at once, other units and nonsense are answered with the whole file, as the standard allows.
    """
    match = _RANGE.match(header.strip())
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        count = min(int(match[2]), size)
        if not count:
            raise Unsatisfiable(header)
        return Part(size - count, size - 1)
    first = int(match[1])
    last = min(int(match[2]), size - 1) if match[2] else size - 1
    if first >= size:
        raise Unsatisfiable(header)
    return Part(first, last) if last >= first else None


def serve(request: HttpRequest, name: str, media_type: str, *, is_growing: bool = False) -> HttpResponseBase:
    """Return a stored file as the request wants it. A growing one is served as far as it is, and never kept."""
    size = default_storage.size(name)
    tag = etag(name, size)
    headers = {
        "Accept-Ranges": "bytes",
        "ETag": tag,
        "Cache-Control": "private, no-store" if is_growing else "private, no-cache",
        "X-Content-Type-Options": "nosniff",
    }
    if _names(request.headers.get("If-None-Match", ""), tag):
        return HttpResponseNotModified(headers=headers)
    header = request.headers.get("Range", "")
    if request.headers.get("If-Range", tag) != tag:
        header = ""
    try:
        part = wanted(header, size)
    except Unsatisfiable:
        return HttpResponse(status=416, headers={**headers, "Content-Range": f"bytes */{size}"})
    if part is not None:
        headers["Content-Range"] = f"bytes {part.first}-{part.last}/{size}"
    status = 200 if part is None else 206
    part = part or Part(0, size - 1)
    headers["Content-Length"] = str(part.length)
    if request.method == "HEAD":
        return HttpResponse(status=status, content_type=media_type, headers=headers)
    file = default_storage.open(name)
    # Under ASGI an ordinary iterator would be read into memory whole before the first byte is sent.
    content = _later(file, part) if isinstance(request, ASGIRequest) else _now(file, part)
    return StreamingHttpResponse(content, status=status, content_type=media_type, headers=headers)


def etag(name: str, size: int) -> str:
    """Return a strong tag of a file's content as far as a storage tells it: name, size, and when it was changed."""
    try:
        changed = default_storage.get_modified_time(name).isoformat()
    except NotImplementedError:
        changed = ""
    return f'"{hashlib.sha256(f"{name} {size} {changed}".encode()).hexdigest()[:32]}"'


def _names(header: str, tag: str) -> bool:
    return any(one.strip().removeprefix("W/") in (tag, "*") for one in header.split(","))


def _now(file: IO[bytes], part: Part) -> Iterator[bytes]:
    with file:
        file.seek(part.first)
        left = part.length
        while left and (block := file.read(min(BLOCK, left))):
            left -= len(block)
            yield block


async def _later(file: IO[bytes], part: Part) -> AsyncIterator[bytes]:
    blocks = _now(file, part)
    try:
        while block := await asyncio.to_thread(next, blocks, b""):
            yield block
    finally:
        await asyncio.to_thread(file.close)
