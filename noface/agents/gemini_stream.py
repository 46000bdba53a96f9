"""What Gemini CLI prints (seen with 0.61.0): one JSON object a line.

`result.status` tells more than the exit code: broken, malformed and empty answers exit with 0. Of a failed request the
exit code is the HTTP status & 255. An answer cut off at the output limit is reported as a success (see `_is_cut`).
Failed tries stand in standard error alone: up to ten a request, each after the wait that the provider asked for.
"""

import re
from typing import Any

from noface.agents.base import ANSWER_MAX, LAST_WORDS_MAX, AgentEvent, EventKind
from noface.agents.typed import SHOWN_MAX, JsonReader, error_codes, parsed, table, text, tool, total, whole
from noface.core.classify.agent_evidence import AgentError, AgentEvidence
from noface.core.classify.agent_words import stops_mid_sentence
from noface.core.worker_run import Usage

_EDITING_TOOLS = frozenset({"write_file", "replace", "edit"})
_OPEN_TOOLS_MAX = 1_000
_STATUS_OF_EXIT = {status & 255: status for status in (400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504)}
_OWN_EXITS = frozenset({41, 42, 44, 52, 53, 55})
_TRY = re.compile(
    r"^Attempt \d{1,3} failed(?: with status (\d{3}))?[.:] (.{0,2000}(?:\n(?![ }]).{0,300})?)", re.MULTILINE
)


class GeminiReader(JsonReader):
    """Reads messages, tools and the result."""

    agent = "gemini"

    def __init__(self) -> None:
        super().__init__()
        self._result: dict[str, Any] = {}
        self._noted = ""
        self._said = ""
        self._tools = 0
        self._editing: dict[str, str] = {}
        self._session: str | None = None
        self._awaits_answer = True

    def entry(self, entry: dict[str, Any]) -> list[AgentEvent]:
        """Return the events of a line."""
        self._awaits_answer = entry.get("type") in ("init", "tool_result") or entry.get("role") == "user"
        match entry.get("type"):
            case "init":
                self._session = text(entry.get("session_id")) or None
            case "message" if entry.get("role") == "assistant":
                said = text(entry.get("content"))
                self._said = (self._said + said if entry.get("delta") else said)[-ANSWER_MAX:]
                return [AgentEvent(EventKind.TEXT, said[:LAST_WORDS_MAX])]
            case "tool_use":
                return self._tool(entry)
            case "tool_result":
                shown = self._editing.pop(str(entry.get("tool_id")), "")
                return [AgentEvent(EventKind.EDIT, shown)] if shown and entry.get("status") == "success" else []
            case "error":
                noted = text(entry.get("message"))
                self._noted = noted if entry.get("severity") != "warning" else self._noted
                return [AgentEvent(EventKind.ERROR, noted[:SHOWN_MAX])]
            case "result":
                self._result = entry
                return [AgentEvent(EventKind.RESULT, text(entry.get("status")))]
            case _:
                pass
        return []

    def gathered(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        """Return the evidence; no cost is ever told. `-o json` among the arguments makes one document of it all."""
        document = self.document()
        if not self._result and text(document.get("response")):
            self._said, self._tools = text(document.get("response")), 1
            self._session = text(document.get("session_id")) or None
            self._result = {"status": "success"}
        good = self._result.get("status") == "success"
        error = self._told(exit_code, stderr)
        if good and self._is_cut():
            error = AgentError("the answer stops in the middle of a sentence: the output limit", ("answer-cut",))
        return AgentEvidence(
            self.agent,
            exit_code,
            stderr,
            error=error,
            retrying=self._waiting(stderr),
            finished=good and error is None,
            last_words=self._said,
            usage=self.used(),
        )

    def used(self) -> Usage:
        """Return what its result says; before that nothing is told."""
        stats = table(self._result.get("stats"))
        return Usage(
            tokens_in=total(stats.get("input_tokens")),
            tokens_out=total(stats.get("output_tokens")),
            session_id=self._session,
            tokens_cached=total(stats.get("cached")),
        )

    def _waiting(self, stderr: str) -> AgentError | None:
        """Return what it is trying to overcome: the last failed try, where no answer has come since it asked."""
        failed = list(_TRY.finditer(stderr))[-1:]
        if not failed or not self._awaits_answer:
            return None
        body = table(parsed(failed[0][2]).get("error"))
        status = whole(body.get("code")) or int(failed[0][1] or 0) or None
        return AgentError(text(body.get("message")) or failed[0][2].strip(), error_codes(body), status)

    def _tool(self, entry: dict[str, Any]) -> list[AgentEvent]:
        self._said = ""
        self._tools += 1
        shown = tool(entry.get("tool_name"), entry.get("parameters"))
        if entry.get("tool_name") in _EDITING_TOOLS and len(self._editing) < _OPEN_TOOLS_MAX:
            self._editing[str(entry.get("tool_id"))] = shown
        return [AgentEvent(EventKind.TOOL, shown)]

    def _is_cut(self) -> bool:
        """Tell whether the output limit cut the answer: a run of one answer, without tools, that ends mid-sentence.

        Streams that break are reported as such, so nothing but the limit is left; the CLI has no other sign of it.
        """
        return not self._tools and stops_mid_sentence(self._said)

    def _told(self, exit_code: int | None, stderr: str) -> AgentError | None:
        if self._result.get("status") == "success":
            return None
        given = table(self._result.get("error") or parsed(stderr[stderr.rfind("\n{") + 1 :]).get("error"))
        message = text(given.get("message")) or self._noted
        own = (f"exit-{exit_code}",) if exit_code in _OWN_EXITS else ()
        status = _STATUS_OF_EXIT.get(exit_code or 0)
        if not (self._result or own or status):
            return None
        body = table(parsed(message).get("error"))
        kind = text(given.get("type"))
        codes = ((kind,) if kind not in ("", "unknown", "Error") else ()) + own + error_codes(body)
        told = whole(body.get("code")) or status
        return AgentError(text(body.get("message")) or message, codes, told, details=message if body else "")
