"""What the readers of agents' streams share: they gather evidence while a run goes on, and judge it at the end."""

import json
import math
import re
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

from noface.agents.base import ANSWER_MAX, LAST_WORDS_MAX, AgentEvent, Lines, Verdict
from noface.agents.wall import wall_clock
from noface.core.classify.agent import classify
from noface.core.classify.agent_evidence import AgentError, AgentEvidence
from noface.core.classify.agent_rules import ASKS, NOT_UNDERSTOOD
from noface.core.prices import COST_MAX_USD

SHOWN_MAX = 200
LITELLM_ENVIRONMENT = (
    "*_API_KEY", "*_API_BASE", "*_BASE_URL", "*_API_VERSION", "AWS_*", "AZURE_*", "GOOGLE_*", "VERTEX*", "LITELLM_*",
    "OLLAMA_*", "LM_STUDIO_*", "OPENAI_*", "DATABRICKS_*",
)  # fmt: skip
"""What litellm reads for the providers it knows; aider and mini-swe-agent stand on it."""
_CODES_MAX = 8
_DOCUMENT_MAX = 1_000_000
_ASKS = re.compile(
    r"(?:\[(?:y/n|yes/no|y|n|yes|no)\]|\((?:y/n|yes/no|y|n)\)|press (?:enter|return|any key)\b.{0,40}"
    r"|(?:password|passphrase|api key|token|username|email)\b.{0,20}:)\W{0,4}\Z",
    re.IGNORECASE,
)
_ANSI = re.compile(r"\x1b\[[0-9;:?]{0,32}[ -/]{0,2}[@-~]|\x1b\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)?")


class TypedReader(ABC):
    """Reads a stream line by line; `evidence` is what it says, `verdict` what that means."""

    any_output_is_life = False
    agent: ClassVar[str]

    def __init__(self) -> None:
        self._lines = Lines()

    def feed(self, data: bytes) -> list[AgentEvent]:
        """Return the events of the lines that `data` completes."""
        return [event for line in self._lines.feed(data) for event in self.line(line)]

    def verdict(self, exit_code: int | None, stderr: str) -> Verdict:
        """Judge the run by its evidence and the wall clock."""
        evidence = self.evidence(exit_code, stderr)
        judged = classify(evidence, wall_clock())
        failure = judged.failure
        words = evidence.last_words[:LAST_WORDS_MAX]
        return Verdict(
            evidence.usage,
            words,
            failure,
            finished=failure is None,
            resource=judged.resource or "",
            answer=evidence.last_words[-ANSWER_MAX:],
        )

    def evidence(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        """Return what the run left behind, once its process has ended."""
        unfinished = unescaped(self._lines.rest())
        self.feed(b"\n")
        gathered = self.gathered(exit_code, unescaped(stderr))
        typed = gathered.error is not None and (gathered.error.codes or gathered.error.status)
        if not asks(unfinished) or gathered.finished or typed:
            return gathered
        told = f"it asks at the terminal, where nobody can answer: {unfinished.strip()[-SHOWN_MAX:]}"
        return replace(gathered, error=AgentError(told, (ASKS,)))

    @abstractmethod
    def line(self, line: str) -> list[AgentEvent]:
        """Take one line of standard output and return its events."""

    @abstractmethod
    def gathered(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        """Return what the lines so far, the exit code and standard error amount to."""


class JsonReader(TypedReader):
    """Reads one JSON object a line. A line that is none is passed over, but the last one is remembered."""

    def __init__(self) -> None:
        super().__init__()
        self.plain = ""
        self.any_entry = False
        self._first = ""
        self._whole: list[str] = []
        self._room = _DOCUMENT_MAX

    def line(self, line: str) -> list[AgentEvent]:
        """Return the events of an entry."""
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if isinstance(entry, dict):
            self.any_entry = True
            return self.entry(entry)
        self.plain = line.strip()[:LAST_WORDS_MAX] or self.plain
        self._first = self._first or self.plain[:SHOWN_MAX]
        if not self.any_entry and self._room > len(line):
            self._room -= len(line) + 1
            self._whole.append(line)
        return []

    def evidence(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        """Return what the run left behind; what nobody understands is told as it is, and no fault of the worker."""
        gathered = super().evidence(exit_code, stderr)
        strange = exit_code == 0 and not self.any_entry and (self._first or self._lines.too_long)
        if not strange or gathered.finished or gathered.error is not None:
            return gathered
        said = f'"{self._first}"' if self._first else "a line too long to read"
        told = f"{self.agent} printed nothing that noface understands; it began with {said[:SHOWN_MAX]}"
        return replace(gathered, error=AgentError(told, (NOT_UNDERSTOOD,)))

    def document(self) -> dict[str, Any]:
        """Return what was printed as one JSON object over many lines, {} where it was none."""
        return {} if self.any_entry else parsed("\n".join(self._whole))

    @abstractmethod
    def entry(self, entry: dict[str, Any]) -> list[AgentEvent]:
        """Take one JSON object and return its events."""


def asks(unfinished: str) -> bool:
    """Tell whether output that ends in the middle of a line is a question that wants an answer from a keyboard."""
    return _ASKS.search(unfinished[-SHOWN_MAX:]) is not None


def table(value: object) -> dict[str, Any]:
    """Return a JSON object, {} where it is none."""
    return value if isinstance(value, dict) else {}


def text(value: object) -> str:
    """Return a JSON string, "" where it is none."""
    return value if isinstance(value, str) else ""


def number(value: object) -> float | None:
    """Return a JSON number that is one: neither a boolean nor infinite, nor too big for a float."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        result = float(value)
    except OverflowError:
        return None
    return result if math.isfinite(result) else None


def whole(value: object) -> int | None:
    """Return a JSON integer that counts something."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def total(*values: object) -> int | None:
    """Return the sum of the counts among `values`, None where there is none."""
    counts = [count for value in values if (count := whole(value)) is not None]
    return sum(counts) if counts else None


def cost(value: object) -> float | None:
    """Return an amount of dollars, None where the value is none that a run can cost."""
    amount = number(value)
    return amount if amount is not None and 0 <= amount <= COST_MAX_USD else None


def dollars(digits: str | None, before: float | None) -> float | None:
    """Return the amount that digits in a text mean, `before` where they mean none."""
    try:
        told = cost(float(digits)) if digits else None
    except ValueError:
        return before
    return before if told is None else told


def parsed(body: str) -> dict[str, Any]:
    """Return the JSON object in a provider's answer, {} where there is none."""
    start = body.find("{")
    if start < 0:
        return {}
    try:
        value, _ = json.JSONDecoder().raw_decode(body[start:])
    except (ValueError, RecursionError):
        return {}
    return table(value)


def error_codes(error: dict[str, Any]) -> tuple[str, ...]:
    """Return the names that a provider's error object gives itself, the most telling first."""
    reasons = error.get("details")
    given = [table(item).get("reason") for item in reasons] if isinstance(reasons, list) else []
    given += [error.get("code"), error.get("type"), error.get("status")]
    return tuple(item for item in given if isinstance(item, str) and item)[:_CODES_MAX]


def tool(name: object, given: object) -> str:
    """Return what a tool call looks like to a person: its name and what it is about."""
    values = table(given)
    keys = ("file_path", "filePath", "path", "command", "pattern", "query", "description")
    target = next((values[key] for key in keys if values.get(key)), "")
    return " ".join(f"{name or 'tool'} {target}"[: 2 * SHOWN_MAX].split())[:SHOWN_MAX]


def unescaped(line: str) -> str:
    """Return text without colours and other escape sequences."""
    return _ANSI.sub("", line) if "\x1b" in line else line
