"""Claude Code (seen with 2.1.330): `claude -p --output-format stream-json`, prompt on stdin.

Its own retries are bounded, so that noface's backoff rules; as root it runs only with IS_SANDBOX=1. Its configuration
folder stays the person's: login and its renewal live there, it keeps runs apart by session, and writes ~/.claude.json
as a new file each time. It keeps sessions by the folder they were begun in, also those that were killed.

Each turn ends in a result line, and a run may have several: the last tells how the run went. Of an API error only
`is_error` is trusted, not `subtype`. The totals of a result are the session's; what this run spent stands in
`model_usage_since_last_result`, which 2.1.197 lacks: there the totals are the run's.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import replace

from noface.agents.base import Agent, AgentEvent, EventKind, Invocation, RunPlace, defaults, option, resuming
from noface.agents.claude_options import access_arguments, access_variables
from noface.agents.json_stream import TEXT_MAX, JsonReader, tool
from noface.diagnosis.agent_errors import AgentError, AgentEvidence, Amounts, Resource
from noface.model.attempt import AttemptOrder
from noface.model.budget import summed
from noface.model.json_record import JsonRecord, total
from noface.model.listed import Window
from noface.model.worker_run import Usage

_THINKING = (("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "64000"), ("MAX_THINKING_TOKENS", "63999"))
"""By default it thinks with 31,999 tokens; what a model cannot take, Claude Code lowers by itself."""
_FINAL_REASONS = frozenset({"prompt_too_long", "refusal"})
_ANSWERS_OPEN_MAX = 1_000
"""Subagents answer at the same time; of an answer further back no more parts come."""
_TASKS_MAX = 1_000
_CHARS_PER_TOKEN = 4
_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_STATED_READ = ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens")
_LIMITS = {
    "five_hour": "five-hour limit",
    "seven_day": "weekly limit",
    "seven_day_opus": "weekly limit of Opus",
    "seven_day_sonnet": "weekly limit of Sonnet",
}
_SPENT = "model_usage_since_last_result"


class ClaudeReader(JsonReader):
    """Reads stream-json; the last result, the newest error name and the newest rejected limit are what counts."""

    agent = "claude"
    tells_calls = True

    def __init__(self) -> None:
        super().__init__()
        self._result = JsonRecord({})
        self._answer = ""
        self._in_turn = False
        self._spent: Usage | None = None
        self._error = ""
        self._retrying: AgentError | None = None
        self._resets_at: float | None = None
        self._limit = ""
        self._answers = AnswerTokens()
        self._context: int | None = None
        self._windows: dict[str, Window] = {}
        self._tasks = set[str]()

    @property
    def quota(self) -> tuple[Window, ...]:
        return tuple(self._windows.values())

    def entry(self, entry: JsonRecord) -> list[AgentEvent]:
        """Return the events of a line."""
        self._session = entry.text("session_id") or self._session
        message, limit = entry.inside("message"), entry.inside("rate_limit_info")
        if entry.text("type") == "rate_limit_event":
            self._window(limit)
        match entry.text("type"):
            case "assistant":
                self._retrying = None
                # What a subagent writes belongs to a tool call of the turn, and begins none.
                self._in_turn = self._in_turn or not entry.flag("parent_tool_use_id")
                self._error = entry.text("error")  # of the newest: an error that was overcome is none
                self._answers.add(message)
                if not entry.flag("parent_tool_use_id"):
                    self._context = message.inside("usage").total(*_READ) or self._context
                return [event for part in message.objects("content") for event in self._part(part)]
            case "user":
                results = [part for part in message.objects("content") if part.text("type") == "tool_result"]
                ended = [(part.text("tool_use_id"), not part.flag("is_error")) for part in results]
                return [event for call, succeeded in ended for event in self.tool_ended(call, succeeded=succeeded)]
            case "result":
                return [self._turn_ended(entry)]
            case "system" if entry.text("subtype") == "api_retry":
                name = entry.text("error") or "an error"
                notice = f"retrying after {name}"[:TEXT_MAX]
                self._retrying = AgentError(notice, (name,), entry.whole("error_status"))
                return [AgentEvent(EventKind.RETRY, notice)]
            case "system" if (task := entry.text("task_id")) and len(self._tasks) < _TASKS_MAX:
                (self._tasks.add if entry.text("subtype") == "task_started" else self._tasks.discard)(task)
                return []
            case "rate_limit_event" if limit.text("status") == "rejected":  # "allowed_warning" is no failure
                self._resets_at = limit.time("resetsAt")
                self._limit = _LIMITS.get(limit.text("rateLimitType"), "")
                notice = f"the provider's {self._limit or 'usage limit'} is reached"
                return [AgentEvent(EventKind.LIMIT, notice, self._resets_at)]
            case _:
                return []

    def _window(self, limit: JsonRecord) -> None:
        name, used = limit.text("rateLimitType"), limit.number("utilization")
        used = 1.0 if limit.text("status") == "rejected" else used
        beyond = limit.flag("isUsingOverage")
        if name and (used is not None or beyond):
            plain, _, model = name.replace("seven_day", "week").partition("week_")
            named = f"week_{model}" if model else plain
            share = used if used is not None else 1.0
            self._windows[named] = Window(named, share, limit.time("resetsAt"), model, beyond=beyond)

    @property
    def ended(self) -> bool:
        return bool(self._result) and not self._in_turn

    @property
    def awaits(self) -> bool:
        return bool(self._tasks)

    def _turn_ended(self, result: JsonRecord) -> AgentEvent:
        self._result, self._in_turn = result, False
        by_schema = result.inside("structured_output").values
        text = json.dumps(by_schema, ensure_ascii=False) if by_schema else result.text("result")
        self._answer = text or self._answer
        if _SPENT in result:
            spent = _usage(result.inside(_SPENT))
            # A result of a turn that broke off counts nothing: then what its answers used is all that is known.
            self._answers = AnswerTokens() if spent.tokens else self._answers
            self._spent = spent if self._spent is None else summed(self._spent, spent)
        how = result.text("subtype")
        failed = result.flag("is_error") and how == "success"
        return AgentEvent(EventKind.RESULT, "error" if failed else how)

    def ending(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        """Return how the run ended: as its last result says, or as a run without one."""
        if self._in_turn:  # the results so far are those of turns before the one that broke off
            self._result = JsonRecord({})
        result = self._result
        good = not result.flag("is_error") and result.text("subtype") == "success"
        finished = bool(result) and good and result.text("stop_reason") != "refusal" and not self._broke_off()
        error = None if finished else self._failure(exit_code)
        answer = self._answer or self._last_text
        return AgentEvidence(self.agent, exit_code, stderr, error, self._retrying, finished, answer)

    def refused(self, stderr: str) -> Iterable[str]:
        del stderr
        denied = self._result.objects("permission_denials")
        return [tool(each.text("tool_name"), each.inside("tool_input")) for each in denied]

    def used(self) -> Usage:
        """Return what the run used: as its results say, and of what none has stated yet the sum of its answers."""
        so_far = self._answers.usage(self._session)
        if self._spent is not None:
            stated = replace(self._spent, session_id=self._session)
            return stated if so_far is None else replace(summed(stated, so_far), cost_usd=None)
        stated = replace(self._total(), session_id=self._session)
        if so_far is None or stated.cost_usd or (stated.tokens or 0) >= (so_far.tokens or 0):
            return stated
        return so_far

    def amounts(self) -> Amounts:
        """Return the turns, and of the model that read most the context and the longest answer that it may give."""
        models = self._result.inside("modelUsage")
        each = [models.inside(name) for name in models.values]
        model = max(each, key=lambda one: one.total(*_STATED_READ) or 0, default=JsonRecord({}))
        return {
            Resource.TURNS: (self._result.whole("num_turns"), None),
            Resource.CONTEXT: (self._context, model.whole("contextWindow")),
            Resource.OUTPUT: (None, model.whole("maxOutputTokens")),
        }

    def _total(self) -> Usage:
        cost = self._result.cost("total_cost_usd")
        models, usage = self._result.inside("modelUsage"), self._result.inside("usage")
        if models:
            return replace(_usage(models), cost_usd=cost)
        return Usage(
            cost, usage.total(*_READ), usage.whole("output_tokens"), None, usage.whole("cache_read_input_tokens")
        )

    def _broke_off(self) -> bool:
        """True if the last answer's stream ended between two of its events: Claude Code calls that a success."""
        return "stop_reason" in self._result and self._result.values["stop_reason"] is None

    def _failure(self, exit_code: int | None) -> AgentError | None:
        result = self._result
        if not result:
            plain = self.plain if exit_code != 0 and not self.any_entry else ""  # --output-format text, without prose
            return AgentError(plain, resets_at=self._resets_at) if plain else None
        errors = result.values.get("errors")
        first = str(errors[0]) if isinstance(errors, list) and errors else ""
        subtype = result.text("subtype")
        reasons = [result.text(name) for name in ("terminal_reason", "stop_reason")]
        codes = [reason for reason in reasons if reason in _FINAL_REASONS]
        codes += [code for code in (subtype if subtype != "success" else "", self._error) if code]
        if not codes and not result.flag("is_error") and self._broke_off():
            return AgentError("the answer's stream broke off before its end", ("stream-broke-off",))
        message = result.text("result") or first
        if self._limit and self._resets_at is not None and "limit" in message and self._limit not in message:
            message = f"{message} ({self._limit})"  # its words no longer tell which
        return AgentError(message, tuple(codes), result.whole("api_error_status"), resets_at=self._resets_at)

    def _part(self, part: JsonRecord) -> list[AgentEvent]:
        match part.text("type"):
            case "text":
                return self.text_event(part.text("text"))
            case "tool_use":
                return self.tool_started(part.text("id"), part.text("name"), part.inside("input"))
            case _:
                return []


