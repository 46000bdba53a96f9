"""Shows a worker's log while it grows, until its attempt ends."""

import os
import time
from pathlib import Path

from noface.store.database import Database
from noface.views import page
from noface.views.glance import alive
from noface.views.text import clean_block

_POLL_S = 0.2
_BEGIN_BYTES = 16 * 1024
_READ_BYTES = 256 * 1024
_LINE_BYTES_MAX = 64 * 1024


def follow_log(database: Database, token: str, directory: Path) -> None:
    """Print the end of the attempt's log and what is added to it; return when the attempt has ended.

    Also returns, and says so, where the noface that runs it is gone.
    """
    path = directory / "agent.log"
    pending = b""
    position: int | None = None
    while True:
        ended = _ended(database, token)  # asked before reading: what was written until then is still shown
        position, data = _read(path, position)
        pending = _print_lines(pending + data, everything=bool(ended) and not data)
        if data:
            continue
        if ended:
            page.show([page.paint(f"── {ended}", "quiet")])
            return
        time.sleep(_POLL_S)


def _read(path: Path, position: int | None) -> tuple[int | None, bytes]:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            start = max(size - _BEGIN_BYTES, 0) if position is None else min(position, size)
            file.seek(start)
            data = file.read(_READ_BYTES)
            return start + len(data), data
    except OSError:
        return position, b""


def _print_lines(data: bytes, *, everything: bool) -> bytes:
    """Print the whole lines of `data` and return the rest, which may hold half of an escape sequence."""
    cut = len(data) if everything or len(data) > _LINE_BYTES_MAX else data.rfind(b"\n") + 1
    if cut:
        page.show(clean_block(data[:cut].decode("utf-8", "replace")).splitlines())
    return data[cut:]


def _ended(database: Database, token: str) -> str:
    """Say how the attempt ended, "" while it goes on."""
    rows = database.rows(
        "SELECT a.number, a.outcome, r.pid, r.ended_at FROM attempts a LEFT JOIN runs r ON r.id = a.run_id"
        " WHERE a.token = ?",
        token,
    )
    number, outcome, pid, run_ended = rows[0]
    if outcome is not None:
        return f"attempt {number} ended: {outcome}"
    if run_ended is not None or pid is None or not alive(pid):
        return f"attempt {number} was cut off, its noface is gone; `noface run` goes on where it was"
    return ""
