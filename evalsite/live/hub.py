"""The tailer: one thread a web process that reads what is new and hands it to the sockets that watch.

It starts with the first viewer and sleeps, without a database connection, when the last one has left.
"""

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from django.db import connections

log = logging.getLogger(__name__)

TICK_S = 0.05
# After a failed read (database down or locked): long enough not to fill the log, short enough not to be felt.
BACK_OFF_S = 1.0
# Rows that a socket may have been sent without confirming them; beyond that it waits for the page to catch up.
WINDOW = 1_000


class Viewer:
    """One socket's place in one feed: what it watches, what it was sent, what its page has confirmed.

    Made on the socket's event loop; afterwards the tailer writes ``sent`` and the feeds' own notes, the socket
    ``confirmed``.
    """

    def __init__(self, feed: str, subject: int, after: int = 0, known: Mapping[int, str] | None = None) -> None:
        self.feed = feed
        self.subject = subject
        self.sent = self.confirmed = after
        # Keys that the page shows, with the state it shows them in.
        self.known = dict(known or {})
        # What the feed told this viewer last, so that it says it once.
        self.told: Any = None
        self.queue: asyncio.Queue[str] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()

    @property
    def is_full(self) -> bool:
        """Return whether the page has to confirm rows before it gets more."""
        return self.sent - self.confirmed >= WINDOW

    def push(self, text: str) -> None:
        """Queue a message for the socket; called by the tailer."""
        try:
            self._loop.call_soon_threadsafe(self.queue.put_nowait, text)
        except RuntimeError:  # the socket's loop is closed: the process is stopping
            log.debug("a viewer's event loop is closed")


class Feed(Protocol):
    """One kind of thing to watch."""

    period_s: float

    def poll(self, viewers: Sequence[Viewer]) -> None:
        """Read what is new for these viewers and push it to them."""


def message(kind: str, **content: Any) -> str:
    """Return a message to a page as JSON text."""
    return json.dumps({"type": kind, **content}, separators=(",", ":"))


class Hub:
    """The viewers of one process and the thread that serves them."""

    def __init__(self, feeds: Callable[[], Mapping[str, Feed]]) -> None:
        self._make_feeds = feeds
        self._viewers: set[Viewer] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_stopping = False

    @property
    def is_asleep(self) -> bool:
        """Return whether nobody watches."""
        return not self._viewers

    def watch(self, viewer: Viewer) -> None:
        """Serve a viewer from now on, beginning with what it has not seen."""
        with self._changed:
            self._viewers.add(viewer)
            if self._thread is None or not self._thread.is_alive():
                self._is_stopping = False
                self._thread = threading.Thread(target=self._tail, name="live-tailer", daemon=True)
                self._thread.start()
            self._changed.notify()

    def leave(self, viewer: Viewer) -> None:
        """Serve a viewer no longer; safe to repeat."""
        with self._changed:
            self._viewers.discard(viewer)
            self._changed.notify()

    def stop(self) -> None:
        """End the thread and wait for it; the next viewer starts another."""
        with self._changed:
            self._viewers.clear()
            self._is_stopping = True
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _tail(self) -> None:
        feeds = self._make_feeds()
        due = dict.fromkeys(feeds, 0.0)
        while True:
            with self._changed:
                if not self._viewers:
                    connections.close_all()
                    # Nobody watches: what the feeds remember is stale by the time somebody does.
                    feeds, due = self._make_feeds(), dict.fromkeys(due, 0.0)
                    self._changed.wait_for(lambda: self._viewers or self._is_stopping)
                if self._is_stopping:
                    return
                viewers = list(self._viewers)
            started = time.monotonic()
            try:
                _poll(feeds, due, viewers)
            except Exception:  # whatever the database says: the tailer outlives it
                log.exception("the live tailer could not read; it tries again in %s s", BACK_OFF_S)
                connections.close_all()
                time.sleep(BACK_OFF_S)
            time.sleep(max(0.0, TICK_S - (time.monotonic() - started)))


def _poll(feeds: Mapping[str, Feed], due: dict[str, float], viewers: Sequence[Viewer]) -> None:
    for name, feed in feeds.items():
        watching = [viewer for viewer in viewers if viewer.feed == name]
        now = time.monotonic()
        if watching and now >= due[name]:
            feed.poll(watching)
            due[name] = now + feed.period_s
