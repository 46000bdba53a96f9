"""Any command as a worker: run by `bash -c` in the workspace, prompt on stdin and in `$NOFACE_PROMPT_FILE`.

Exit codes: 0 finished; 75 (EX_TEMPFAIL) try again later, charged to nobody; 126 and 127 as the shell means them; any
other is a crash, unless its output ends in a question to a keyboard, or says that its script is not there.
"""

import re
import shlex
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from noface.agents.base import (
    AGENTS,
    LAST_WORDS_MAX,
    Agent,
    AgentEvent,
    EventKind,
    Invocation,
    Lines,
    RunPlace,
    RunVerdict,
    StreamReader,
)
from noface.agents.json_stream import asks, local_clock, unescaped
from noface.diagnosis.agent import classify
from noface.diagnosis.agent_errors import (
    ASKS,
    ENDING_LINES_MAX,
    AgentEvidence,
    announces_error,
    begins_page,
    error_in,
    final_answer,
    is_of_the_work,
    telling_lines,
)
from noface.diagnosis.known_causes import HERE, access_refused, final_error
from noface.diagnosis.text import strip_codes
from noface.model.attempt import AttemptOrder
from noface.model.budget import summed
from noface.model.command_line import pieces
from noface.model.failure import DISK_SEEMS_FULL, NO_ANSWER, OUTSIDE_CAUSE, Failure
from noface.model.json_record import JsonRecord, json_value
from noface.model.quoting import speaks
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import ModelSpec, Usage
from noface.process.sandbox_home import AgentHome

_FINAL_LINES = 4
"""So many lines of standard error may belong to the final error, as npm tells where its log is."""
_NO_SCRIPT = re.compile(
    r"\S{0,300}python[\w.]{0,20}: can't open file |Can't open perl script |\S{0,300}ruby[\w.]{0,20}: No such file or"
)
"""What an interpreter says that does not find the script it is to run, and nothing else: no worker began."""
_NAME = "command"
_OF_PROVIDERS = frozenset(
    f"{_NAME}-{rule}"
    for rule in ("auth", "billing", "budget", "context", "network", "not-found", "overloaded", "rate-limit", "refused")
)
"""The rules of errors that are a provider's own in words alone; the others need a stream that tells what is one."""
_HTTP_ERROR = re.compile(r"[\w.]{0,100}HTTP\w{0,100}Error\b")
"""A library's words of an answer, which may be one to the work's own request."""
_SHELL_WORDS = frozenset((
    "!", ".", ":", "alias", "builtin", "case", "cd", "command", "coproc", "declare", "enable", "eval", "exec", "exit",
    "export", "for", "function", "hash", "if", "let", "local", "mapfile", "popd", "pushd", "read", "readonly", "return",
    "select", "set", "shopt", "source", "test", "time", "trap", "true", "type", "typeset", "ulimit", "umask", "unset",
    "until", "wait", "while",
))  # fmt: skip


_STREAMS = {"system": "claude", "thread.started": "codex", "step_start": "opencode", "init": "gemini"}
"""What an agent's stream begins with."""
_CACHED = "cache_read_input_tokens"
_READ = ("input_tokens", "cache_creation_input_tokens", _CACHED)


class PrintedUsage:
    """What a command has used by its own output: an agent's stream, or `usage` or `cost_usd` in a line of JSON."""

    def __init__(self) -> None:
        self._stream: StreamReader | None = None
        self._began = False
        self._sum = Usage()

    def line(self, line: str) -> None:
        """Take a line of output."""
        entry = JsonRecord.of(json_value(line)) if line.startswith("{") else None
        if not entry:
            return
        if not self._began:
            agent = _STREAMS.get(entry.text("type"))
            self._stream, self._began = AGENTS[agent].reader() if agent else None, True
        if self._stream is not None:
            self._stream.feed(f"{line}\n".encode())
            return
        usage = entry.inside("usage")
        costs = (entry.cost("cost_usd"), entry.cost("total_cost_usd"), usage.cost("cost_usd"))
        cost = next((amount for amount in costs if amount is not None), None)
        sent = usage.whole("prompt_tokens")  # of which what came from a cache is a part
        read = sent if sent is not None else usage.total(*_READ)
        written = usage.total("output_tokens", "completion_tokens")
        self._sum = summed(self._sum, Usage(cost, read, written, None, usage.whole(_CACHED)))

    def used(self) -> Usage:
        return self._stream.used() if self._stream is not None else self._sum


