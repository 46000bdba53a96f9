"""Runs a worker under supervision and reads its stream while it works."""

import shutil
import signal
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from noface.agents.base import ANSWER_MAX, AgentEvent, EventKind, Place, StreamReader
from noface.diagnosis.agent_errors import Resource, amounts_in
from noface.engine.agent_logs import SHOWS_A_MODEL, LogFollower
from noface.engine.attempt_environment import AttemptProgress, Scope
from noface.engine.isolation import agent_box, session_environment, wrapping
from noface.git.private_git_dir import with_private_config
from noface.model.attempt import AttemptOrder
from noface.model.budget import priced
from noface.model.failure import Failure
from noface.model.taxonomy import Category, FailureKind
from noface.model.worker_run import AgentRun, EndedBy, Usage
from noface.process.environment import agent_environment
from noface.process.files import read_bounded
from noface.process.supervise import Command, Exit
from noface.secrets.masked_records import masked_run

PATIENCE_S = 2.0
"""How long a run may be over its limit: one that is about to end does so by itself, with all its work."""

PATIENCE_WITH_OWN_LIMIT_S = 30.0
"""The same where the agent ends it by itself, which it does between two answers of its model."""

_DIME = 0.1
_WORDS_MAX = 160
_READ_MAX = 4000
_NO_PATH = frozenset(" \t\"'`*?|&;<>()$=")
"""Characters of commands and patterns: text with one of these is no path."""


class CostLimit:
    """The `max_cost_usd` of an order's model, and since when the cost is above it. Times are monotonic."""

    def __init__(self, order: AttemptOrder, patience_s: float) -> None:
        self._model = order.model
        self._think = order.think
        self._patience_s = patience_s
        self._since: float | None = None

    def passed(self, used: Usage, now: float) -> str:
        """Say by how much the cost has passed the limit for longer than the patience; "" where it has not."""
        limit, cost = self._model.max_cost_usd, used.cost_usd
        if limit is None or cost is None or cost <= limit:
            self._since = None
            return ""
        self._since = now if self._since is None else self._since
        if now - self._since < self._patience_s:
            return ""
        raised = ", raised for thinking longer" if self._think else ""
        return f"stopped at {_dollars(cost)}: over max_cost_usd = {_dollars(limit)} of {self._model.name}{raised}"


class RunWatch:
    """Follows a run, tick by tick. `stopped` says why its cost ended it, "" where it did not.

    `used` is priced; `most` is the highest value so far of each amount. `last_step` is the newest tool call or edit.
    """

    def __init__(self, order: AttemptOrder, place: Place, reader: StreamReader, limit: CostLimit, scope: Scope) -> None:
        self.stdout = Path(place.log_folder, "agent.log")
        self.stderr = Path(place.log_folder, "agent.err")
        self._order = order
        self._workspace = place.workspace
        self._reader = reader
        self._limit = limit
        self._scope = scope
        self._last = AttemptProgress(order.issue.id, order.number, "agent", "")
        self._follower = LogFollower(self.stdout, self.stderr, reader, self._send_event)
        self.used = Usage()
        self.most = Usage()
        self.stopped = ""
        self.last_step = ""
        self._step_at = 0.0

    def close(self) -> None:
        """Close the log. Repeatable."""
        self._follower.close()

    def poll(self) -> float | EndedBy | None:
        """Read what is new; return the monotonic time of the last sign of life, or BUDGET to end the run."""
        life = self._follower.poll()
        self.used = self._priced()
        if self.used != self._last.used:
            self._send(replace(self._last, used=self.used, alive=False))
        self.stopped = self.stopped or self._limit.passed(self.used, time.monotonic())
        return EndedBy.BUDGET if self.stopped else life

    def waited(self, now: float) -> str:
        """Say what the run did last, and how long before `now` (monotonic) it began; "" where nobody knows."""
        return f"; {now - self._step_at:.0f} s before, it began with: {self.last_step}" if self.last_step else ""

    def _priced(self) -> Usage:
        return replace(priced(self._reader.used(), self._order.model), session_id=None)  # only amounts

    def _send_event(self, event: AgentEvent, *, alive: bool) -> None:
        text = self._scope.env.masker.text(event.text[:_READ_MAX].replace(f"{self._workspace}/", ""))
        words, file = text[:_WORDS_MAX], file_in(event.kind, text)
        if event.kind in SHOWS_A_MODEL:
            self.last_step, self._step_at = words, time.monotonic()
        issue, number = self._order.issue.id, self._order.number
        self._send(AttemptProgress(issue, number, "agent", words, alive, event.kind, file, self._priced()))

    def _send(self, progress: AttemptProgress) -> None:
        self._last = progress
        self.most = at_least(progress.used, self.most)
        self._scope.send(progress)


