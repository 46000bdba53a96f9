"""What Codex prints (seen with 0.169.0): one JSON object a line, of threads, turns and items.

`turn.failed` is its error channel. A top-level "Reconnecting…" and items of type "error" are notices, not failures.
"""

import re
from dataclasses import replace
from datetime import datetime
from typing import Any

from noface.agents.base import LAST_WORDS_MAX, AgentEvent, EventKind
from noface.agents.codex_usage import Rollout, usage_of
from noface.agents.typed import SHOWN_MAX, JsonReader, table, text, tool
from noface.core.classify.agent_evidence import AgentError, AgentEvidence
from noface.core.worker_run import Usage

_STATUS = re.compile(r"\b(?:unexpected|last) status:? (\d{3})\b")
_WAITS = re.compile(r"^(\S{20,40}Z) .{0,400}?responses_retry: .{0,80}?\(\d+/\d+ in ([\d.]{1,20})s\)", re.MULTILINE)


class CodexReader(JsonReader):
    """Reads threads, turns and items."""

    agent = "codex"

    def __init__(self, rollout: Rollout) -> None:
        super().__init__()
        self._rollout = rollout
        self._thread: str | None = None
        self._usage: Usage | None = None
        self._error: AgentError | None = None
        self._retrying: AgentError | None = None
        self._finished = False
        self._last_text = ""

    def entry(self, entry: dict[str, Any]) -> list[AgentEvent]:
        """Return the events of a line."""
        match entry.get("type"):
            case "thread.started":
                self._thread = text(entry.get("thread_id")) or None
                return []
            case "turn.completed":
                self._usage, self._finished, self._error = usage_of(table(entry.get("usage"))), True, None
                return [AgentEvent(EventKind.RESULT, "turn completed")]
            case "turn.failed":
                return self._failed(table(entry.get("error")))
            case "error":
                return self._notice(text(entry.get("message")))
            case "item.started" | "item.updated" | "item.completed" as stage:
                return self._item(table(entry.get("item")), done=stage == "item.completed")
            case _:
                return []

    def gathered(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        """Return the evidence; the usage of a resumed thread is that of all its turns."""
        self._rollout.used(self._thread, at_once=True)
        return AgentEvidence(
            self.agent,
            exit_code,
            stderr,
            error=self._error,
            retrying=self._waiting(stderr),
            finished=self._finished,
            last_words=self._last_text,
            usage=self.used(),
        )

    def used(self) -> Usage:
        """Return what the turn used; until that is told, what Codex's log of the thread says."""
        return replace(self._usage or self._rollout.used(self._thread), session_id=self._thread)

    def _waiting(self, stderr: str) -> AgentError | None:
        """Return what it is trying to overcome, with the time at which its log says that it will try again."""
        logged = list(_WAITS.finditer(stderr))[-1:]
        if self._retrying is None or not logged:
            return self._retrying
        try:
            resets_at = datetime.fromisoformat(logged[0][1]).timestamp() + float(logged[0][2])
        except (ValueError, OverflowError):
            return self._retrying
        return replace(self._retrying, resets_at=resets_at)

    def _failed(self, error: dict[str, Any]) -> list[AgentEvent]:
        self._error, self._finished = _read(text(error.get("message"))), False
        return [AgentEvent(EventKind.ERROR, self._error.message[:SHOWN_MAX])]

    def _notice(self, message: str) -> list[AgentEvent]:
        if message.startswith("Reconnecting..."):
            self._retrying = _read(message)
            return [AgentEvent(EventKind.RETRY, message[:SHOWN_MAX])]
        if not self._finished:
            self._error = _read(message)
        return [AgentEvent(EventKind.ERROR, message[:SHOWN_MAX])]

    def _item(self, item: dict[str, Any], *, done: bool) -> list[AgentEvent]:
        if item.get("type") != "error":
            self._retrying = None  # work goes on
        match item.get("type"):
            case "agent_message" if done:
                self._last_text = text(item.get("text"))
                return [AgentEvent(EventKind.TEXT, self._last_text[:LAST_WORDS_MAX])]
            case "file_change" if done:
                changes = item.get("changes")
                paths = [text(table(each).get("path")) for each in changes] if isinstance(changes, list) else []
                return [AgentEvent(EventKind.EDIT, f"edited {', '.join(paths)}"[:SHOWN_MAX])]
            case "command_execution" | "mcp_tool_call" | "web_search" as kind if not done:
                return [AgentEvent(EventKind.TOOL, tool(item.get("tool") or kind, item))]
            case "reasoning" | "todo_list" as kind:
                return [AgentEvent(EventKind.TOOL, str(kind))]
            case _:
                return []  # an item of type "error" is a warning


def _read(message: str) -> AgentError:
    status = _STATUS.search(message)
    return AgentError(message, status=int(status[1]) if status else None)
