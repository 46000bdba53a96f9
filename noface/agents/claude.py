"""Claude Code (recorded with 2.1.197): `claude -p --output-format stream-json`, prompt on stdin.

An API error ends in a result line with `subtype: "success"` and `is_error: true`: only `is_error` is trusted. Its own
retries are bounded, so that noface's backoff rules; as root it runs only with IS_SANDBOX=1.
"""

import json
import math
import os
import re
from typing import Any

from noface.agents.base import LAST_WORDS_MAX, AgentEvent, EventKind, Invocation, Lines, Place, Verdict
from noface.core.model import AttemptOrder, Failure, ModelSpec, Usage
from noface.core.taxonomy import FailureKind

_ERRORS: dict[str, FailureKind] = {
    "authentication_failed": FailureKind.AUTH,
    "oauth_org_not_allowed": FailureKind.AUTH,
    "billing_error": FailureKind.AUTH,
    "rate_limit": FailureKind.RATE_LIMITED,
    "overloaded": FailureKind.OVERLOADED,
    "server_error": FailureKind.OVERLOADED,
    "model_not_found": FailureKind.MISCONFIGURED,
    "max_output_tokens": FailureKind.RESOURCE_EXHAUSTED,
}
_SUBTYPES: dict[str, FailureKind] = {
    "error_max_turns": FailureKind.RESOURCE_EXHAUSTED,
    "error_max_budget_usd": FailureKind.RESOURCE_EXHAUSTED,
    "error_max_structured_output_retries": FailureKind.OUTPUT_FORMAT,
}
_STATUSES: dict[int, FailureKind] = {
    401: FailureKind.AUTH,
    403: FailureKind.AUTH,
    404: FailureKind.MISCONFIGURED,
    429: FailureKind.RATE_LIMITED,
}
_SERVER_ERROR = 500
_REFUSED_TO_START = re.compile(
    r"cannot be used with root|error: unknown option|^Error: (When using|Input must)", re.MULTILINE
)
_UNCHARGED = {
    FailureKind.AUTH,
    FailureKind.RATE_LIMITED,
    FailureKind.OVERLOADED,
    FailureKind.MISCONFIGURED,
    FailureKind.NETWORK,
}


class ClaudeAgent:
    """Translates orders to Claude Code's command line and its stream to events."""

    def program(self, model: ModelSpec) -> str:
        """Return the program: `[models.NAME] command`, or claude."""
        return model.command or "claude"

    def invocation(self, order: AttemptOrder, place: Place) -> Invocation:
        """Return the command line; permissions are bypassed, since nobody is there to be asked."""
        argv = [self.program(order.model), "-p", "--output-format", "stream-json", "--verbose"]
        if order.model.model:
            argv += ["--model", order.model.model]
        if order.model.max_cost_usd is not None:
            argv += ["--max-budget-usd", f"{order.model.max_cost_usd:g}"]
        argv += ["--permission-mode", "bypassPermissions", *order.model.args]
        env = [("CLAUDE_CODE_MAX_RETRIES", "2")]
        if os.geteuid() == 0:
            env.append(("IS_SANDBOX", "1"))
        return Invocation(tuple(argv), place.prompt_file, tuple(env))

    def reader(self) -> "ClaudeReader":
        """Return a reader of stream-json."""
        return ClaudeReader()


