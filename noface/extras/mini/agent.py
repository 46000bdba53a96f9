"""mini-swe-agent (seen with 2.4.6): `mini -y --exit-immediately`.

How a run ended and what it cost stand in the trajectory that it leaves; `task` prints their essence as a last line of
JSON. It keeps no session, and nothing of its own keeps it from editing: only noface's sandbox holds it to "read-only".

Of a run without a summary the section "Exit:" tells how it ended: LimitsExceeded, RepeatedFormatError, or what was
submitted. A request that failed for good exits with 1 and an exception on standard error.
"""

import os
import re
import sys
from math import ceil

from noface.agents.base import (
    LAST_WORDS_MAX,
    Agent,
    AgentEvent,
    EventKind,
    Invocation,
    RunPlace,
    TextTail,
    defaults,
    option,
)
from noface.agents.json_stream import TEXT_MAX, LineReader, dollars, litellm_codes, unescaped
from noface.diagnosis.agent_errors import AgentError, AgentEvidence, Amounts, Resource
from noface.extras.mini.task import SUMMARY, USED
from noface.model.access import Settings
from noface.model.attempt import AttemptOrder
from noface.model.json_record import JsonRecord, json_value
from noface.model.worker_run import Usage

_ENV = (
    ("MSWEA_CONFIGURED", "true"),
    ("MSWEA_COST_TRACKING", "ignore_errors"),
    ("MSWEA_SILENT_STARTUP", "1"),
    ("MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT", "2"),
    ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
)
_BUILT_IN = "../config/mini.yaml"
"""mini looks for a configuration below the working directory first, where a project may have a mini.yaml: this way
leads to nothing there, and in mini's own folder of that name to its own."""
_PERSONS = "MSWEA_MINI_CONFIG_PATH"
_SECTION = re.compile(r"(System|User|Tool|Exit):$|mini-swe-agent \(step (\d+), \$([\d.]+)\):$")
_RULE = re.compile(r"─{20,}$")
_SAVED = "Saved trajectory to "
_STATUS = re.compile(r"[A-Z]\w+(?:Exceeded|Error)")
_EXCEPTION = re.compile(
    r"(?:\w{1,100}\.){0,20}(\w{1,100}(?:Error|Exception|Exceeded\w{0,40}|Timeout)): (.*)", re.DOTALL
)
_LENGTH = "(finish_reason=length)"
_TELLING = ("length", "content_filter", "refusal")
"""Reasons for which an answer ended that tell why no command was in it."""
_SUMMARY = f'{{"{SUMMARY}": '
_USED = f'{{"{USED}": '
_COUNTS = ("tokens_in", "tokens_out", "tokens_cached")
_ROUNDED_USD = 0.006
_BUDGET_FROM_USD = 0.05
"""The exit status is the same for a limit of steps and one of money; nobody sets a budget below this."""


