"""What the readers of agents' streams share: they collect evidence while a run goes on, and judge it at the end."""

import os
import re
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import ClassVar
from zoneinfo import ZoneInfo

from noface.agents.base import (
    ANSWER_MAX,
    LAST_WORDS_MAX,
    AgentEvent,
    EventKind,
    Lines,
    OpenCall,
    RunVerdict,
    StreamReader,
)
from noface.data import table
from noface.diagnosis.agent import classify
from noface.diagnosis.agent_errors import ASKS, NOT_UNDERSTOOD, AgentError, AgentEvidence, Amounts, begins_page
from noface.diagnosis.reset_times import WallClock
from noface.model.budget import sane_cost
from noface.model.json_record import JsonRecord, json_value, parsed

TEXT_MAX = 200
_CODES_MAX = 8
_REFUSED_MAX = 3
_OPEN_TOOLS_MAX = 1_000
_DOCUMENT_MAX = 1_000_000
_ASKS = re.compile(
    r"(?:\[(?:y/n|yes/no|y|n|yes|no)\]|\((?:y/n|yes/no|y|n)\)|press (?:enter|return|any key)\b.{0,40}"
    r"|(?:password|passphrase|api key|token|username|email)\b.{0,20}:)\W{0,4}\Z",
    re.IGNORECASE,
)
_ANSI = re.compile(r"\x1b\[[0-9;:?]{0,32}[ -/]{0,2}[@-~]|\x1b\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)?")


