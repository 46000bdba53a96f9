"""What a run of Codex has used before its turn is complete: read from the log that it keeps of the thread (0.169.0).

`codex exec --json` tells tokens in `turn.completed` alone, so a turn that fails or is cut off tells none. Codex's own
log, CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl, has a `token_usage_record` as soon as an answer of
the model has come, and a `token_count` after its tools have run; both count the whole thread. Nothing else is taken
from it. The worker could write there as well: what it says is looked at, never trusted with more than its own bill.
"""

import json
import os
import re
import stat
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from noface.agents.typed import table, total
from noface.core.worker_run import Usage

_EVERY_S = 1.0
_TAIL_BYTES = 1 << 20
_FILES_MAX = 20_000
_THREAD = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TELLING = ('"token_usage_record"', '"token_count"')
_TIMED = "7"
"""The version of a UUID that begins with its time, in milliseconds."""


class Rollout:
    """The newest token count in the log of one thread; the log is looked at once a second at most.

    `env` is Codex's environment; without a home in it there is nothing to look at.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        home = env.get("CODEX_HOME") or (f"{env['HOME']}/.codex" if env.get("HOME") else "")
        self._sessions = Path(home, "sessions") if home.startswith("/") else None
        self._path: Path | None = None
        self._size = 0
        self._look_from = 0.0
        self._usage = Usage()

    def used(self, thread: str | None, *, at_once: bool = False) -> Usage:
        """Return what the thread has used, nothing where that is not told. `at_once`: as it is at this moment."""
        now = time.monotonic()
        if self._sessions is None or thread is None or not _THREAD.fullmatch(thread):
            return self._usage
        if at_once or now >= self._look_from:
            self._look_from = now + _EVERY_S
            try:
                self._path = self._path or _found(self._sessions, thread)
                if self._path is not None:
                    self._look(self._path, thread)
            except OSError:
                pass  # it is Codex's file: it may move it, or keep none
        return self._usage

    def _look(self, path: Path, thread: str) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size == self._size:
                return
            self._size = status.st_size
            start = max(status.st_size - _TAIL_BYTES, 0)
            lines = os.pread(descriptor, _TAIL_BYTES, start).decode("utf-8", "replace").split("\n")
        finally:
            os.close(descriptor)
        told = (_counted(line, thread) for line in reversed(lines[1 if start else 0 :]))
        self._usage = next((usage for usage in told if usage is not None), self._usage)


def _counted(line: str, thread: str) -> Usage | None:
    """Return what a line says that the thread has used."""
    if not any(word in line for word in _TELLING):
        return None
    try:
        entry = table(json.loads(line))
    except (ValueError, RecursionError):
        return None
    payload = table(entry.get("payload"))
    match entry.get("type"), payload.get("type"):
        case "token_usage_record", _ if payload.get("thread_id") == thread:
            return usage_of(table(payload.get("thread_token_usage")))
        case "event_msg", "token_count":
            return usage_of(table(table(payload.get("info")).get("total_token_usage")))
        case _:
            return None


def usage_of(counts: dict[str, Any]) -> Usage | None:
    """Return a usage from Codex's counts, None where there are none."""
    read, written = total(counts.get("input_tokens")), total(counts.get("output_tokens"))
    if read is None and written is None:
        return None
    return Usage(tokens_in=read, tokens_out=written, tokens_cached=total(counts.get("cached_input_tokens")))


def _found(sessions: Path, thread: str) -> Path | None:
    """Return the thread's log, looked for in the folders of the day it began on and of those beside it."""
    for day in _days(thread):
        try:
            with os.scandir(sessions / day) as entries:
                for entry in islice(entries, _FILES_MAX):
                    if entry.name.startswith("rollout-") and entry.name.endswith(f"-{thread}.jsonl"):
                        return Path(entry.path)
        except FileNotFoundError:
            continue
    return None


def _days(thread: str) -> Iterator[str]:
    """Yield the folders by their dates; Codex takes them in its own time zone, so the neighbours count."""
    milliseconds = int(thread[:8] + thread[9:13], 16)
    try:
        began = datetime.fromtimestamp(milliseconds / 1000, UTC) if thread[14] == _TIMED else datetime.now(UTC)
        for days in (0, -1, 1):
            yield f"{began + timedelta(days=days):%Y/%m/%d}"
    except (ValueError, OverflowError, OSError):
        return  # no day that a calendar has
