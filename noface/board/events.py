"""Server-sent events: they tell that something has changed, by ids only. The page is fetched again.

So a lost event loses nothing, and no word of an agent's travels in one.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from noface.board.state import Open, OpenState
from noface.errors import NofaceError

_LOOK_S = 1.0
_LOGS_EVERY = 4
_IDS_MAX = 200
_STREAMS_MAX = 30
_WAITING_MAX = 50


class Seen(NamedTuple):
    """What a look saw: the newest event, the issues of those since the look before, and how long the logs are."""

    mark: tuple[int, ...] = ()
    event: int = 0
    ids: tuple[str, ...] = ()
    under_way: tuple[str, ...] = ()
    log_bytes: int = 0


InThread = Callable[[Callable[[], Seen]], Awaitable[Seen]]
Sent = dict[str, str]


class Watcher:
    """Looks at the state for all streams together, on a connection of its own, while there is a stream."""

    def __init__(self, open_state: Open, in_thread: InThread) -> None:
        self._open_state = open_state
        self._in_thread = in_thread
        self._opened = ExitStack()
        self._state: OpenState | None = None
        self._streams: set[asyncio.Queue[Sent]] = set()
        self._task: asyncio.Task[None] | None = None

    async def stream(self, stays: Callable[[], bool]) -> AsyncIterator[Sent]:
        """Yield the events of one page, for as long as its session stays."""
        queue: asyncio.Queue[Sent] = asyncio.Queue(_WAITING_MAX)
        if len(self._streams) >= _STREAMS_MAX:
            return
        self._streams.add(queue)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch())
        try:
            while stays():
                try:
                    yield await asyncio.wait_for(queue.get(), _LOOK_S)
                except TimeoutError:
                    continue
        finally:
            self._streams.discard(queue)

    async def _watch(self) -> None:
        seen, looks = await self._look(Seen()), 0
        logged = seen.log_bytes
        while self._streams:
            await asyncio.sleep(_LOOK_S)
            before, seen, looks = seen, await self._look(seen), looks + 1
            if seen.mark != before.mark:
                self._tell("changed", seen.ids)
            elif looks % _LOGS_EVERY == 0 and seen.log_bytes != logged:
                logged = seen.log_bytes
                self._tell("grown", ())

    async def _look(self, before: Seen) -> Seen:
        return await self._in_thread(lambda: self._look_now(before))

    def _look_now(self, before: Seen) -> Seen:
        try:
            reader = self._fresh().reader
            mark = reader.mark()
            if mark == before.mark:
                return before._replace(log_bytes=_bytes_of(before.under_way))
            attempts = reader.newest_attempts().values()
            under_way = tuple(each.directory for each in attempts if each.outcome is None)
            ids = reader.issues_since(before.event)[:_IDS_MAX] if before.mark else ()
            return Seen(mark, reader.newest_event(), ids, under_way, _bytes_of(under_way))
        except NofaceError:  # the page that is fetched says what is wrong
            self._opened.close()
            self._state = None
            return before._replace(mark=())

    def _fresh(self) -> OpenState:
        """Return the state, opened anew where another file has taken the place of the one before."""
        if self._state is None or not self._state.exists or not self._state.reader.in_place():
            self._opened.close()
            self._state = self._opened.enter_context(self._open_state())
        return self._state

    def _tell(self, kind: str, ids: tuple[str, ...]) -> None:
        for queue in self._streams:
            if not queue.full():
                queue.put_nowait({"event": kind, "data": json.dumps({"ids": ids})})


def _bytes_of(folders: tuple[str, ...]) -> int:
    total = 0
    for folder in folders:
        for path in (Path(folder, "agent.log"), Path(folder, "agent.err")):
            try:
                total += path.stat().st_size
            except OSError:
                continue
    return total
