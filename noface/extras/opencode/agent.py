"""OpenCode (seen with 1.18.33): `opencode run --format json`, prompt on stdin.

Its data folder stays the person's, since their login is there; its database is the attempt's own (OPENCODE_DB), and its
configuration one that `own_settings` makes, unless the person's settings act. It works in the folder that PWD names.
Its retries print nothing: only its log tells of a wait, so the log's errors go to standard error.

An error entry carries the provider's status, body and headers. What ended a step is its `reason`; an answer cut off at
the output limit exits with 0 and the reason "length". It asks again, for ever, when an answer breaks off.
"""

import re
from dataclasses import replace

from noface.agents.base import (
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
from noface.agents.json_stream import TEXT_MAX, JsonReader, error_codes, last_match, log_time, tool
from noface.data import table
from noface.diagnosis.agent_errors import AgentError, AgentEvidence, Amounts, Resource
from noface.extras.own_settings import started
from noface.model.access import Tool
from noface.model.attempt import AttemptOrder
from noface.model.json_record import JsonRecord, parsed, total
from noface.model.worker_run import ModelSpec, Usage

_WORKER = "noface"
_LOG = (("OPENCODE_PRINT_LOGS", "1"), ("OPENCODE_LOG_LEVEL", "ERROR"))
_TITLE = ("--title", "noface")  # without one it asks the model for one, and does not report what that cost
_BROKE_OFF = "finish-unknown"
_ENDINGS = {"length": "length", "content-filter": "content_filter", "unknown": _BROKE_OFF, "error": _BROKE_OFF}
_BROKEN_ANSWERS_MAX = 5
"""So many in a row that break off: it would ask for ever, 234 times in 90 s, and each time the whole prompt is paid."""
_HEADERS_MAX = 100
_LOGGED = re.compile(
    r'^timestamp=(\S{20,40}) level=ERROR .{0,200}?message="stream error" .{0,300}? small=false .{0,200}?'
    r'error\.error="(?:\w{1,60}Error: )?(.{1,2000})"$',
    re.MULTILINE,
)


class OpencodeReader(JsonReader):
    """Reads steps, texts and tools, and adds up what the steps cost."""

    agent = "opencode"

    def __init__(self) -> None:
        super().__init__()
        self._error: AgentError | None = None
        self._steps = 0
        self._reason = ""
        self._tokens: tuple[int | None, int | None] = (None, None)
        self._last: tuple[int | None, int | None] = (None, None)
        self._cached: int | None = None
        self._asks_again = False
        self._broken_answers = 0
        self._newest_ms = 0.0

    def entry(self, entry: JsonRecord) -> list[AgentEvent]:
        """Return the events of a line."""
        self._session = entry.text("sessionID") or self._session
        self._newest_ms = entry.number("timestamp") or self._newest_ms
        part = entry.inside("part")
        match entry.text("type"):
            case "step_start":
                self._steps += 1
                self._error, self._reason = None, ""  # an error that was overcome is none
                return []
            case "text" if not part.flag("synthetic"):  # that is its own, after it cut down the conversation
                events = self.text_event(part.text("text"))
                return [replace(event, kind=EventKind.RETRY) for event in events] if self._asks_again else events
            case "tool_use":
                self._asks_again = False
                state = part.inside("state")
                edits = self.edits(part.text("tool")) and state.text("status") == "completed"
                kind = EventKind.EDIT if edits else EventKind.TOOL
                return [AgentEvent(kind, tool(part.text("tool"), state.inside("input")))]
            case "step_finish":
                return self._step(part)
            case "error":
                self._error = self._read(entry.inside("error"))
                return [AgentEvent(EventKind.ERROR, self._error.message[:TEXT_MAX])]
            case _:
                return []

    @property
    def ended(self) -> bool:
        return bool(self._reason) and self._reason != "tool-calls" and self._reason not in _ENDINGS

    def ending(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        """Return how the run ended: its error, or the reason of the last step."""
        error = self._error
        if error is None and self._reason in _ENDINGS:
            error = AgentError(f"the last answer ended with the reason {self._reason!r}", (_ENDINGS[self._reason],))
        finished = error is None and bool(self._reason) and self._reason != "tool-calls"
        logged = last_match(_LOGGED, stderr)
        at = log_time(logged[1]) if logged else None
        retrying = AgentError(logged[2]) if logged and at is not None and at * 1000 >= self._newest_ms else None
        return AgentEvidence(self.agent, exit_code, stderr, error, retrying, finished, self._last_text)

    def used(self) -> Usage:
        return Usage(self._cost, *self._tokens, self._session, self._cached)

    def amounts(self) -> Amounts:
        read, written = self._last
        return {Resource.CONTEXT: (read, None), Resource.OUTPUT: (written, None)}

    def _step(self, part: JsonRecord) -> list[AgentEvent]:
        self._reason = part.text("reason")
        tokens, cache = part.inside("tokens"), part.inside("tokens", "cache")
        self._last = (total(tokens.whole("input"), cache.total("read", "write")), tokens.total("output", "reasoning"))
        sent = total(self._tokens[0], tokens.whole("input"), cache.total("read", "write"))
        self._tokens = (sent, total(self._tokens[1], tokens.total("output", "reasoning")))
        self._cached = total(self._cached, cache.whole("read"))
        spent = part.cost("cost")
        if spent is not None:
            self._cost = spent + (self._cost or 0.0)
        self._asks_again = _ENDINGS.get(self._reason) == _BROKE_OFF
        self._broken_answers = self._broken_answers + 1 if self._asks_again else 0
        self.repeats = self._broken_answers >= _BROKEN_ANSWERS_MAX
        kind = EventKind.RETRY if self._asks_again else EventKind.RESULT
        return [AgentEvent(kind, f"step ended: {self._reason}"[:TEXT_MAX])]

    def _read(self, error: JsonRecord) -> AgentError:
        data, name = error.inside("data"), error.text("name")
        body = parsed(data.text("responseBody")).inside("error")
        headers = data.inside("responseHeaders").values.items()
        named = f"{name}-before-first-step" if name == "UnknownError" and not self._steps else name
        return AgentError(
            data.text("message") or name,
            (*error_codes(body), *((named,) if named else ())),
            data.whole("statusCode"),
            details=data.text("responseBody"),
            headers=tuple((key, value) for key, value in headers if isinstance(value, str))[:_HEADERS_MAX],
            resets_at=body.time("resets_at"),
        )


class OpencodeAgent(Agent):
    """Translates orders to OpenCode's command line."""

    name = "opencode"
    stream = OpencodeReader

    def invocation(self, order: AttemptOrder, place: RunPlace) -> Invocation:
        """Return the command line; the model's name is provider/model.

        A run that may not use everything works as an agent of noface's own, whose rules come after all others: what
        they deny is not offered to the model. A person who names an agent in `args` has the rules put to that one.
        """
        model = order.model
        rules, worker = _rules(model), _named_agent(model.args)
        argv = [self.program(model), "run", "--format", "json", "--auto", *_TITLE]
        argv += option("-m", model.model)
        argv += option("--agent", _WORKER if rules and not worker else "")
        argv += resuming("-s", order.session)
        argv += option("--variant", "high" if order.think else "")  # a model without it works as it always does
        env = [("PWD", place.seen), ("OPENCODE_DISABLE_AUTOUPDATE", "1"), *_LOG]
        env.append(("OPENCODE_DB", f"{place.directory}/opencode.db"))
        own, worker = f"{place.directory}/{OWN_SETTINGS}", (worker or _WORKER) if rules else ""
        no_mcp = Tool.MCP in denied_tools(model)
        command = started(model, own, [*argv, *model.args], rules=rules, worker=worker, no_mcp=no_mcp)
        return Invocation(command, place.prompt_file, defaults(model, *env), dropped=(own,))


def _rules(model: ModelSpec) -> dict[str, object]:
    """Return what the run's tools may do, as OpenCode's `permission`; nothing if they may do everything.

    Tools of MCP servers are the ones with an underscore in their names; two things that are no tools have one as well.
    """
    denied, words = denied_tools(model), table("agents")["opencode"]["access"]
    rules: dict[str, object] = {}
    if Tool.MCP in denied:
        own = parsed(dict(model.env).get("OPENCODE_PERMISSION", "")).values
        rules = {"*_*": "deny", **{name: own.get(name, "ask") for name in words["no_tools"]}}
    return rules | {name: "deny" for tool in denied for name in words["permissions"][tool]}


def _named_agent(args: tuple[str, ...]) -> str:
    for number, argument in enumerate(args):
        if argument == "--agent":
            return args[number + 1] if number + 1 < len(args) else ""
        if argument.startswith("--agent="):
            return argument.partition("=")[2]
    return ""


AGENT: Agent = OpencodeAgent()
