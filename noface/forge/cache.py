"""Answers that are asked for again by their ETag: what is unchanged is not sent again, and costs none of the limit."""

import threading
from collections import OrderedDict
from dataclasses import dataclass

_CHARS_MAX = 64_000_000


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer that is asked for again by its ETag: the body's text, and the page after it."""

    etag: str
    body: str
    next: str = ""


class AnswerCache:
    """Keeps, by their URL, the answers asked for last as long as the process runs; losing one costs a request."""

    def __init__(self, chars_max: int = _CHARS_MAX) -> None:
        self._entries: OrderedDict[str, CachedAnswer] = OrderedDict()
        self._chars = 0
        self._chars_max = chars_max
        self._lock = threading.Lock()

    def find(self, url: str) -> CachedAnswer | None:
        """Return what is kept of a URL."""
        with self._lock:
            known = self._entries.get(url)
            if known is not None:
                self._entries.move_to_end(url)
            return known

    def keep(self, url: str, answer: CachedAnswer) -> None:
        """Keep the newest answer of a URL, and let go of the one that was not asked for the longest."""
        with self._lock:
            before = self._entries.pop(url, None)
            self._entries[url] = answer
            self._chars += len(answer.body) - (len(before.body) if before is not None else 0)
            while self._chars > self._chars_max:
                self._chars -= len(self._entries.popitem(last=False)[1].body)
