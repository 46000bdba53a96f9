"""mini-swe-agent (recorded with 2.4.6): `mini -y --exit-immediately`. Its output is text in sections.

The section "Exit:" tells how it ended: LimitsExceeded, RepeatedFormatError, or what was submitted. A request that
failed for good exits with 1 and an exception at the end of standard error, which no agent writes to.
"""

import re
import sys
from collections import deque

from noface.agents.base import LAST_WORDS_MAX, AgentEvent, EventKind, Invocation, Place
from noface.agents.typed import SHOWN_MAX, TypedReader, unescaped
from noface.core.classify.agent_evidence import AgentError, AgentEvidence
from noface.core.model import AttemptOrder, ModelSpec, Usage

_ENV = (
    ("MSWEA_CONFIGURED", "true"),
    ("MSWEA_COST_TRACKING", "ignore_errors"),
    ("MSWEA_SILENT_STARTUP", "1"),
    ("MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT", "2"),
    ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
)
_SECTION = re.compile(r"(System|User|Tool|Exit):$|mini-swe-agent \(step (\d+), \$([\d.]+)\):$")
_RULE = re.compile(r"─{20,}$")
_SAVED = "Saved trajectory to "
_STATUS = re.compile(r"[A-Z]\w+(?:Exceeded|Error)")
_EXCEPTION = re.compile(r"(?:\w+\.)*(\w+(?:Error|Exception|Exceeded\w*|Timeout)): (.*)", re.DOTALL)
_LENGTH = "(finish_reason=length)"
_LINES_MAX = 200
_BUDGET_FROM_USD = 0.05
"""The exit status does not tell a limit of steps from one of money; nobody sets a budget below this."""


class MiniAgent:
    """Translates orders to mini's command line and its text to events."""

    def program(self, model: ModelSpec) -> str:
        """Return the program: `[models.NAME] command`, or mini."""
        return model.command or "mini"

    def invocation(self, order: AttemptOrder, place: Place) -> Invocation:
        """Return the command line; the prompt goes through a file of its own, since an argument may be too short."""
        task = f"{place.directory}/mini.task.yaml"
        argv = [self.program(order.model), "-y", "--exit-immediately", "-o", f"{place.directory}/mini.traj.json"]
        argv += ["-c", "mini.yaml", "-c", task]
        if order.model.model:
            argv += ["-m", order.model.model]
        if order.model.max_cost_usd is not None:
            argv += ["-l", f"{order.model.max_cost_usd:g}"]
        start = (sys.executable, "-P", "-m", "noface.agents.mini_task", place.prompt_file, task)
        return Invocation((*start, *argv, *order.model.args), None, _ENV)

    def reader(self) -> "MiniReader":
        """Return a reader of its sections."""
        return MiniReader()


class MiniReader(TypedReader):
    """Follows the sections; of each kind the newest counts, so that a tool's output cannot pose as the end."""

    agent = "mini"
    any_output_is_life = True

    def __init__(self) -> None:
        super().__init__()
        self._section = ""
        self._texts: dict[str, deque[str]] = {}
        self._cost: float | None = None

    def line(self, line: str) -> list[AgentEvent]:
        """Return the event of a section's first line, and of each line an agent says."""
        shown = unescaped(line).rstrip()
        start = _SECTION.match(shown)
        if start is not None:
            self._section = start[1] or "Agent"
            self._texts[self._section] = deque(maxlen=_LINES_MAX)
            self._cost = _dollars(start[3], self._cost)
            return [AgentEvent(EventKind.TOOL, f"step {start[2]}")] if start[2] else []
        if _RULE.match(shown):
            return []
        if self._section and not shown.startswith(_SAVED):
            self._texts[self._section].append(shown[:LAST_WORDS_MAX])
        return [AgentEvent(EventKind.TEXT, shown[:SHOWN_MAX])] if shown and self._section == "Agent" else []

    def gathered(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        """Return the evidence. No tokens are told; the cost is that before the last step."""
        ended = self._section == "Exit" and exit_code == 0
        error = self._by_status() if ended else self._by_exception(stderr) if exit_code else None
        submitted = self._text("Exit") if ended and error is None else ""
        said = self._text("Agent").partition("```")[0].strip()
        return AgentEvidence(
            self.agent,
            exit_code,
            stderr,
            error=error,
            finished=ended and error is None,
            last_words=submitted or said,
            usage=Usage(cost_usd=self._cost),
        )

    def _by_status(self) -> AgentError | None:
        status = self._text("Exit")
        if not _STATUS.fullmatch(status):
            return None
        code = status
        if status == "LimitsExceeded":
            code = f"{status}-{'cost' if (self._cost or 0.0) >= _BUDGET_FROM_USD else 'turns'}"
        elif status == "RepeatedFormatError" and _LENGTH in self._text("User"):
            code = f"{status}-length"
        return AgentError(status, (code,))

    def _by_exception(self, stderr: str) -> AgentError | None:
        """Return the exception that standard error ends with: after the last box of a traceback, wrapped."""
        told = _EXCEPTION.match(" ".join(unescaped(stderr).rpartition("╯")[2].split()))
        return AgentError(told[2][:LAST_WORDS_MAX], (told[1],)) if told else None

    def _text(self, section: str) -> str:
        return "\n".join(self._texts.get(section, ())).strip()


def _dollars(digits: str | None, before: float | None) -> float | None:
    try:
        return float(digits) if digits else before
    except ValueError:
        return before