def _usage(models: JsonRecord) -> Usage:
    each = [models.inside(name) for name in models.values]
    if not each:
        return Usage(0.0, 0, 0, None, 0)
    cost = [amount for amount in (model.cost("costUSD") for model in each) if amount is not None]
    return Usage(
        sum(cost) if cost else None,
        total(*(model.total(*_STATED_READ) for model in each)),
        total(*(model.whole("outputTokens") for model in each)),
        None,
        total(*(model.whole("cacheReadInputTokens") for model in each)),
    )


_Tokens = tuple[int, int, int]
"""Tokens read, written into the cache and from it among them; tokens written; those that came from the cache."""
_NO_TOKENS = (0, 0, 0)


class AnswerTokens:
    """What a run has used before its result line says: the tokens of all answers so far.

    An answer comes as several lines of one message id; each repeats its usage as it was when the answer began. What is
    read is exact, what is written is estimated from the parts seen until the answer's end (`stop_reason`).
    """

    def __init__(self) -> None:
        self._sum: _Tokens = _NO_TOKENS
        self._open: dict[str, tuple[_Tokens, int]] = {}  # each open answer's tokens, and its characters

    def usage(self, session: str | None) -> Usage | None:
        read, written, cached = self._sum
        return Usage(None, read, written, session, cached) if read or written else None

    def add(self, message: JsonRecord) -> None:
        """Count a line's message. One without an id or without usage tells nothing."""
        name, usage = message.text("id"), message.inside("usage")
        read = usage.total(*_READ)
        if not name or read is None:
            return
        before, chars = self._open.pop(name, (_NO_TOKENS, 0))
        chars += sum(_written_chars(part) for part in message.objects("content"))
        output = usage.whole("output_tokens") or 0
        written = output if message.flag("stop_reason") else max(output, -(-chars // _CHARS_PER_TOKEN))
        now = (read, written, usage.whole("cache_read_input_tokens") or 0)
        read, written, cached = (sum_ + new - old for sum_, new, old in zip(self._sum, now, before, strict=True))
        self._sum = (read, written, cached)
        self._open[name] = (now, chars)
        if len(self._open) > _ANSWERS_OPEN_MAX:
            del self._open[next(iter(self._open))]


def _written_chars(part: JsonRecord) -> int:
    match part.text("type"):
        case "text" | "thinking" as kind:
            return len(part.text(kind))
        case "tool_use":
            try:
                return len(json.dumps(part.values.get("input"), ensure_ascii=False))
            except RecursionError:
                return 0  # nested too deep to be what a tool is given
        case _:
            return 0


class ClaudeAgent(Agent):
    """Translates orders to Claude Code's command line."""

    name = "claude"
    stream = ClaudeReader
    enforces_cost = True

    def invocation(self, order: AttemptOrder, place: RunPlace) -> Invocation:
        """Return the command line; a person's own --disallowedTools in `args` are added to those of noface."""
        argv = [self.program(order.model), "-p", "--output-format", "stream-json", "--verbose"]
        argv += option("--model", order.model.model)
        argv += resuming("--resume", order.session)
        argv += option("--json-schema", order.answer_schema)
        argv += option("--max-budget-usd", order.cost_usd_max)
        argv += access_arguments(order.model, place)
        argv += ("--effort", "max") if order.think else ()
        env = [("CLAUDE_CODE_MAX_RETRIES", "2"), ("DISABLE_AUTOUPDATER", "1"), *(_THINKING if order.think else ())]
        env += [("IS_SANDBOX", "1")] if os.geteuid() == 0 else []
        env += access_variables(order.model)
        return Invocation((*argv, *order.model.args), place.prompt_file, defaults(order.model, *env))


AGENT: Agent = ClaudeAgent()