class ClaudeReader:
    """Reads one JSON object a line; a line that is none is passed over."""

    any_output_is_life = False

    def __init__(self) -> None:
        self._lines = Lines()
        self._result: dict[str, Any] = {}
        self._error = ""
        self._resets_at: float | None = None
        self._last_text = ""

    def feed(self, data: bytes) -> list[AgentEvent]:
        """Return the typed events of the lines that `data` completes."""
        return [event for line in self._lines.feed(data) for event in self._line(line)]

    def verdict(self, exit_code: int | None, stderr: str) -> Verdict:
        """Judge by the result line; without one, by the exit code."""
        self.feed(b"\n")
        result = self._result
        usage = _usage(result)
        words = str(result.get("result") or self._last_text)[:LAST_WORDS_MAX]
        failure = self._failure(exit_code, stderr, words)
        return Verdict(usage, words, failure, finished=failure is None)

    def _line(self, line: str) -> list[AgentEvent]:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            return []
        if not isinstance(entry, dict):
            return []
        match entry.get("type"):
            case "assistant":
                self._error = str(entry.get("error") or "")  # of the newest: an error that was overcome is none
                return self._content(entry.get("message"))
            case "result":
                self._result = entry
                return [AgentEvent(EventKind.RESULT, str(entry.get("subtype", "")))]
            case "system" if entry.get("subtype") == "api_retry":
                return [AgentEvent(EventKind.RETRY, f"retrying after {entry.get('error', 'an error')}")]
            case "rate_limit_event":
                return self._limit(entry.get("rate_limit_info"))
            case _:
                return []

    def _content(self, message: object) -> list[AgentEvent]:
        content = message.get("content") if isinstance(message, dict) else None
        events = []
        for part in content if isinstance(content, list) else []:
            if not isinstance(part, dict):
                continue
            if part.get("type") == "text":
                self._last_text = str(part.get("text", ""))
                events.append(AgentEvent(EventKind.TEXT, self._last_text[:LAST_WORDS_MAX]))
            elif part.get("type") == "tool_use":
                events.append(AgentEvent(EventKind.TOOL, _tool(part)))
        return events

    def _limit(self, info: object) -> list[AgentEvent]:
        if not isinstance(info, dict) or info.get("status") != "rejected":
            return []  # "allowed_warning" is no failure
        self._resets_at = _number(info.get("resetsAt"))
        return [AgentEvent(EventKind.LIMIT, "the provider's usage limit is reached")]

    def _failure(self, exit_code: int | None, stderr: str, words: str) -> Failure | None:
        result = self._result
        subtype = str(result.get("subtype", ""))
        if result and not result.get("is_error") and subtype == "success":
            return None
        kind = _SUBTYPES.get(subtype) or _ERRORS.get(self._error) or self._by_status() or _by_words(stderr)
        errors = result.get("errors")
        message = words or (str(errors[0]) if isinstance(errors, list) and errors else "") or stderr.strip()[-500:]
        return Failure(
            kind,
            message or f"claude ended with exit code {exit_code} and no result",
            rule=f"claude-{subtype or 'no-result'}-{self._error or exit_code}",
            evidence=(f"exit code {exit_code}", f"subtype {subtype!r}, error {self._error!r}"),
            excerpt=stderr.strip()[-LAST_WORDS_MAX:],
            signature=f"{kind}:{subtype}:{self._error}",
            retry_at=self._resets_at if kind is FailureKind.RATE_LIMITED else None,
            charged=kind not in _UNCHARGED,
        )

    def _by_status(self) -> FailureKind | None:
        result = self._result
        status = _number(result.get("api_error_status"))
        if result.get("terminal_reason") == "prompt_too_long":
            return FailureKind.RESOURCE_EXHAUSTED
        if result.get("stop_reason") == "refusal":
            return FailureKind.AGENT_REFUSED
        if status is not None:
            return _STATUSES.get(int(status)) or (FailureKind.OVERLOADED if status >= _SERVER_ERROR else None)
        if result.get("is_error") and result.get("subtype") == "success":
            return FailureKind.NETWORK  # no status and no error name: no answer arrived
        return None


def _by_words(stderr: str) -> FailureKind:
    """Return the kind of a run that ended without a result: told on stderr, by claude itself, before any work."""
    return FailureKind.MISCONFIGURED if _REFUSED_TO_START.search(stderr) else FailureKind.AGENT_CRASH


def _usage(result: dict[str, Any]) -> Usage:
    usage = result.get("usage") if isinstance(result.get("usage"), dict) else {}
    cost = _number(result.get("total_cost_usd"))
    return Usage(
        cost_usd=cost if cost is not None and cost >= 0 else None,
        tokens_in=_int(usage.get("input_tokens")) if usage else None,
        tokens_out=_int(usage.get("output_tokens")) if usage else None,
        session_id=str(result["session_id"]) if "session_id" in result else None,
    )


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: object) -> float | None:
    """Return a JSON number that is one: neither a boolean nor infinite, nor too big for a float."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _tool(part: dict[str, Any]) -> str:
    given = part.get("input")
    values = given if isinstance(given, dict) else {}
    target = values.get("file_path") or values.get("command") or values.get("pattern") or ""
    return f"{part.get('name', 'tool')} {target}".strip()[:200]
