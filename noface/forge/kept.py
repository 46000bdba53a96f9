"""Answers that are asked for again by their ETag: what is unchanged is not sent again, and costs none of the limit."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Protocol

_CHARS_MAX = 64_000_000


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer that is asked for again by its ETag: the body's text, and the page after it."""

    etag: str
    body: str
    next: str = ""


class Cache(Protocol):
    """Where answers are kept, by their URL. Losing one costs a request and nothing else."""

    def find(self, url: str) -> Kept | None:
        """Return what is kept of a URL."""

    def keep(self, url: str, kept: Kept) -> None:
        """Keep the newest answer of a URL."""


class MemoryCache:
    """Keeps the answers that were asked for last, for as long as the process runs."""

    def __init__(self, chars_max: int = _CHARS_MAX) -> None:
        self._entries: OrderedDict[str, Kept] = OrderedDict()
        self._chars = 0
        self._chars_max = chars_max
        self._lock = threading.Lock()

    def find(self, url: str) -> Kept | None:
        """Return what is kept of a URL."""
        with self._lock:
            kept = self._entries.get(url)
            if kept is not None:
                self._entries.move_to_end(url)
            return kept

    def keep(self, url: str, kept: Kept) -> None:
        """Keep the newest answer of a URL, and let go of the one that was not asked for the longest."""
        with self._lock:
            before = self._entries.pop(url, None)
            self._entries[url] = kept
            self._chars += len(kept.body) - (len(before.body) if before is not None else 0)
            while self._chars > self._chars_max:
                self._chars -= len(self._entries.popitem(last=False)[1].body)
