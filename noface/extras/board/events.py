"""Server-sent events: they tell that something has changed, by ids only. The page is fetched again.

So a lost event loses nothing, and no word of an agent's travels in one.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from os import stat_result
from pathlib import Path
from typing import NamedTuple

from noface.errors import NofaceError
from noface.extras.board.deciding import Open

_LOOK_S = 1.0
_LOGS_EVERY = 4
_IDS_MAX = 200
_STREAMS_MAX = 30
_WAITING_MAX = 50


class Seen(NamedTuple):
    """What a look saw: how the database's files stood, the newest event, the issues of those since the look before."""

    files: tuple[tuple[int, int], ...] = ()
    event: int = 0
    ids: tuple[str, ...] = ()
    under_way: tuple[str, ...] = ()
    log_bytes: int = 0


InThread = Callable[[Callable[[], Seen]], Awaitable[Seen]]
Sent = dict[str, str]


class Watcher:
    """Looks at the state for all streams together, while there is a stream; `folder` is where the database lies."""

    def __init__(self, open_state: Open, folder: Path, in_thread: InThread) -> None:
        self._open_state = open_state
        self._files = (folder / "state.db", folder / "state.db-wal")
        self._in_thread = in_thread
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
            if seen.files != before.files:
                self._tell("changed", seen.ids)
            elif looks % _LOGS_EVERY == 0 and seen.log_bytes != logged:
                logged = seen.log_bytes
                self._tell("grown", ())

    async def _look(self, before: Seen) -> Seen:
        return await self._in_thread(lambda: self._look_now(before))

    def _look_now(self, before: Seen) -> Seen:
        """Look at what has changed. What is told of issues is read on a connection that is closed again.

        One that stayed open would lose its locks as soon as a page opens the file: whoever closes a file gives up all
        locks of its process on it, and the run would then take itself for the last and remove the log under it
        (https://www.sqlite.org/howtocorrupt.html, 2.2).
        """
        files = tuple((known.st_mtime_ns, known.st_size) for known in map(_stat, self._files) if known is not None)
        if files == before.files:
            return before._replace(log_bytes=_bytes_of(before.under_way))
        try:
            with self._open_state() as state:
                ids = state.reader.issues_since(before.event)[:_IDS_MAX] if before.files else ()
                attempts = state.reader.newest_attempts().values()
                under_way = tuple(each.directory for each in attempts if each.outcome is None)
                return Seen(files, state.reader.newest_event(), ids, under_way, _bytes_of(under_way))
        except NofaceError:  # the page that is fetched says what is wrong
            return before._replace(files=files)

    def _tell(self, kind: str, ids: tuple[str, ...]) -> None:
        for queue in self._streams:
            if not queue.full():
                queue.put_nowait({"event": kind, "data": json.dumps({"ids": ids})})


def _bytes_of(folders: tuple[str, ...]) -> int:
    logs = (Path(folder, name) for folder in folders for name in ("agent.log", "agent.err"))
    return sum(known.st_size for known in map(_stat, logs) if known is not None)


def _stat(path: Path) -> stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None
