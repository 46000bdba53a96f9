"""What mini-swe-agent prints (seen with 2.4.6): text in sections, and `mini_task`'s summary as the last line.

Of a run without a summary the section "Exit:" tells how it ended: LimitsExceeded, RepeatedFormatError, or what was
submitted. A request that failed for good exits with 1 and an exception at the end of standard error, which no agent
writes to.
"""

import json
import re
from typing import Any

from noface.agents.base import LAST_WORDS_MAX, AgentEvent, EventKind, Tail
from noface.agents.mini_task import SUMMARY, USED
from noface.agents.typed import SHOWN_MAX, TypedReader, cost, dollars, table, text, unescaped, whole
from noface.core.classify.agent_evidence import AgentError, AgentEvidence
from noface.core.worker_run import Usage

_SECTION = re.compile(r"(System|User|Tool|Exit):$|mini-swe-agent \(step (\d+), \$([\d.]+)\):$")
_RULE = re.compile(r"─{20,}$")
_SAVED = "Saved trajectory to "
_STATUS = re.compile(r"[A-Z]\w+(?:Exceeded|Error)")
_EXCEPTION = re.compile(r"(?:\w+\.)*(\w+(?:Error|Exception|Exceeded\w*|Timeout)): (.*)", re.DOTALL)
_LENGTH = "(finish_reason=length)"
_SUMMARY = f'{{"{SUMMARY}": '
_USED = f'{{"{USED}": '
_COUNTS = ("tokens_in", "tokens_out", "tokens_cached")
_ROUNDED_USD = 0.006
_BUDGET_FROM_USD = 0.05
"""The exit status does not tell a limit of steps from one of money; nobody sets a budget below this."""


class MiniReader(TypedReader):
    """Follows the sections; of each kind the newest counts, so that a tool's output cannot pose as the end."""

    agent = "mini"

    def __init__(self) -> None:
        super().__init__()
        self._section = ""
        self._texts: dict[str, Tail] = {}
        self._cost: float | None = None
        self._summary: dict[str, Any] = {}
        self._used: dict[str, Any] = {}

    def line(self, line: str) -> list[AgentEvent]:
        """Return the event of a section's first line, and of each line an agent says."""
        if line.startswith(_SUMMARY):
            self._used = self._summary = _told(line, SUMMARY)
            return []
        if line.startswith(_USED):
            self._used = _told(line, USED)
            return []
        shown = unescaped(line).rstrip()
        start = _SECTION.match(shown)
        if start is not None:
            self._section = start[1] or "Agent"
            self._texts[self._section] = Tail()
            self._cost = dollars(start[3], self._cost)
            named = f"step {start[2]}" if start[2] else "its tool has run" if self._section == "Tool" else ""
            return [AgentEvent(EventKind.TOOL, named)] if named else []
        if _RULE.match(shown):
            return []
        if self._section and not shown.startswith(_SAVED):
            self._texts[self._section].append(shown)
        return [AgentEvent(EventKind.TEXT, shown[:SHOWN_MAX])] if shown and self._section == "Agent" else []

    def gathered(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        """Return the evidence."""
        told = self._summary
        ended = exit_code == 0 and (self._section == "Exit" or bool(told))
        error = self._by_status() if ended else self._by_exception(stderr) if exit_code else None
        submitted = text(told.get("submission")).strip() or self._text("Exit") if ended and error is None else ""
        said = self._text("Agent").partition("```")[0].strip()
        return AgentEvidence(
            self.agent,
            exit_code,
            stderr,
            error=error,
            finished=ended and error is None,
            last_words=submitted or said,
            usage=self.used(),
        )

    def used(self) -> Usage:
        """Return what the newest summary says; of a step since then the cost in whole cents is known."""
        exact, by_steps = cost(self._used.get("cost_usd")), self._cost
        newer = exact is None or (not self._summary and by_steps is not None and by_steps > exact + _ROUNDED_USD)
        counts = [whole(self._used.get(name)) for name in _COUNTS]
        return Usage(by_steps if newer else exact, counts[0], counts[1], tokens_cached=counts[2])

    def _by_status(self) -> AgentError | None:
        status = text(self._summary.get("exit_status")) or self._text("Exit")
        if not _STATUS.fullmatch(status):
            return None
        code = status
        if status == "LimitsExceeded":
            guess = "cost" if (self._cost or 0.0) >= _BUDGET_FROM_USD else "turns"
            code = f"{status}-{text(self._summary.get('limit')) or guess}"
        elif status == "RepeatedFormatError" and _LENGTH in self._text("User"):
            code = f"{status}-length"
        return AgentError(status, (code,))

    def _by_exception(self, stderr: str) -> AgentError | None:
        """Return the exception that standard error ends with: after the last box of a traceback, wrapped."""
        told = _EXCEPTION.match(" ".join(unescaped(stderr).rpartition("╯")[2].split()))
        return AgentError(told[2][:LAST_WORDS_MAX], (told[1],)) if told else None

    def _text(self, section: str) -> str:
        return self._texts[section].text if section in self._texts else ""


def _told(line: str, name: str) -> dict[str, Any]:
    try:
        return table(table(json.loads(line)).get(name))
    except (ValueError, RecursionError):
        return {}