class CommandReader(StreamReader):
    """Remembers the last line; a plain command has no events to type."""

    any_output_is_life = True

    def __init__(self) -> None:
        self._lines = Lines()
        self._last = ""
        self._ending: deque[str] = deque(maxlen=ENDING_LINES_MAX)
        self._page = False
        self._printed = PrintedUsage()

    def feed(self, data: bytes) -> list[AgentEvent]:
        """Return the non-empty lines as text events."""
        whole = [line for line in self._lines.feed(data) if line.strip()]
        self._ending.extend(whole)
        lines = [line.strip() for line in whole]
        for line in lines:
            self._printed.line(line)
        self._page = self._page or (not self._last and bool(lines) and begins_page(lines[0]))
        kind = EventKind.RETRY if self._page else EventKind.TEXT  # a proxy's page is no sign of life
        events = [AgentEvent(kind, line) for line in lines]
        self._last = next((line[:LAST_WORDS_MAX] for line in reversed(lines) if speaks(line)), self._last)
        return events

    def used(self) -> Usage:
        return self._printed.used()

    def verdict(self, exit_code: int | None, stderr: str) -> RunVerdict:
        return replace(self._judged(exit_code, stderr), usage=self.used())

    def _judged(self, exit_code: int | None, stderr: str) -> RunVerdict:
        """Judge by the exit code alone; a failure that ends in a prompt at a keyboard is one of configuration."""
        unfinished = unescaped(self._lines.rest())
        last = unfinished.strip()[-LAST_WORDS_MAX:] if speaks(unfinished) else self._last
        last_lines = [line for line in stderr.splitlines() if line.strip()][-_FINAL_LINES:] or [last]
        of_stderr = telling_lines(strip_codes(stderr).splitlines())
        of_stdout = telling_lines(strip_codes("\n".join((*self._ending, unfinished))).splitlines())
        words = (of_stderr or of_stdout or (last_lines[-1].strip(),))[-1]
        rule = f"command-exit-{exit_code}"
        match exit_code:
            case 0:
                return RunVerdict(last_words=last)
            case 75:
                kind, message = FailureKind.OVERLOADED, "the worker asks to be run again later (exit code 75)"
            case 126 | 127:
                kind, message = FailureKind.MISCONFIGURED, f"the worker's command cannot be run: {words}"
            case _ if not last and len(last_lines) == 1 and _NO_SCRIPT.match(words):
                kind, rule = FailureKind.MISCONFIGURED, "command-no-script"
                message = f"the worker's script is not there, or the sandbox hides it ([sandbox] show): {words}"
            case _ if asks(unfinished):
                kind, rule = FailureKind.MISCONFIGURED, f"command-{ASKS}"
                message = f"the worker asks at the terminal, where nobody can answer: {last}"
            case _ if (refused := access_refused(reversed(last_lines))) is not None:
                kind, rule, words = FailureKind.AUTH, "command-refused", refused.line
                message = f"{refused.cause} The worker ended with: {words}"
            case _:
                how = "was ended by a signal" if exit_code is None else f"ended with exit code {exit_code}"
                kind, message = FailureKind.AGENT_CRASH, f"the worker {how}: {words}"
        crashed = kind is FailureKind.AGENT_CRASH
        outside = final_error(reversed(last_lines)) if crashed else None
        if outside is not None and not outside.disk_full and is_of_the_work(last_lines[-1].strip()):
            outside = None
        by_provider = _of_its_provider(exit_code, stderr, of_stderr, of_stdout) if crashed else None
        # A network may be the work's own: what other programs say of one comes first.
        if by_provider is not None and (outside is None or by_provider.kind is not FailureKind.NETWORK):
            return RunVerdict(last_words=last, error=by_provider, finished=False, resource=by_provider.resource)
        if crashed and outside is None and (page := final_answer(reversed(last_lines))):
            rule, words = NO_ANSWER, page
            message = f"the worker ended with exit code {exit_code}, and no answer of its provider: {page}"
        if outside is not None:
            rule = DISK_SEEMS_FULL if outside.disk_full else OUTSIDE_CAUSE
            message, words = f"the worker ended with exit code {exit_code}: {outside.line}", outside.line
        failure = Failure(
            kind,
            message[:LAST_WORDS_MAX],
            rule=rule,
            evidence=(f"exit code {exit_code}", words[:LAST_WORDS_MAX]),
            excerpt=stderr.strip()[-LAST_WORDS_MAX:],
            signature=f"{kind}:{exit_code}",
            charged=kind is FailureKind.AGENT_CRASH,
        )
        return RunVerdict(last_words=last, error=failure, finished=False)