class MiniReader(LineReader):
    """Follows the sections; of each kind the newest counts, so that a tool's output cannot pose as the end."""

    agent = "mini"

    def __init__(self) -> None:
        super().__init__()
        self._section = ""
        self._texts: dict[str, TextTail] = {}
        self._summary = JsonRecord({})
        self._used = JsonRecord({})
        self._steps: int | None = None

    def line(self, line: str) -> list[AgentEvent]:
        """Return the event of a section's first line, and of each line of an answer."""
        if line.startswith(_SUMMARY):
            self._used = self._summary = JsonRecord.of(json_value(line)).inside(SUMMARY)
            return []
        if line.startswith(_USED):
            self._used = JsonRecord.of(json_value(line)).inside(USED)
            return []
        plain = unescaped(line).rstrip()
        start = _SECTION.match(plain)
        if start is not None:
            self._section = start[1] or "Agent"
            self._texts[self._section] = TextTail()
            self._cost, self._steps = dollars(start[3], self._cost), int(start[2] or 0) or self._steps
            named = f"step {start[2]}" if start[2] else "its tool has run" if self._section == "Tool" else ""
            return [AgentEvent(EventKind.TOOL, named)] if named else []
        if _RULE.match(plain):
            return []
        if self._section and not plain.startswith(_SAVED):
            self._texts[self._section].append(plain)
        return [AgentEvent(EventKind.TEXT, plain[:TEXT_MAX])] if plain and self._section == "Agent" else []

    def ending(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        ended = exit_code == 0 and (self._section == "Exit" or bool(self._summary))
        error = self._by_status() if ended else self._by_exception(stderr) if exit_code else None
        finished = ended and error is None
        submitted = self._summary.text("submission").strip() or self._text("Exit") if finished else ""
        last_words = submitted or self._text("Agent").partition("```")[0].strip()
        return AgentEvidence(self.agent, exit_code, stderr, error, finished=finished, last_words=last_words)

    def used(self) -> Usage:
        """Return the usage in the newest summary; of a step since then the cost in whole cents is known."""
        exact, by_steps = self._used.cost("cost_usd"), self._cost
        newer = exact is None or (not self._summary and by_steps is not None and by_steps > exact + _ROUNDED_USD)
        counts = [self._used.whole(name) for name in _COUNTS]
        return Usage(by_steps if newer else exact, counts[0], counts[1], tokens_cached=counts[2])

    def amounts(self) -> Amounts:
        steps, cost = self._summary.whole("steps"), self._summary.cost("cost_usd")
        return {
            Resource.TURNS: (self._steps if steps is None else steps, self._summary.whole("step_limit") or None),
            Resource.BUDGET: (self._cost if cost is None else cost, self._summary.cost("cost_limit") or None),
        }

    def _by_status(self) -> AgentError | None:
        status = self._summary.text("exit_status") or self._text("Exit")
        if not _STATUS.fullmatch(status):
            return None
        code = status
        if status == "LimitsExceeded":
            guess = "cost" if (self._cost or 0.0) >= _BUDGET_FROM_USD else "turns"
            code = f"{status}-{self._summary.text('limit') or guess}"
        elif status == "RepeatedFormatError":
            finish = self._summary.text("finish") or ("length" if _LENGTH in self._text("User") else "")
            code = f"{status}-{finish}" if finish in _TELLING else status
        return AgentError(status, (code,))

    def _by_exception(self, stderr: str) -> AgentError | None:
        exception = _EXCEPTION.match(" ".join(unescaped(stderr).rpartition("╯")[2].split()))
        if exception is None:
            return None
        codes = (*litellm_codes(exception[2]), exception[1])
        return AgentError(exception[2][:LAST_WORDS_MAX], tuple(dict.fromkeys(codes)))

    def _text(self, section: str) -> str:
        return self._texts[section].text if section in self._texts else ""


class MiniAgent(Agent):
    """Translates orders to mini's command line."""

    name = "mini"
    stream = MiniReader
    enforces_cost = True

    def invocation(self, order: AttemptOrder, place: RunPlace) -> Invocation:
        """Return the command line; the prompt goes through a file of its own, since an argument may be too short."""
        files = f"{place.directory}/mini"
        trajectory = f"{files}.traj.json"
        argv = [sys.executable, "-P", "-m", "noface.extras.mini.task", place.prompt_file, files]
        argv += [self.program(order.model), "-y", "--exit-immediately", "-o", trajectory]
        model = order.model
        own = dict(model.env).get(_PERSONS, os.environ.get(_PERSONS, "")) if model.settings is Settings.USER else ""
        argv += ["-c", own or _BUILT_IN, "-c", f"{files}.task.yaml"]
        # of itself it ends each command after half a minute, a test run among them
        argv += ["-c", f"environment.timeout={ceil(order.model.timeout_s)}"]
        argv += option("-m", order.model.model)
        argv += ("-l", f"{order.cost_usd_max or 0:g}")  # without it, it stops at $3.00
        # dropped if the model has no such thing
        argv += option("-c", "model.model_kwargs.reasoning_effort=high" if order.think else "")
        return Invocation((*argv, *order.model.args), None, defaults(order.model, *_ENV))


AGENT: Agent = MiniAgent()