def at_least(used: Usage, before: Usage) -> Usage:
    """Return what a run used, each amount no less than `before`."""
    dearer = before.cost_usd is not None and (used.cost_usd is None or before.cost_usd > used.cost_usd)
    return replace(
        used,
        cost_usd=before.cost_usd if dearer else used.cost_usd,
        tokens_in=_larger(used.tokens_in, before.tokens_in),
        tokens_out=_larger(used.tokens_out, before.tokens_out),
        tokens_cached=_larger(used.tokens_cached, before.tokens_cached),
        priced=before.priced if dearer else used.priced,
    )


def _larger(one: int | None, other: int | None) -> int | None:
    return max((count for count in (one, other) if count is not None), default=None)


def file_in(kind: EventKind, text: str) -> str:
    """Return the file that a tool or an edit is about, "" where it is about none or several."""
    target = text.partition(" ")[2].partition(", ")[0]
    if kind is EventKind.EDIT:
        return target
    is_path = ("/" in target or "." in target) and "://" not in target and not any(c in _NO_PATH for c in target)
    return target if kind is EventKind.TOOL and is_path else ""


def _dollars(amount: float) -> str:
    """Return an amount as people write it; less than a dime has more digits."""
    return f"${amount:.2f}" if amount >= _DIME else f"${amount:.4f}"


_STDERR_TAIL_BYTES = 16_000
_ENDED_FOR_MONEY = (EndedBy.BUDGET, EndedBy.CANCELLED)
"""For these the highest amounts count, which may have ended them: the last amount may be less, or missing."""


def run_agent(order: AttemptOrder, scope: Scope, place: Place) -> AgentRun:
    """Run the order's worker to its end, and until no process of it is left (law 6)."""
    env, agent = scope.env, scope.env.agents[order.model.agent]
    invocation = agent.invocation(order, place)
    given = (*order.model.env, *invocation.env, *_facts(order, place), *env.markers(order.token))
    outside = agent_environment(agent.environment, order.model, given)
    box, variables = agent_box(env, order.model, place, outside)
    if box is None:
        variables = with_private_config(
            variables, Path(place.directory), env.plumbing.repository.identity, Path(place.workspace)
        )
    reader = agent.reader(
        session_environment(place.directory, outside, agent.homes) if box is not None else dict(variables),
        order.session,
    )
    limit = CostLimit(order, PATIENCE_WITH_OWN_LIMIT_S if agent.enforces_cost else PATIENCE_S)
    watch = RunWatch(order, place, reader, limit, scope)
    for log in (watch.stdout, watch.stderr):
        log.unlink(missing_ok=True)
    # Some agents keep files of their own in the attempt's folder.
    with env.launcher.masking.covering(place.log_folder), closing(watch):
        ended = env.launcher.run(
            Command(
                argv=invocation.argv,
                cwd=place.workspace,
                env=variables,
                stdin=invocation.stdin,
                stdout=str(watch.stdout),
                stderr=str(watch.stderr),
                timeout_s=order.model.timeout_s,
                idle_timeout_s=order.model.idle_timeout_s,
                log_max_bytes=env.log_bytes_max,
                box=box,
                wrap=wrapping(env, place.workspace, place) if order.model.boxed else (),
            ),
            scope.cancel,
            on_output=watch.poll,
            on_end=watch.poll,
            rewritten=invocation.histories,
        )
    waited = watch.waited(time.monotonic()) if ended.ended_by in (EndedBy.IDLE, EndedBy.TIMEOUT) else ""
    run = _result(order, ended, reader, _tail(watch.stderr, _STDERR_TAIL_BYTES), watch.stopped or waited)
    if run.ended_by in _ENDED_FOR_MONEY:
        run = replace(run, usage=at_least(run.usage, watch.most))
    if not run.answer and reader.any_output_is_life:
        run = replace(run, answer=_tail(watch.stdout, ANSWER_MAX))  # of a program whose output has no types
    return masked_run(run, env.masker)


def _tail(log: Path, size: int) -> str:
    """Return the last `size` bytes of a log; "" where the worker put something else in its place."""
    try:
        return read_bounded(log, 0, size)
    except OSError:
        return ""


