"""Gemini CLI (seen with 0.61.0): `gemini -o stream-json`, prompt on stdin.

The login and the sessions stay in ~/.gemini, since the former is renewed there. Unless the person's settings act, its
home is one that `own_settings` makes, with links to these. It has no option for extended thinking, for a limit of cost,
nor for its retries: up to ten a request, each after the wait that the provider asked for, told in standard error alone.

`result.status` says more than the exit code: broken, malformed and empty answers exit with 0. Of a failed request the
exit code is the HTTP status & 255. An answer cut off at the output limit is reported as a success (see `ending`).
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

from noface.agents.base import (
    ANSWER_MAX,
    LAST_WORDS_MAX,
    ONLY_THE_STREAM,
    OWN_SETTINGS,
    Agent,
    AgentEvent,
    EventKind,
    Invocation,
    RunPlace,
    defaults,
    denied_tools,
    option,
    resuming,
)
from noface.agents.json_stream import TEXT_MAX, JsonReader, error_codes, last_match
from noface.agents.session_log import GrowingFile, SessionLog, less
from noface.diagnosis.agent import stops_mid_sentence
from noface.diagnosis.agent_errors import AgentError, AgentEvidence, Amounts, Resource
from noface.extras.own_settings import started
from noface.model.access import Settings, Tool
from noface.model.attempt import AttemptOrder
from noface.model.json_record import JsonRecord, json_value, parsed, total
from noface.model.worker_run import Session, Usage
from noface.process.files import is_folder, open_regular

_FOLDERS_MAX = 5_000
_FILES_MAX = 20_000
_SUBAGENTS_MAX = 200
_MESSAGES_MAX = 100_000
_FIRST_LINE_BYTES = 64_000
_ID_DIGITS = 8

_Counts = tuple[int | None, int | None, int | None]


class GeminiLog(SessionLog):
    """What a session has used by its files; `env` is Gemini CLI's environment, without a home there are none."""

    def __init__(self, env: Mapping[str, str]) -> None:
        super().__init__()
        home = env.get("GEMINI_CLI_HOME") or env.get("HOME", "")
        self._projects = Path(home, ".gemini", "tmp") if home.startswith("/") else None
        self._main: Path | None = None
        self._files: dict[Path, GrowingFile] = {}
        self._counts: dict[str, _Counts] = {}

    def look(self, session: str) -> Usage | None:
        """Return the sum of the messages' tokens, None before there are any."""
        if self._main is None and self._projects is not None:
            self._main = _file_of(session, self._projects)
        if self._main is None:
            return None
        folder = self._main.parent / session
        names = _listed(folder, _SUBAGENTS_MAX) if is_folder(folder) else ()
        for path in (self._main, *(folder / name for name in names if name.endswith(".jsonl"))):
            for line in self._files.setdefault(path, GrowingFile(path)).new_lines():
                # Most lines are tools and their results, and long: they are not parsed.
                if '"tokens"' in line:
                    self._take(JsonRecord.of(json_value(line)))
        if not self._counts:
            return None
        sent, received, cached = (total(*counts) for counts in zip(*self._counts.values(), strict=True))
        return Usage(tokens_in=sent, tokens_out=received, tokens_cached=cached)

    def _take(self, line: JsonRecord) -> None:
        for message in (line, *line.inside("$set").objects("messages")):
            tokens, identity = message.inside("tokens"), message.text("id")
            if tokens and identity and (identity in self._counts or len(self._counts) < _MESSAGES_MAX):
                sent = tokens.total("input", "tool")
                self._counts[identity] = (sent, tokens.total("output", "thoughts"), tokens.whole("cached"))


def _file_of(session: str, projects: Path) -> Path | None:
    for project in _listed(projects, _FOLDERS_MAX):
        chats = projects / project / "chats"
        if not (is_folder(projects / project) and is_folder(chats)):
            continue
        for name in _listed(chats, _FILES_MAX):
            named = name.startswith("session-") and name.endswith(f"-{session[:_ID_DIGITS]}.jsonl")
            if named and _session_in(chats / name) == session:
                return chats / name
    return None


