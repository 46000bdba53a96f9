"""Codex CLI (seen with 0.169.0): `codex exec --json`, prompt on stdin.

Without a network it reconnects for ever: only the idle limit ends that. Told to come back in an hour it waits an hour,
and says so in its log alone, which is switched on for that. It bounds its other retries itself.

CODEX_HOME stays the person's, and only its databases are the attempt's own (CODEX_SQLITE_HOME): renewing a login in a
copy makes the original worthless, and one in the keyring belongs to the folder's path.

It prints one JSON object a line. `turn.failed` is its error channel; "Reconnecting…" and items "error" are notices.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from noface.agents.base import (
    ONLY_THE_STREAM,
    Agent,
    AgentEvent,
    EventKind,
    Invocation,
    OpenCall,
    RunPlace,
    defaults,
    option,
    resuming,
)
from noface.agents.codex_options import access_options, permission_options
from noface.agents.json_stream import TEXT_MAX, JsonReader, error_codes, last_match, log_time, tool
from noface.agents.session_log import SessionLog, less
from noface.diagnosis.agent_errors import AgentError, AgentEvidence, Amounts, Resource
from noface.model.attempt import AttemptOrder
from noface.model.json_record import JsonRecord, json_value, parsed
from noface.model.listed import Window
from noface.model.quota import WINDOWS
from noface.model.worker_run import Session, Usage
from noface.process.files import open_regular

_LOG = "error,codex_core::responses_retry=warn"
_STATUS = re.compile(r"\b(?:unexpected|last) status:? (\d{3})\b")
_REFUSED = re.compile(
    r"^\S{20,40}Z ERROR codex_core::tools::\S{1,60}: error=(?:.{0,200}\bRejected\(\\?\"(?P<command>.{1,1000}?)\\?\"\)"
    r"|(?P<edit>patch rejected: .{1,500})|Exit code: .*\n.*\nOutput:\n(?P<file>Failed to write file .{1,500}))",
    re.MULTILINE,
)
_WAITS = re.compile(
    r"^(\S{20,40}Z) .{0,400}?responses_retry: .{0,80}?\(\d+/\d+ in (\d{1,12}(?:\.\d{1,12})?)s\)", re.MULTILINE
)
_TAIL_BYTES = 1 << 20
_FILES_MAX = 20_000
_COUNTING = ('"token_usage_record"', '"token_count"')
_LIMITS = '"rate_limits"'
_NAMED = '"codex_error_info"'
_NO_NAME = "other"
_TIMED = "7"
"""The version of a UUID that begins with its time, in milliseconds."""


class CodexReader(JsonReader):
    """Reads threads, turns and items, and the tokens in Codex's log of the thread."""

    agent = "codex"
    tells_calls = True

    def __init__(self, env: Mapping[str, str] = ONLY_THE_STREAM, session: Session | None = None) -> None:
        super().__init__()
        self._rollout = Rollout(env)
        self._goes_on = session
        self._usage: Usage | None = None
        self._error: AgentError | None = None
        self._retrying: AgentError | None = None
        self._declined: list[str] = []
        self._finished = False

    @property
    def ended(self) -> bool:
        return self._finished

    def entry(self, entry: JsonRecord) -> list[AgentEvent]:
        """Return the events of a line."""
        match entry.text("type"):
            case "thread.started":
                self._session = entry.text("thread_id") or None
                return []
            case "turn.started":
                self._finished = False
                return []
            case "turn.completed":
                # An error before the end of the turn was overcome.
                self._usage, self._finished, self._error = _usage(entry.inside("usage")), True, None
                return [AgentEvent(EventKind.RESULT, "turn completed")]
            case "turn.failed":
                self._error, self._finished = _error(entry.inside("error").text("message")), False
                return [AgentEvent(EventKind.ERROR, self._error.message[:TEXT_MAX])]
            case "error":
                message = entry.text("message")
                if message.startswith("Reconnecting..."):
                    self._retrying = _error(message)
                    return [AgentEvent(EventKind.RETRY, message[:TEXT_MAX])]
                if not self._finished:
                    self._error = _error(message)
                return [AgentEvent(EventKind.ERROR, message[:TEXT_MAX])]
            case "item.started" | "item.updated" | "item.completed" as stage:
                return self._item(entry.inside("item"), done=stage == "item.completed")
            case _:
                return []

    @property
    def quota(self) -> tuple[Window, ...]:
        return self._rollout.windows

    def ending(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        self._rollout.used(self._session, at_once=True)
        error, retrying = self._explained(self._error), self._waiting(stderr)
        return AgentEvidence(self.agent, exit_code, stderr, error, retrying, self._finished, self._last_text)

    def refused(self, stderr: str) -> Iterable[str]:
        """Return the commands and edits that its own policy or sandbox refused: mostly its log alone tells of them."""
        yield from self._declined
        for refusal in _REFUSED.finditer(stderr):
            yield re.sub(r'(?<!\\)\\++"', '"', refusal["command"] or refusal["edit"] or refusal["file"])

    def used(self) -> Usage:
        """Return what the turn used, or what Codex's log of the thread says, which comes first in a session."""
        logged = self._rollout.used(self._session)
        before = self._goes_on
        if before is None or before.id != self._session:
            return replace(self._usage or logged, session_id=self._session)
        whole = logged if logged.tokens is not None else self._usage or Usage()
        return replace(less(whole, before.used), session_id=self._session)

    def amounts(self) -> Amounts:
        return {Resource.CONTEXT: self._rollout.context}

    def _explained(self, error: AgentError | None) -> AgentError | None:
        """Return the error with what Codex's log of the thread calls it; a message that is JSON in plain words."""
        if error is None:
            return None
        known = self._rollout.error
        if known is not None and known.message == error.message:
            error = replace(error, codes=known.codes, status=error.status or known.status)
        answer = parsed(error.message).inside("error") if error.message.startswith("{") else JsonRecord({})
        if not answer.text("message"):
            return error
        codes = (*error.codes, *error_codes(answer))
        return replace(error, message=answer.text("message"), codes=codes, details=error.message)

    def _waiting(self, stderr: str) -> AgentError | None:
        logged = last_match(_WAITS, stderr)
        at = log_time(logged[1]) if logged else None
        if self._retrying is None or logged is None or at is None:
            return self._retrying
        return replace(self._retrying, resets_at=at + float(logged[2]))

    def _item(self, item: JsonRecord, *, done: bool) -> list[AgentEvent]:
        if item.text("type") != "error":
            self._retrying = None  # work goes on
        if done:
            self.tool_ended(item.text("id"), succeeded=True)
        match item.text("type"):
            case "command_execution" | "file_change" if item.text("status") == "declined":
                self._declined.append(item.text("command") or "file_change")
                return []
            case "agent_message" if done:
                return self.text_event(item.text("text"))
            case "file_change" if done:
                paths = [change.text("path") for change in item.objects("changes")]
                return [AgentEvent(EventKind.EDIT, f"edited {', '.join(paths)}"[:TEXT_MAX])]
            case "command_execution" | "mcp_tool_call" | "web_search" as kind if not done:
                text = tool(item.text("tool") or kind, item)
                self.call_began(OpenCall(item.text("id"), text, item.text("command")))
                return [AgentEvent(EventKind.TOOL, text)]
            case "reasoning" | "todo_list" as kind:
                return [AgentEvent(EventKind.TOOL, kind)]
            case _:
                return []  # an item of type "error" is a warning


def _error(message: str) -> AgentError:
    status = _STATUS.search(message)
    return AgentError(message, status=int(status[1]) if status else None)


class Rollout(SessionLog):
    """The newest token count in Codex's log of one thread: `turn.completed` alone gives tokens, so a cut-off turn none.

    CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl has a `token_usage_record` as soon as an answer has
    come, and a `token_count` after its tools have run; both count the thread, but the latter forgets what was killed.

    `context` is how many tokens the newest answer's conversation had, and how many fit. `error` is the newest one, with
    Codex's name for it; it counts only if the stream ended with the same message.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        super().__init__()
        home = env.get("CODEX_HOME") or (f"{env['HOME']}/.codex" if env.get("HOME") else "")
        self._sessions = Path(home, "sessions") if home.startswith("/") else None
        self._path: Path | None = None
        self._size = 0
        self.error: AgentError | None = None
        self.windows: tuple[Window, ...] = ()
        self.context: tuple[int | None, int | None] = (None, None)

    def look(self, session: str) -> Usage | None:
        """Return the newest count, None if the log has not grown."""
        if self._path is None and self._sessions is not None:
            self._path = _log_of(session, self._sessions)
        descriptor = open_regular(self._path) if self._path is not None else None
        if descriptor is None:
            return None
        with os.fdopen(descriptor, "rb") as log:
            size = os.fstat(descriptor).st_size
            if size == self._size:
                return None
            self._size = size
            start = max(size - _TAIL_BYTES, 0)
            log.seek(start)
            lines = log.read(_TAIL_BYTES).decode("utf-8", "replace").split("\n")
        # The last line first; without the first one if the reading began in the middle of it.
        newest = lines[: 0 if start else None : -1]
        errors = (_logged_error(line) for line in newest if _NAMED in line)
        self.error = next((error for error in errors if error is not None), self.error)
        self.windows = next(filter(None, (_windows(line) for line in newest if _LIMITS in line)), self.windows)
        contexts = (_context(line) for line in newest if _COUNTING[1] in line)
        self.context = next((context for context in contexts if context[1] is not None), self.context)
        for word in _COUNTING:
            usages = (_logged_usage(line, session) for line in newest if word in line)
            counted = next((usage for usage in usages if usage is not None), None)
            if counted is not None:
                return counted
        return None


def _logged_error(line: str) -> AgentError | None:
    payload = JsonRecord.of(json_value(line)).inside("payload")
    error = payload.inside("error") or payload
    if not error.text("message"):
        return None
    name = error.text("codex_error_info")
    codes = (name,) if name and name != _NO_NAME else ()
    statuses = (
        JsonRecord.of(each).whole("http_status_code") for each in error.inside("codex_error_info").values.values()
    )
    return AgentError(error.text("message"), codes, next((status for status in statuses if status is not None), None))


_ALL = 100


def _windows(line: str) -> tuple[Window, ...]:
    payload = JsonRecord.of(json_value(line)).inside("payload")
    limits = payload.inside("rate_limits") or payload.inside("info", "rate_limits")
    credit = limits.inside("credits")
    has_credit = credit.flag("has_credits") or credit.flag("unlimited")
    windows = []
    for each in (limits.inside("primary"), limits.inside("secondary")):
        used, minutes = each.number("used_percent"), each.whole("window_minutes")
        if used is not None:
            name = WINDOWS.get(minutes or 0, f"{minutes or 0} minutes")
            beyond = used >= _ALL and has_credit  # it goes on from what was bought besides
            windows.append(Window(name, used / 100, each.time("resets_at"), beyond=beyond))
    return tuple(windows)


def _context(line: str) -> tuple[int | None, int | None]:
    info = JsonRecord.of(json_value(line)).inside("payload", "info")
    return info.inside("last_token_usage").whole("total_tokens"), info.whole("model_context_window")


def _logged_usage(line: str, thread: str) -> Usage | None:
    entry = JsonRecord.of(json_value(line))
    payload = entry.inside("payload")
    match entry.text("type"), payload.text("type"):
        case "token_usage_record", _ if payload.text("thread_id") == thread:
            return _usage(payload.inside("thread_token_usage"))
        case "event_msg", "token_count":
            return _usage(payload.inside("info", "total_token_usage"))
        case _:
            return None


def _usage(counts: JsonRecord) -> Usage | None:
    read, written = counts.whole("input_tokens"), counts.whole("output_tokens")
    if read is None and written is None:
        return None
    return Usage(tokens_in=read, tokens_out=written, tokens_cached=counts.whole("cached_input_tokens"))


def _log_of(thread: str, sessions: Path) -> Path | None:
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
    # A UUID of version 7 begins with its time, in 48 bits.
    milliseconds = int(thread[:8] + thread[9:13], 16)
    try:
        began = datetime.fromtimestamp(milliseconds / 1000, UTC) if thread[14] == _TIMED else datetime.now(UTC)
        for days in (0, -1, 1):
            yield f"{began + timedelta(days=days):%Y/%m/%d}"
    except (ValueError, OverflowError, OSError):
        return  # no day that a calendar has


class CodexAgent(Agent):
    """Translates orders to Codex's command line."""

    name = "codex"

    def invocation(self, order: AttemptOrder, place: RunPlace) -> Invocation:
        """Return the command line; noface's own slot and sandbox bound it, nobody is there to approve."""
        model = order.model
        permitted, temporary = permission_options(model, place)
        access, secrets = access_options(model, place)
        argv = [self.program(model), "exec", "--json", "--skip-git-repo-check"]
        argv += (*permitted, *access, *option("-m", model.model))
        argv += ("-c", 'model_reasoning_effort="high"') if order.think else ()
        argv += option("--output-schema", place.schema_file if order.answer_schema else "")
        env = defaults(
            model, ("RUST_LOG", _LOG), ("CODEX_SQLITE_HOME", f"{place.directory}/codex"), *temporary, *secrets
        )
        argv += (*model.args, *resuming("resume", order.session), "-")
        return Invocation(tuple(argv), place.prompt_file, env)

    def reader(self, env: Mapping[str, str] = ONLY_THE_STREAM, session: Session | None = None) -> CodexReader:
        return CodexReader(env, session)

    def session_usage(self, session: str, env: Mapping[str, str]) -> Usage:
        """Return what the whole thread has used: every count of a run that goes on with it begins there."""
        return Rollout(env).used(session, at_once=True)


AGENT: Agent = CodexAgent()
