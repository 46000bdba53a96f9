"""What OpenCode prints (seen with 1.18.33): one JSON object a line.

An error entry names itself and carries the provider's status, body and headers. What ended a step is its `reason`;
an answer cut off at the output limit exits with 0 and the reason "length". It asks again, for ever, when an answer
breaks off, and retries after as long as the provider asks for: the latter stands in its log alone.
"""

import re
from datetime import datetime
from typing import Any

from noface.agents.base import LAST_WORDS_MAX, AgentEvent, EventKind
from noface.agents.typed import (
    SHOWN_MAX,
    JsonReader,
    cost,
    error_codes,
    number,
    parsed,
    table,
    text,
    tool,
    total,
    whole,
)
from noface.core.classify.agent_evidence import AgentError, AgentEvidence
from noface.core.classify.reset_times import epoch
from noface.core.worker_run import Usage

_EDITING_TOOLS = frozenset({"write", "edit", "patch", "multiedit", "apply_patch"})
_BROKE_OFF = "finish-unknown"
_ENDINGS = {
    "length": "length",
    "content-filter": "content_filter",
    "unknown": _BROKE_OFF,
    "error": _BROKE_OFF,
}
_HEADERS_MAX = 100
_LOGGED = re.compile(
    r'^timestamp=(\S{20,40}) level=ERROR .{0,200}?message="stream error" .{0,300}? small=false .{0,200}?'
    r'error\.error="(?:\w{1,60}Error: )?(.{1,2000})"$',
    re.MULTILINE,
)


class OpencodeReader(JsonReader):
    """Reads steps, texts and tools, and adds up what the steps cost."""

    agent = "opencode"

    def __init__(self) -> None:
        super().__init__()
        self._session: str | None = None
        self._error: AgentError | None = None
        self._steps = 0
        self._reason = ""
        self._last_text = ""
        self._cost: float | None = None
        self._tokens: tuple[int | None, int | None] = (None, None)
        self._cached: int | None = None
        self._asks_again = False
        self._newest_ms = 0.0

    def entry(self, entry: dict[str, Any]) -> list[AgentEvent]:
        """Return the events of a line."""
        self._session = text(entry.get("sessionID")) or self._session
        self._newest_ms = number(entry.get("timestamp")) or self._newest_ms
        part = table(entry.get("part"))
        match entry.get("type"):
            case "step_start":
                self._steps += 1
                self._error, self._reason = None, ""  # an error that was overcome is none
                return []
            case "text" if not part.get("synthetic"):  # its own words to the model, after it cut down the conversation
                self._last_text = text(part.get("text"))
                kind = EventKind.RETRY if self._asks_again else EventKind.TEXT
                return [AgentEvent(kind, self._last_text[:LAST_WORDS_MAX])]
            case "tool_use":
                self._asks_again = False
                state = table(part.get("state"))
                edits = part.get("tool") in _EDITING_TOOLS and state.get("status") == "completed"
                kind = EventKind.EDIT if edits else EventKind.TOOL
                return [AgentEvent(kind, tool(part.get("tool"), state.get("input")))]
            case "step_finish":
                return self._step(part)
            case "error":
                self._error = self._read(table(entry.get("error")))
                return [AgentEvent(EventKind.ERROR, self._error.message[:SHOWN_MAX])]
            case _:
                return []

    def gathered(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        """Return the evidence: its error, or how the last step ended."""
        error = self._error
        if error is None and self._reason in _ENDINGS:
            error = AgentError(f"the last answer ended with the reason {self._reason!r}", (_ENDINGS[self._reason],))
        return AgentEvidence(
            self.agent,
            exit_code,
            stderr,
            error=error,
            retrying=self._waiting(stderr),
            finished=error is None and bool(self._reason) and self._reason != "tool-calls",
            last_words=self._last_text,
            usage=self.used(),
        )

    def used(self) -> Usage:
        """Return the sum of what its steps used."""
        return Usage(self._cost, *self._tokens, self._session, self._cached)

    def _step(self, part: dict[str, Any]) -> list[AgentEvent]:
        self._reason = text(part.get("reason"))
        tokens, cache = table(part.get("tokens")), table(table(part.get("tokens")).get("cache"))
        sent = total(self._tokens[0], tokens.get("input"), cache.get("read"), cache.get("write"))
        self._tokens = (sent, total(self._tokens[1], tokens.get("output"), tokens.get("reasoning")))
        self._cached = total(self._cached, cache.get("read"))
        spent = cost(part.get("cost"))
        if spent is not None:
            self._cost = spent + (self._cost or 0.0)
        self._asks_again = _ENDINGS.get(self._reason) == _BROKE_OFF
        kind = EventKind.RETRY if self._asks_again else EventKind.RESULT
        return [AgentEvent(kind, f"step ended: {self._reason}"[:SHOWN_MAX])]

    def _waiting(self, stderr: str) -> AgentError | None:
        """Return what it is trying to overcome: the last error in its log, where nothing has come of it since."""
        logged = list(_LOGGED.finditer(stderr))[-1:]
        if not logged:
            return None
        try:
            at = datetime.fromisoformat(logged[0][1]).timestamp()
        except (ValueError, OverflowError):
            return None
        return AgentError(logged[0][2]) if at * 1000 >= self._newest_ms else None

    def _read(self, error: dict[str, Any]) -> AgentError:
        data, name = table(error.get("data")), text(error.get("name"))
        body = table(parsed(text(data.get("responseBody"))).get("error"))
        at = number(body.get("resets_at"))
        headers = [(key, value) for key, value in table(data.get("responseHeaders")).items() if isinstance(value, str)]
        named = f"{name}-before-first-step" if name == "UnknownError" and not self._steps else name
        return AgentError(
            text(data.get("message")) or name,
            (*error_codes(body), *((named,) if named else ())),
            whole(data.get("statusCode")),
            details=text(data.get("responseBody")),
            headers=tuple(headers[:_HEADERS_MAX]),
            resets_at=epoch(at) if at is not None else None,
        )
