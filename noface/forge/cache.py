"""Answers that are asked for again by their ETag: what is unchanged is not sent again, and costs none of the limit."""

import threading
from collections import OrderedDict

from noface.forge.limits import HttpReply

_CHARS_MAX = 64_000_000


class AnswerCache:
    """Keeps, by their URL, the answers asked for last as long as the process runs; losing one costs a request."""

    def __init__(self, chars_max: int = _CHARS_MAX) -> None:
        self._entries: OrderedDict[str, HttpReply] = OrderedDict()
        self._chars = 0
        self._chars_max = chars_max
        self._lock = threading.Lock()

    def find(self, url: str) -> HttpReply | None:
        with self._lock:
            known = self._entries.get(url)
            if known is not None:
                self._entries.move_to_end(url)
            return known

    def keep(self, url: str, answer: HttpReply) -> None:
        """Keep the newest answer of a URL, and let go of the one that was not asked for the longest."""
        with self._lock:
            before = self._entries.pop(url, None)
            self._entries[url] = answer
            self._chars += len(answer.body) - (len(before.body) if before is not None else 0)
            while self._chars > self._chars_max:
                self._chars -= len(self._entries.popitem(last=False)[1].body)
