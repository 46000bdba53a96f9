"""Runs a worker under supervision and reads its stream while it works."""

import shutil
import signal
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from noface.agents.base import ANSWER_MAX, Place, StreamReader
from noface.core.attempt import AttemptOrder
from noface.core.classify.agent_evidence import Resource
from noface.core.failure import Failure
from noface.core.masked_records import masked_run
from noface.core.prices import priced
from noface.core.taxonomy import Category, FailureKind
from noface.core.worker_run import AgentRun, EndedBy
from noface.git.private_git_dir import with_private_config
from noface.loop.boxes import agent_box, session_environment, wrapping
from noface.loop.run_watch import PATIENCE_S, PATIENCE_WITH_OWN_LIMIT_S, CostLimit, RunWatch, at_least
from noface.loop.workshop import Tell, Workshop
from noface.system.environment import agent_environment
from noface.system.files import read_bounded
from noface.system.supervise import Canceller, Command, Exit

_STDERR_TAIL_BYTES = 16_000
_ENDED_FOR_MONEY = (EndedBy.BUDGET, EndedBy.CANCELLED)
"""What was told of these may have ended them, so it counts: an agent's last word may be less, or nothing at all."""


def run_agent(order: AttemptOrder, shop: Workshop, place: Place, cancel: Canceller, tell: Tell) -> AgentRun:
    """Run the order's worker to its end, and until no process of it is left (law 6)."""
    agent = shop.agents[order.model.agent]
    invocation = agent.invocation(order, place)
    given = (*order.model.env, *invocation.env, *_told(order, place), *shop.markers(order.token))
    outside = agent_environment(agent.environment, order.model, given)
    box, env = agent_box(shop, order.model, place, outside)
    if box is None:
        env = with_private_config(env, Path(place.directory), shop.plumbing.repository.identity, Path(place.workspace))
    reader = agent.reader(session_environment(place.directory, outside, agent.homes) if box is not None else dict(env))
    limit = CostLimit(order, PATIENCE_WITH_OWN_LIMIT_S if agent.holds_cost else PATIENCE_S)
    watch = RunWatch(order, place, reader, limit, shop.masker, tell)
    for log in (watch.stdout, watch.stderr):
        log.unlink(missing_ok=True)
    # Some agents keep files of their own in the attempt's folder.
    with shop.launcher.masking.covering(place.log_folder), closing(watch):
        ended = shop.launcher.run(
            Command(
                argv=invocation.argv,
                cwd=place.workspace,
                env=env,
                stdin=invocation.stdin,
                stdout=str(watch.stdout),
                stderr=str(watch.stderr),
                timeout_s=order.model.timeout_s,
                idle_timeout_s=order.model.idle_timeout_s,
                log_max_bytes=shop.log_bytes_max,
                box=box,
                wrap=wrapping(shop, place.workspace, place) if order.model.boxed else (),
            ),
            cancel,
            on_output=watch.poll,
            on_end=watch.poll,
            rewritten=invocation.histories,
        )
    run = _judged(order, ended, reader, _end_of(watch.stderr, _STDERR_TAIL_BYTES), watch.stopped)
    if run.ended_by in _ENDED_FOR_MONEY:
        run = replace(run, usage=at_least(run.usage, watch.most))
    if not run.answer and reader.any_output_is_life:
        run = replace(run, answer=_end_of(watch.stdout, ANSWER_MAX))  # of a program whose output has no types
    return masked_run(run, shop.masker)


def _end_of(log: Path, size: int) -> str:
    """Return the last `size` bytes of a log; "" where the worker put something else in its place."""
    try:
        return read_bounded(log, 0, size)
    except OSError:
        return ""


def _told(order: AttemptOrder, place: Place) -> tuple[tuple[str, str], ...]:
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


def _judged(order: AttemptOrder, ended: Exit, reader: StreamReader, stderr: str, stopped: str) -> AgentRun:
    verdict = reader.verdict(ended.exit_code, stderr)
    error = verdict.error
    if ended.ended_by is not EndedBy.ITSELF or ended.error or ended.output_limit:
        error = _ended(order, ended, verdict.last_words, stopped)
        if ended.ended_by in (EndedBy.IDLE, EndedBy.TIMEOUT) and _only_waited(verdict.error):
            error = verdict.error  # it hung on its provider, as codex does without a network: not its own fault
    elif ended.signal is not None and (error is None or error.kind is FailureKind.AGENT_CRASH):
        excerpt = error.excerpt if error is not None else ""
        error = replace(_crash(f"the worker died of {_name(ended.signal)}", f"signal-{ended.signal}"), excerpt=excerpt)
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


def _only_waited(error: Failure | None) -> bool:
    return error is not None and error.category is Category.TRANSIENT


def _ended(order: AttemptOrder, ended: Exit, last_words: str, stopped: str) -> Failure | None:
    model = order.model
    if ended.output_limit:
        message = "the worker wrote more output than [limits] log_mb allows and was ended"
        return Failure(FailureKind.RESOURCE_EXHAUSTED, message, rule="agent-output-limit", signature="output-limit")
    match ended.ended_by:
        case EndedBy.IDLE:
            message = f"no sign of life for {model.idle_timeout_s:.0f} s (idle_timeout of {model.name})"
            return _timeout(message, "agent-idle", last_words)
        case EndedBy.TIMEOUT:
            message = f"not finished after {model.timeout_s:.0f} s (timeout of {model.name})"
            return _timeout(message, "agent-timeout", last_words)
        case EndedBy.BUDGET:
            return _over_budget(stopped, last_words)
        case EndedBy.LOST:
            return _crash("the worker's supervisor was killed; what was left of it has been ended", "keeper-lost")
        case EndedBy.CANCELLED:
            return None
        case EndedBy.ITSELF:
            failure = f"the worker could not be started: {ended.error}"
            return Failure(FailureKind.MISCONFIGURED, failure, rule="agent-not-started", charged=False)


def _timeout(message: str, rule: str, last_words: str) -> Failure:
    return Failure(
        FailureKind.TIMEOUT, message, rule=rule, signature=rule, evidence=(message,), excerpt=last_words[-2000:]
    )


def _over_budget(message: str, last_words: str) -> Failure:
    return Failure(
        FailureKind.RESOURCE_EXHAUSTED,
        message,
        rule="agent-over-budget",
        signature="over-budget",
        evidence=(message, f"ran out of {Resource.BUDGET}"),
        excerpt=last_words[-2000:],
    )


def _crash(message: str, rule: str) -> Failure:
    return Failure(FailureKind.AGENT_CRASH, message, rule=rule, signature=rule, evidence=(message,))


def missing_program(program: str) -> bool:
    """Tell whether `program` cannot be found on PATH (or, being a path, is not executable)."""
    return bool(program) and shutil.which(program) is None
