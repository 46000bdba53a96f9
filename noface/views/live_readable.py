"""Makes lines for people of what an agent writes: tools, files and words, where its output is a stream of JSON."""

import re
from collections.abc import Iterator

from noface.agents.base import AgentEvent, EventKind, StreamReader
from noface.views.page import paint
from noface.views.text import clean, clean_block, fit

_LINE_BYTES_MAX = 64 * 1024
_JSON_LINE_BYTES_MAX = 4 * 1024 * 1024
_ODD_LINE_MAX = 400
_TOOLS_MAX = 100
_IN_SLOT = re.compile(r"(?<!\S)/\S{0,300}?/agent-\d{1,3}/")
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
    """Return a reader for an agent's log, None where the log is text that anybody can read."""
    from noface.agents.table import AGENTS

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
        """Return what was written without a line's end."""
        data, self._pending = self._pending, b""
        return self._lines(data)

    def _lines(self, data: bytes) -> list[str]:
        if self._reader is None:
            return clean_block(data.decode("utf-8", "replace")).splitlines()
        return [shown for line in data.split(b"\n") for shown in self._typed(self._reader, line)]

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
            yield from clean_block(event.text).strip().splitlines()
            return
        text = _IN_SLOT.sub("", clean(event.text))
        if event.kind is EventKind.EDIT and text in self._tools:
            return  # the tool's call has said so
        if event.kind is EventKind.TOOL:
            self._tools = {text} if len(self._tools) > _TOOLS_MAX else self._tools | {text}
        mark, role = _MARKS[event.kind]
        yield paint(f"  {mark} {text}", role)