class LineReader(StreamReader):
    """Reads a stream line by line; `evidence` is what it shows, `verdict` what that means."""

    agent: ClassVar[str]

    def __init__(self) -> None:
        self._lines = Lines()
        self._last_text = ""
        self._session: str | None = None
        self._cost: float | None = None

    def feed(self, data: bytes) -> list[AgentEvent]:
        return [event for line in self._lines.feed(data) for event in self.line(line)]

    def verdict(self, exit_code: int | None, stderr: str) -> RunVerdict:
        """Judge the run by its evidence and the local clock."""
        evidence = self.evidence(exit_code, stderr)
        judged = classify(evidence, local_clock())
        return RunVerdict(
            evidence.usage,
            evidence.last_words[:LAST_WORDS_MAX],
            judged.failure,
            finished=judged.failure is None,
            resource=judged.resource or "",
            answer=evidence.last_words[-ANSWER_MAX:],
            refused=tuple(dict.fromkeys(self.refused(evidence.stderr)))[-_REFUSED_MAX:],
        )

    def evidence(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        """Return what the run left behind, once its process has ended."""
        unfinished = unescaped(self._lines.rest())
        # A last line counts without its end, too.
        self.feed(b"\n")
        run = self.ending(exit_code, unescaped(stderr))
        coded = run.error is not None and (run.error.codes or run.error.status)
        # An error that has a code says more than a question that the program left standing.
        if not run.finished and not coded and asks(unfinished):
            message = f"it asks at the terminal, where nobody can answer: {unfinished.strip()[-TEXT_MAX:]}"
            run = replace(run, error=AgentError(message, (ASKS,)))
        return replace(run, usage=self.used(), amounts=self.amounts())

    def amounts(self) -> Amounts:
        return {}

    def refused(self, stderr: str) -> Iterable[str]:
        del stderr
        return ()

    @abstractmethod
    def line(self, line: str) -> list[AgentEvent]:
        """Take one line of standard output and return its events."""

    @abstractmethod
    def ending(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        """Return what the lines so far, the exit code and standard error amount to, without usage and amounts."""


class JsonReader(LineReader):
    """Reads one JSON object a line. A line that is none is passed over, but the last one is remembered."""

    def __init__(self) -> None:
        super().__init__()
        self._calls = table("agents").get(self.agent, {}).get("calls", {})
        self.plain = ""
        self.any_entry = False
        self._first = ""
        self._document: list[str] = []
        self._room = _DOCUMENT_MAX
        self._open_edits: dict[str, str] = {}
        self._open_calls: dict[str, OpenCall] = {}

    @property
    def open_calls(self) -> Sequence[OpenCall]:
        return tuple(self._open_calls.values())

    def line(self, line: str) -> list[AgentEvent]:
        """Return the events of an entry."""
        entry = json_value(line)
        if isinstance(entry, dict):
            self.any_entry = True
            return self.entry(JsonRecord(entry))
        self.plain = line.strip()[:LAST_WORDS_MAX] or self.plain
        self._first = self._first or self.plain[:TEXT_MAX]
        if not self.any_entry and self._room > len(line):
            self._room -= len(line) + 1
            self._document.append(line)
        return []

    def evidence(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        """Return what the run left behind; output that nobody understands is no fault of the worker."""
        evidence = super().evidence(exit_code, stderr)
        strange = exit_code == 0 and not self.any_entry and (self._first or self._lines.too_long)
        if not strange or evidence.finished or evidence.error is not None:
            return evidence
        start = f'"{self._first}"' if self._first else "a line too long to read"
        message = f"{self.agent} printed nothing that noface understands; it began with {start[:TEXT_MAX]}"
        codes = () if begins_page(self._first) else (NOT_UNDERSTOOD,)  # a page for people: the words tell that
        return replace(evidence, error=AgentError(message, codes))

    def document(self) -> JsonRecord:
        return JsonRecord({}) if self.any_entry else parsed("\n".join(self._document))

    @abstractmethod
    def entry(self, entry: JsonRecord) -> list[AgentEvent]:
        """Take one JSON object and return its events."""

    def text_event(self, text: str) -> list[AgentEvent]:
        self._last_text = text
        return [AgentEvent(EventKind.TEXT, self._last_text[:LAST_WORDS_MAX])]

    def tool_started(self, call: str, name: str, given: JsonRecord) -> list[AgentEvent]:
        """Return the event of a tool call that begins; `call` is its id."""
        call_text, edits = tool(name, given), self.edits(name)
        if edits and len(self._open_edits) < _OPEN_TOOLS_MAX:
            self._open_edits[call] = call_text
        elif not edits and name not in self._calls.get("quick", ()):
            command = given.text("command") if name in self._calls.get("run", ()) else ""
            self.call_began(OpenCall(call, call_text, command))
        return [AgentEvent(EventKind.TOOL, call_text)]

    def edits(self, name: str) -> bool:
        return name in self._calls.get("edit", ())

    def call_began(self, call: OpenCall) -> None:
        if self.tells_calls and len(self._open_calls) < _OPEN_TOOLS_MAX:
            self._open_calls.setdefault(call.id, call)

    def tool_ended(self, call: str, *, succeeded: bool) -> list[AgentEvent]:
        self._open_calls.pop(call, None)
        edit = self._open_edits.pop(call, "")
        return [AgentEvent(EventKind.EDIT, edit)] if edit and succeeded else []


def asks(unfinished: str) -> bool:
    return _ASKS.search(unfinished[-TEXT_MAX:]) is not None


_LITELLM = re.compile(r"(?:litellm\.)?(\w+): ")


def litellm_codes(message: str) -> tuple[str, ...]:
    names: list[str] = []
    place = 0
    while match := _LITELLM.match(message, place):
        names.insert(0, match[1])
        place = match.end()
    return tuple(dict.fromkeys(names))


def dollars(digits: str | None, before: float | None) -> float | None:
    try:
        amount = sane_cost(float(digits)) if digits else None
    except ValueError:
        return before
    return before if amount is None else amount


def log_time(stamp: str) -> float | None:
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except (ValueError, OverflowError):
        return None


def last_match(pattern: re.Pattern[str], value: str) -> re.Match[str] | None:
    newest = deque(pattern.finditer(value), maxlen=1)
    return newest[0] if newest else None


def error_codes(error: JsonRecord) -> tuple[str, ...]:
    names = [item.text("reason") for item in error.objects("details")]
    names += [error.text(key) for key in ("code", "type", "status")]
    return tuple(name for name in names if name)[:_CODES_MAX]


def tool(name: str, given: JsonRecord) -> str:
    """Return what a tool call looks like to a person: its name and what it is about, a command as it is."""
    keys = ("file_path", "filePath", "path", "command", "pattern", "query", "description")
    target = next((given.values[key] for key in keys if given.values.get(key)), "")
    return f"{name or 'tool'} {target}".strip()[:TEXT_MAX]


def unescaped(line: str) -> str:
    return _ANSI.sub("", line) if "\x1b" in line else line


def local_clock() -> WallClock:
    name = os.environ.get("TZ", "").removeprefix(":")
    here = (named_zone(name) if name else None) or datetime.now().astimezone().tzinfo  # the offset that holds just now
    return WallClock(time.time(), here or UTC, named_zone)


def named_zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return None