def _of_its_provider(exit_code: int | None, stderr: str, *endings: Sequence[str]) -> Failure | None:
    """Return the failure of a command that ended with what a model's provider says of itself, None for any other end.

    Only the error counts that a stream ends with: one of 1,370 red recordings of other programs is mistaken by that.
    """
    for ending in endings:
        here = any(HERE.search(line) for line in ending)
        for words in (line for line in reversed(ending) if not is_of_the_work(line)):
            evidence = AgentEvidence(_NAME, exit_code, stderr, error_in(words))
            failure = classify(evidence, local_clock()).failure
            if failure is None or failure.rule not in _OF_PROVIDERS:
                continue
            if failure.kind is FailureKind.AUTH and _HTTP_ERROR.match(words):
                continue
            # A service on this machine that cannot be reached is the work's own.
            if not (failure.kind is FailureKind.NETWORK and here):
                message = f"the worker ended with exit code {exit_code}: {words}"
                return replace(failure, message=message[:LAST_WORDS_MAX])
    return None


def passed_over(printed: str) -> Failure | None:
    """Return the failure of a command that ended well, changed nothing and announced an error of its provider's."""
    telling = telling_lines(strip_codes(printed).splitlines())[-1:]
    return _of_its_provider(0, "", telling) if telling and announces_error(telling[0]) else None


class CommandAgent(Agent):
    """Runs `[models.NAME] command` with `args`, `{prompt_file}` and `{model}` filled in. It has all agents' homes."""

    stream = CommandReader

    @property
    def homes(self) -> tuple[AgentHome, ...]:
        return tuple(home for name in AGENTS if name != "command" for home in AGENTS[name].homes)

    def program(self, model: ModelSpec) -> str:
        """Return the command's first word if it is a plain program name; the shell finds everything else."""
        try:
            words = shlex.split(model.command)
        except ValueError:
            return ""
        if not words or words[0] in _SHELL_WORDS or any(mark in model.command for mark in "|&;<>()$`\n"):
            return ""
        # The shell would expand it, or set a variable.
        return "" if any(mark in words[0] for mark in "=~{*?[") else words[0]

    def invocation(self, order: AttemptOrder, place: RunPlace) -> Invocation:
        values, cut = {"prompt_file": place.prompt_file, "model": order.model.model}, pieces(order.model.command)
        command = "".join(_quoted(values[name], quote) if name in values else text for text, quote, name in cut)
        command = " ".join((command, *(shlex.quote(argument) for argument in order.model.args)))
        return Invocation(("bash", "-c", command), place.prompt_file)


def _quoted(value: str, quote: str) -> str:
    if quote == '"':
        return re.sub(r'([\\"$`])', r"\\\1", value)
    return value.replace("'", "'\"'\"'") if quote else shlex.quote(value)


AGENT: Agent = CommandAgent()
