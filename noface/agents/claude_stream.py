"""What Claude Code prints (seen with 2.1.197): one JSON object a line; the result line tells how it went.

An API error ends in a result line with `subtype: "success"` and `is_error: true`: only `is_error` is trusted.
"""

from typing import Any

from noface.agents.base import LAST_WORDS_MAX, AgentEvent, EventKind
from noface.agents.claude_usage import AnswerTokens
from noface.agents.typed import SHOWN_MAX, JsonReader, cost, number, table, text, tool, total
from noface.core.classify.agent_evidence import AgentError, AgentEvidence
from noface.core.classify.reset_times import epoch
from noface.core.worker_run import Usage

_EDITING_TOOLS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
_OPEN_TOOLS_MAX = 1_000
_TELLING_REASONS = frozenset({"prompt_too_long", "refusal"})


class ClaudeReader(JsonReader):
    """Reads stream-json; the result line, the newest error name and the newest rejected limit are what counts."""

    agent = "claude"

    def __init__(self) -> None:
        super().__init__()
        self._result: dict[str, Any] = {}
        self._error = ""
        self._retrying: AgentError | None = None
        self._resets_at: float | None = None
        self._last_text = ""
        self._editing: dict[str, str] = {}
        self._session: str | None = None
        self._answers = AnswerTokens()

    def entry(self, entry: dict[str, Any]) -> list[AgentEvent]:
        """Return the events of a line."""
        self._session = text(entry.get("session_id")) or self._session
        match entry.get("type"):
            case "assistant":
                self._retrying = None
                self._error = text(entry.get("error"))  # of the newest: an error that was overcome is none
                self._answers.saw(table(entry.get("message")))
                return self._content(entry.get("message"))
            case "user":
                return self._edits(entry.get("message"))
            case "result":
                self._result = entry
                how = text(entry.get("subtype"))
                return [AgentEvent(EventKind.RESULT, "error" if entry.get("is_error") and how == "success" else how)]
            case "system" if entry.get("subtype") == "api_retry":
                return self._retry(entry)
            case "rate_limit_event":
                return self._limit(table(entry.get("rate_limit_info")))
            case _:
                return []

    def gathered(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        """Return the evidence: the result line's, or that of a run without one."""
        result = self._result
        good = not result.get("is_error") and result.get("subtype") == "success"
        finished = bool(result) and good and result.get("stop_reason") != "refusal" and not self._broke_off()
        return AgentEvidence(
            self.agent,
            exit_code,
            stderr,
            error=None if finished else self._told(exit_code),
            retrying=self._retrying,
            finished=finished,
            last_words=text(result.get("result")) or self._last_text,
            usage=self.used(),
        )

    def _broke_off(self) -> bool:
        """Tell whether the last answer's stream ended between two of its events: Claude Code calls that a success."""
        return "stop_reason" in self._result and self._result["stop_reason"] is None

    def _told(self, exit_code: int | None) -> AgentError | None:
        result = self._result
        if not result:
            plain = self.plain if exit_code != 0 and not self.any_entry else ""  # --output-format text, without prose
            return AgentError(plain, resets_at=self._resets_at) if plain else None
        errors = result.get("errors")
        first = str(errors[0]) if isinstance(errors, list) and errors else ""
        subtype = text(result.get("subtype"))
        reasons = [text(result.get(name)) for name in ("terminal_reason", "stop_reason")]
        codes = [reason for reason in reasons if reason in _TELLING_REASONS]
        codes += [code for code in (subtype if subtype != "success" else "", self._error) if code]
        if not codes and not result.get("is_error") and self._broke_off():
            return AgentError("the answer's stream broke off before its end", ("stream-broke-off",))
        status = number(result.get("api_error_status"))
        return AgentError(
            text(result.get("result")) or first,
            tuple(codes),
            int(status) if status is not None else None,
            resets_at=self._resets_at,
        )

    def _content(self, message: object) -> list[AgentEvent]:
        events = []
        for part in _parts(message):
            if part.get("type") == "text":
                self._last_text = text(part.get("text"))
                events.append(AgentEvent(EventKind.TEXT, self._last_text[:LAST_WORDS_MAX]))
            elif part.get("type") == "tool_use":
                shown = tool(part.get("name"), part.get("input"))
                if part.get("name") in _EDITING_TOOLS and len(self._editing) < _OPEN_TOOLS_MAX:
                    self._editing[str(part.get("id"))] = shown
                events.append(AgentEvent(EventKind.TOOL, shown))
        return events

    def _edits(self, message: object) -> list[AgentEvent]:
        done = [part for part in _parts(message) if part.get("type") == "tool_result"]
        named = [(self._editing.pop(str(part.get("tool_use_id")), ""), part.get("is_error")) for part in done]
        return [AgentEvent(EventKind.EDIT, shown) for shown, failed in named if shown and not failed]

    def _retry(self, entry: dict[str, Any]) -> list[AgentEvent]:
        name = text(entry.get("error")) or "an error"
        status = number(entry.get("error_status"))
        shown = f"retrying after {name}"[:SHOWN_MAX]
        self._retrying = AgentError(shown, (name,), int(status) if status is not None else None)
        return [AgentEvent(EventKind.RETRY, shown)]

    def _limit(self, info: dict[str, Any]) -> list[AgentEvent]:
        if info.get("status") != "rejected":
            return []  # "allowed_warning" is no failure
        at = number(info.get("resetsAt"))
        self._resets_at = epoch(at) if at is not None else None
        return [AgentEvent(EventKind.LIMIT, "the provider's usage limit is reached", self._resets_at)]

    def used(self) -> Usage:
        """Return what the run used: its result's word, until that comes the sum of its answers without a cost.

        The result counts over all models, since its `usage` leaves out what Claude Code asks on the side. One that
        is ended by a signal tells a cost of 0 and no tokens, whatever it used: then its answers count.
        """
        cached = self._count("cacheReadInputTokens", "cache_read_input_tokens")
        written = self._count("cacheCreationInputTokens", "cache_creation_input_tokens")
        told = Usage(
            cost_usd=cost(self._result.get("total_cost_usd")),
            tokens_in=total(self._count("inputTokens", "input_tokens"), written, cached),
            tokens_out=self._count("outputTokens", "output_tokens"),
            session_id=self._session,
            tokens_cached=cached,
        )
        so_far = self._answers.sum
        if so_far is None or told.cost_usd or (told.tokens or 0) >= so_far.read + so_far.written:
            return told
        return Usage(None, so_far.read, so_far.written, self._session, so_far.cached)

    def _count(self, of_model: str, of_run: str) -> int | None:
        models = table(self._result.get("modelUsage")).values()
        if models:
            return total(*(table(model).get(of_model) for model in models))
        return total(table(self._result.get("usage")).get(of_run))


def _parts(message: object) -> list[dict[str, Any]]:
    content = table(message).get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