def _facts(order: AttemptOrder, place: Place) -> tuple[tuple[str, str], ...]:
    return (
        ("NOFACE_PROMPT_FILE", place.prompt_file),
        ("NOFACE_ORDER_FILE", place.order_file),
        ("NOFACE_ISSUE_ID", order.issue.id),
        ("NOFACE_ATTEMPT", str(order.number)),
        ("NOFACE_MODEL", order.model.model or order.model.name),
        ("NOFACE_RUN_ID", order.run_id),
        ("NOFACE_ROLE", order.role),
        ("NOFACE_THINK", "1" if order.think else ""),
    )


def _result(order: AttemptOrder, ended: Exit, reader: StreamReader, stderr: str, why: str) -> AgentRun:
    """Return the run as it ended; `why` says what its cost was, or what it did last, where noface ended it for that."""
    verdict = reader.verdict(ended.exit_code, stderr)
    error = verdict.error
    if ended.ended_by is not EndedBy.ITSELF or ended.error or ended.output_limit:
        error = _ended(order, ended, verdict.last_words, why)
        waited = verdict.error is not None and verdict.error.category is Category.TRANSIENT
        if waited and ended.ended_by in (EndedBy.IDLE, EndedBy.TIMEOUT):
            error = verdict.error  # it hung on its provider, as codex does without a network: not its own fault
    elif ended.signal is not None and (error is None or error.kind is FailureKind.AGENT_CRASH):
        message = f"the worker died of {_name(ended.signal)}"
        died = _failure(FailureKind.AGENT_CRASH, message, f"signal-{ended.signal}")
        error = replace(died, excerpt=error.excerpt if error is not None else "")
    return AgentRun(
        exit_code=ended.exit_code,
        signal=ended.signal,
        ended_by=ended.ended_by,
        seconds=ended.seconds,
        usage=priced(verdict.usage, order.model),
        last_words=verdict.last_words,
        error=error,
        started=not ended.error or ended.ended_by is EndedBy.LOST,
        survivors_killed=ended.survivors_killed,
        answer=verdict.answer,
    )


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"  # a real-time signal


def _ended(order: AttemptOrder, ended: Exit, last_words: str, why: str) -> Failure | None:
    model = order.model
    if ended.output_limit:
        message = "the worker wrote more output than [limits] log_mb allows and was ended"
        return Failure(FailureKind.RESOURCE_EXHAUSTED, message, rule="agent-output-limit", signature="output-limit")
    match ended.ended_by:
        case EndedBy.IDLE:
            message = f"no sign of life for {model.idle_timeout_s:.0f} s (idle_timeout of {model.name}){why}"
            return _at_work(_failure(FailureKind.TIMEOUT, message, "agent-idle", last_words), ended)
        case EndedBy.TIMEOUT:
            message = f"not finished after {model.timeout_s:.0f} s (timeout of {model.name}){why}"
            return _at_work(_failure(FailureKind.TIMEOUT, message, "agent-timeout", last_words), ended)
        case EndedBy.BUDGET:
            over = _failure(FailureKind.RESOURCE_EXHAUSTED, why, "agent-over-budget", last_words)
            evidence = (why, f"ran out of {Resource.BUDGET}")
            usage, limit = amounts_in((why,))
            over = replace(over, resource=Resource.BUDGET.value, usage=usage, limit=limit)
            return replace(over, signature="over-budget", evidence=evidence)
        case EndedBy.LOST:
            message = "the worker's supervisor was killed; what was left of it has been ended"
            return _failure(FailureKind.AGENT_CRASH, message, "keeper-lost")
        case EndedBy.CANCELLED:
            return None
        case EndedBy.ITSELF:
            message = f"the worker could not be started: {ended.error}"
            return Failure(FailureKind.MISCONFIGURED, message, rule="agent-not-started", charged=False)


def _at_work(failure: Failure, ended: Exit) -> Failure:
    """Return the failure of a worker that was ended, with what of it ran then: the agent, or what it had started."""
    ran = ended.at_work
    return replace(failure, evidence=(*failure.evidence, ran.shown(ended.seconds))) if ran is not None else failure


def _failure(kind: FailureKind, message: str, rule: str, last_words: str = "") -> Failure:
    return Failure(kind, message, rule=rule, signature=rule, evidence=(message,), excerpt=last_words[-2000:])


def missing_program(program: str) -> bool:
    """Tell whether `program` cannot be found on PATH (or, being a path, is not executable)."""
    return bool(program) and shutil.which(program) is None
