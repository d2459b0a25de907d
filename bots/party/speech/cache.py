"""Speech that was made before, by text, voice and rate."""

import threading
from collections import OrderedDict
from collections.abc import Hashable


class SpeechCache:
    """The most recently used speech, up to so many bytes of it. Threads may share it."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[Hashable, bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> bytes | None:
        """Return the speech kept under a key."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def put(self, key: Hashable, speech: bytes) -> None:
        """Keep speech, dropping what was not used for longest; one that is too large alone is not kept."""
        if len(speech) > self._max_bytes:
            return
        with self._lock:
            self._size += len(speech) - len(self._entries.pop(key, b""))
            self._entries[key] = speech
            while self._size > self._max_bytes:
                _, dropped = self._entries.popitem(last=False)
                self._size -= len(dropped)
