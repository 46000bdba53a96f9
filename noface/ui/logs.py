"""The files of an attempt, and what an agent wrote, as lines for people: a stream of JSON is translated."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from noface.agents.base import AgentEvent, EventKind, StreamReader
from noface.model.quoting import printable_lines
from noface.model.scratch import REMOVED_FILE
from noface.process.files import read_bounded, read_regular
from noface.ui.page import paint
from noface.ui.text import clean, fit

_HEAD_BYTES = 64 * 1024
_TAIL_BYTES = 448 * 1024
_LOG_FOLDERS = ("gates", "landing", "checks")


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file's text, cleaned; `left_out` bytes of its middle were not read."""

    file: str
    text: str
    bytes: int
    left_out: int


def gate_names(directory: Path) -> list[str]:
    gates = {path.stem for folder in _LOG_FOLDERS for path in (directory / folder).glob("*.out")}
    return sorted(gates)


def gate_files(directory: Path, gate: str) -> list[Path]:
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", gate)  # as gates/run.py names them
    silent = [path for folder in _LOG_FOLDERS if (path := directory / folder / f"{stem}.out").is_file()]
    return (
        existing(*(directory / folder / f"{stem}{end}" for folder in _LOG_FOLDERS for end in (".out", ".err")))
        or silent[:1]
    )


def removed(directory: Path) -> str:
    """Say when and why an attempt's files were removed, "" if they were not."""
    try:
        gone = json.loads(read_regular(directory / REMOVED_FILE, _HEAD_BYTES) or b"{}")
        day = time.strftime("%Y-%m-%d", time.localtime(float(gone["at"])))
    except (OSError, ValueError, TypeError, KeyError):
        return ""
    return f"were removed on {day} ({clean(str(gone.get('why')))})"


def existing(*paths: Path) -> list[Path]:
    return [path for path in paths if path.is_file() and path.stat().st_size]


def excerpt(path: Path, directory: Path) -> LogFile:
    size = path.stat().st_size
    text = read_bounded(path, _HEAD_BYTES, _TAIL_BYTES)
    left_out = max(size - _HEAD_BYTES - _TAIL_BYTES, 0)
    return LogFile(str(path.relative_to(directory)), printable_lines(text), size, left_out)


_ORDER_FILE = "order.json"
_ORDER_BYTES_MAX = 16 << 20


def agent_of(folder: Path, model: str, models: Mapping[str, object]) -> str:
    """Return the agent of the log in `folder`, "" if it is unknown; `models` are the tables of [models.NAME]."""
    try:
        order = read_regular(folder / _ORDER_FILE, _ORDER_BYTES_MAX) or b""
        return str(json.loads(order)["model"]["agent"])
    except (ValueError, TypeError, KeyError, RecursionError):
        entry = models.get(model)
        return str(entry.get("agent", "")) if isinstance(entry, Mapping) else ""


_LINE_BYTES_MAX = 64 * 1024
_JSON_LINE_BYTES_MAX = 4 * 1024 * 1024
_ODD_LINE_MAX = 400
_TOOLS_MAX = 100
_IN_SLOT = re.compile(r"(?<!\S)/\S{0,300}?/(?:agent-\d{1,3}|workspace)/")
"""Where a worker's checkout begins in a path; what comes before tells nothing."""
_MARKS = {
    EventKind.TOOL: ("·", "quiet"),
    EventKind.EDIT: ("✎", "good"),
    EventKind.RETRY: ("…", "careful"),
    EventKind.LIMIT: ("!", "careful"),
    EventKind.ERROR: ("✗", "bad"),
    EventKind.RESULT: ("=", "quiet"),
}


def typed_reader(agent: str) -> StreamReader | None:
    from noface.agents.base import AGENTS

    known = AGENTS.get(agent)
    reader = known.reader() if known is not None else None
    return reader if reader is not None and not reader.any_output_is_life else None


class Readable:
    """Turns the bytes of one log into lines, as far as they are complete."""

    def __init__(self, reader: StreamReader | None = None) -> None:
        self._reader = reader
        self._pending = b""
        self._begun = False
        self._tools: set[str] = set()

    def feed(self, data: bytes, *, cut: bool = False) -> list[str]:
        """Take bytes and return the lines they complete. A plain line without an end is shown once it is long.

        `cut`: the log's first bytes are missing. Half an entry of a stream tells nothing, and is left out.
        """
        if cut and not self._begun and self._reader is not None:
            data = data.partition(b"\n")[2]
        self._begun = True
        pending = self._pending + data
        most = _JSON_LINE_BYTES_MAX if self._reader is not None else _LINE_BYTES_MAX
        end = len(pending) if len(pending) > most else pending.rfind(b"\n") + 1
        self._pending = pending[end:]
        return self._lines(pending[:end])

    def rest(self) -> list[str]:
        data, self._pending = self._pending, b""
        return self._lines(data)

    def _lines(self, data: bytes) -> list[str]:
        if self._reader is None:
            return printable_lines(data.decode("utf-8", "replace")).splitlines()
        return [row for line in data.split(b"\n") for row in self._typed(self._reader, line)]

    def _typed(self, reader: StreamReader, line: bytes) -> Iterator[str]:
        if not line.lstrip().startswith(b"{"):
            text = clean(line.decode("utf-8", "replace"))
            if text:
                yield fit(text, _ODD_LINE_MAX)
            return
        for event in reader.feed(line + b"\n"):
            yield from self._event(event)

    def _event(self, event: AgentEvent) -> Iterator[str]:
        if event.kind is EventKind.TEXT:
            yield from printable_lines(event.text).strip().splitlines()
            return
        plain = printable_lines(event.text).strip() if event.kind is EventKind.TOOL else clean(event.text)
        text = _IN_SLOT.sub("", plain)
        if event.kind is EventKind.EDIT and text in self._tools:
            return  # the tool's call has said so
        if event.kind is EventKind.TOOL:
            self._tools = {text} if len(self._tools) > _TOOLS_MAX else self._tools | {text}
        mark, role = _MARKS[event.kind]
        first, *more = text.splitlines() or [""]
        yield from (paint(line, role) for line in (f"  {mark} {first}", *(f"    {line}" for line in more)))


_LAST_BYTES = 64 * 1024


def log_lines(text: str, folder: Path, model: str, models: Mapping[str, object]) -> list[str]:
    """Return the lines of the log in an attempt's `folder`; `models` are the tables of [models.NAME]."""
    reader = typed_reader(agent_of(folder, model, models)) if "{" in text else None
    if reader is None:
        return text.splitlines()
    readable = Readable(reader)
    return [*readable.feed(text.encode()), *readable.rest()]


def last_lines(folder: Path, model: str, lines_max: int) -> tuple[str, ...]:
    """Return the last lines that the agent of an attempt wrote, () if there are none."""
    for name in ("agent.log", "agent.err"):
        path = folder / name
        try:
            size = path.stat().st_size
            text = printable_lines(read_bounded(path, 0, _LAST_BYTES))
        except OSError:
            continue
        if size > _LAST_BYTES:
            text = text.split("\n", 3)[-1]  # neither the mark of what is left out, nor half a line
        rows = log_lines(text, folder, model, {}) if name == "agent.log" else text.splitlines()
        lines = [line for line in rows if line.strip()]
        if lines:
            return tuple(lines[-lines_max:])
    return ()
