"""What OpenCode prints (seen with 1.18.33): one JSON object a line.

An error entry names itself and carries the provider's status, body and headers. What ended a step is its `reason`;
an answer cut off at the output limit exits with 0 and the reason "length".
"""

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
from noface.core.model import Usage

_EDITING_TOOLS = frozenset({"write", "edit", "patch", "multiedit", "apply_patch"})
_ENDINGS = {
    "length": "length",
    "content-filter": "content_filter",
    "unknown": "finish-unknown",
    "error": "finish-unknown",
}
_HEADERS_MAX = 100


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

    def entry(self, entry: dict[str, Any]) -> list[AgentEvent]:
        """Return the events of a line."""
        self._session = text(entry.get("sessionID")) or self._session
        part = table(entry.get("part"))
        match entry.get("type"):
            case "step_start":
                self._steps += 1
                self._error, self._reason = None, ""  # an error that was overcome is none
                return []
            case "text":
                self._last_text = text(part.get("text"))
                return [AgentEvent(EventKind.TEXT, self._last_text[:LAST_WORDS_MAX])]
            case "tool_use":
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
            finished=error is None and bool(self._reason) and self._reason != "tool-calls",
            last_words=self._last_text,
            usage=Usage(self._cost, *self._tokens, self._session, self._cached),
        )

    def _step(self, part: dict[str, Any]) -> list[AgentEvent]:
        self._reason = text(part.get("reason"))
        tokens, cache = table(part.get("tokens")), table(table(part.get("tokens")).get("cache"))
        sent = total(self._tokens[0], tokens.get("input"), cache.get("read"), cache.get("write"))
        self._tokens = (sent, total(self._tokens[1], tokens.get("output"), tokens.get("reasoning")))
        self._cached = total(self._cached, cache.get("read"))
        spent = cost(part.get("cost"))
        if spent is not None:
            self._cost = spent + (self._cost or 0.0)
        return [AgentEvent(EventKind.RESULT, f"step ended: {self._reason}"[:SHOWN_MAX])]

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