def _session_in(path: Path) -> str:
    descriptor = open_regular(path)
    if descriptor is None:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        line = file.readline(_FIRST_LINE_BYTES).decode("utf-8", "replace")
    return JsonRecord.of(json_value(line)).text("sessionId")


def _listed(folder: Path, most: int) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in islice(entries, most)]
    except FileNotFoundError:
        return []


_STATUS_OF_EXIT = {status & 255: status for status in (400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504)}
_POLICIES = Path(__file__).parents[2] / "data" / "gemini_policies"
_TRUST = (("GEMINI_CLI_TRUST_WORKSPACE", "true"),)  # --skip-trust comes too late for the settings of the project
_NO_SERVER = "noface-allows-none"
_LOOP = "Loop detected, stopping"
# Of errors of its own: login, input, sandbox, configuration, turns, trust. No HTTP status & 255 is among them.
_OWN_EXITS = frozenset({41, 42, 44, 52, 53, 55})
_TRY = re.compile(
    r"^Attempt \d{1,3} failed(?: with status (\d{3}))?[.:] (.{0,2000}(?:\n(?![ }]).{0,300})?)", re.MULTILINE
)


class GeminiReader(JsonReader):
    """Reads messages, tools and the result."""

    agent = "gemini"
    tells_calls = True

    def __init__(self, env: Mapping[str, str] = ONLY_THE_STREAM, session: Session | None = None) -> None:
        super().__init__()
        self._log = GeminiLog(env)
        self._before = session
        self._result = JsonRecord({})
        self._noted = ""
        self._loops = False
        self._tools = self._turns = 0
        self._refused: list[str] = []
        self._awaits_answer = True

    def entry(self, entry: JsonRecord) -> list[AgentEvent]:
        """Return the events of a line."""
        kind, asked = entry.text("type"), self._awaits_answer
        self._awaits_answer = kind in ("init", "tool_result") or entry.text("role") == "user"
        self._turns += asked and kind in ("message", "tool_use") and not self._awaits_answer
        match kind:
            case "init":
                self._session = entry.text("session_id") or None
                return []
            case "message" if entry.text("role") == "assistant":
                piece = entry.text("content")
                self._last_text = (self._last_text + piece if entry.flag("delta") else piece)[-ANSWER_MAX:]
                return [AgentEvent(EventKind.TEXT, piece[:LAST_WORDS_MAX])]
            case "tool_use":
                self._last_text = ""
                self._tools += 1
                return self.tool_started(entry.text("tool_id"), entry.text("tool_name"), entry.inside("parameters"))
            case "tool_result":
                if entry.inside("error").text("type") == "policy_violation":
                    self._refused.append(self._open_edits.get(entry.text("tool_id"), "a tool"))
                return self.tool_ended(entry.text("tool_id"), succeeded=entry.text("status") == "success")
            case "error":
                note = entry.text("message")
                self._loops = self._loops or note.startswith(_LOOP)
                self._noted = note if entry.text("severity") != "warning" else self._noted
                return [AgentEvent(EventKind.ERROR, note[:TEXT_MAX])]
            case "result":
                self._result = entry
                return [AgentEvent(EventKind.RESULT, entry.text("status"))]
            case _:
                return []

    @property
    def ended(self) -> bool:
        return bool(self._result)

    def ending(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        """Return how the run ended. `-o json` among the arguments makes one document of it all."""
        self._log.used(self._session, at_once=True)
        document = self.document()
        if not self._result and document.text("response"):
            # A document tells of no tools: with one counted, an answer that only looks cut off is not taken for cut.
            self._last_text, self._tools = document.text("response"), 1
            self._session = document.text("session_id") or None
            self._result = JsonRecord({"status": "success"})
        good = self._result.text("status") == "success"
        error = None if good else self._failure(exit_code, stderr)
        if good and self._loops:
            error = AgentError("it was stopped since it did the same again and again", ("loop",))
        elif good and not self._tools and stops_mid_sentence(self._last_text):
            # Streams that break are reported as such, so only the limit is left, of which the CLI has no other sign.
            error = AgentError("the answer stops in the middle of a sentence: the output limit", ("answer-cut",))
        finished, retrying = good and error is None, self._waiting(stderr)
        return AgentEvidence(self.agent, exit_code, stderr, error, retrying, finished, self._last_text)

    def used(self) -> Usage:
        """Return what its result says, and until there is one what its session's files say; it never has a cost.

        The result counts this run alone, and what was asked beside the conversation as well, but of what the model
        wrote it leaves out the thoughts, which only its total has. The files count the whole session.
        """
        logged = self._log.used(self._session)
        if self._before is not None and self._before.id == self._session:
            logged = less(logged, self._before.used)
        stats = self._result.inside("stats")
        sent, written, every = (stats.whole(f"{name}_tokens") for name in ("input", "output", "total"))
        if sent is None or written is None or (not every and logged.tokens):
            return replace(logged, session_id=self._session)
        written = max(written, (every or 0) - sent)
        return Usage(tokens_in=sent, tokens_out=written, session_id=self._session, tokens_cached=stats.whole("cached"))

    def refused(self, stderr: str) -> Iterable[str]:
        del stderr
        return self._refused

    def amounts(self) -> Amounts:
        return {Resource.TURNS: (self._turns or None, None)}

    def _waiting(self, stderr: str) -> AgentError | None:
        """Return what it is trying to overcome: the last failed try, if no answer has come since it asked."""
        failed = last_match(_TRY, stderr)
        if failed is None or not self._awaits_answer:
            return None
        body = parsed(failed[2]).inside("error")
        status = body.whole("code") or int(failed[1] or 0) or None
        return AgentError(body.text("message") or failed[2].strip(), error_codes(body), status)

    def _failure(self, exit_code: int | None, stderr: str) -> AgentError | None:
        given = self._result.inside("error") or parsed(stderr[stderr.rfind("\n{") + 1 :]).inside("error")
        message = given.text("message") or self._noted
        own = (f"exit-{exit_code}",) if exit_code in _OWN_EXITS else ()
        status = _STATUS_OF_EXIT.get(exit_code or 0)
        if not (self._result or own or status):
            return None
        body = parsed(message).inside("error")
        kind = given.text("type")
        codes = ((kind,) if kind not in ("", "unknown", "Error") else ()) + own + error_codes(body)
        code = body.whole("code") or status
        return AgentError(body.text("message") or message, codes, code, details=message if body else "")


class GeminiAgent(Agent):
    """Translates orders to Gemini CLI's command line."""

    name = "gemini"

    def invocation(self, order: AttemptOrder, place: RunPlace) -> Invocation:
        """Return the command line.

        Its approval mode lets through whatever is offered; what a run may not use is denied by policies that come
        before all others, and is not even offered to the model. A folder that it is not told to trust has no settings
        and no instructions of the project's; there its approval mode has no effect, and a policy takes its place.
        """
        model = order.model
        trusts = model.settings is not Settings.NONE
        argv = [self.program(model), "-o", "stream-json", "--approval-mode", "yolo"]
        argv += ("--skip-trust",) if trusts else ()
        argv += option("-m", model.model)
        denied = denied_tools(model)
        names = ["always", *(f"no_{tool}" for tool in denied), *(() if trusts else ("allow",))]
        for name in names:
            argv += ("--admin-policy", str(_POLICIES / f"{name}.toml"))
        argv += ("--allowed-mcp-server-names", _NO_SERVER) if Tool.MCP in denied else ()
        argv += (*resuming("--resume", order.session), *model.args)
        own = f"{place.directory}/{OWN_SETTINGS}"
        command = started(model, own, argv)
        return Invocation(command, place.prompt_file, defaults(model, *(_TRUST if trusts else ())), dropped=(own,))

    def reader(self, env: Mapping[str, str] = ONLY_THE_STREAM, session: Session | None = None) -> GeminiReader:
        return GeminiReader(env, session)

    def session_usage(self, session: str, env: Mapping[str, str]) -> Usage:
        return GeminiLog(env).used(session, at_once=True)


AGENT: Agent = GeminiAgent()
