"""Runs a worker under supervision, and says how it ended."""

import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from noface.agents.base import ANSWER_MAX, Place, RunVerdict, StreamReader
from noface.attempt.agent_logs import tail
from noface.attempt.agent_watch import RunWatch, at_least, over_limit
from noface.attempt.attempt import Attempt
from noface.attempt.isolation import agent_box, session_environment, wrapping
from noface.attempt.out_of_reach import out_of_reach
from noface.diagnosis.agent_errors import Resource
from noface.git.private_git_dir import with_private_config
from noface.git.removal import remove
from noface.model.attempt import AttemptOrder
from noface.model.budget import priced
from noface.model.failure import OUT_OF_REACH, UNCHANGED, Failure
from noface.model.taxonomy import Category, FailureKind
from noface.model.worker_run import AgentRun, EndedBy, Usage
from noface.process.environment import agent_environment
from noface.process.supervise import NOT_SHOWN, Command, Exit
from noface.secrets.masked_records import masked_run

_STDERR_TAIL_BYTES = 16_000
UNANSWERED = "agent-unanswered"
"""The rule of a run that was ended at a limit before anything came of its model."""
_ENDED_FOR_MONEY = (EndedBy.BUDGET, EndedBy.CANCELLED)
"""For these the highest amounts count, which may have ended them: the last amount may be less, or missing."""


@contextmanager
def _dropped(folders: tuple[str, ...]) -> Iterator[None]:
    """Remove folders that hold what is the person's, however the run ends."""
    try:
        yield
    finally:
        for folder in folders:
            remove(Path(folder))


def run_agent(attempt: Attempt, place: Place) -> AgentRun:
    """Run the order's worker to its end, and until no process of it is left (law 6)."""
    order, env = attempt.order, attempt.env
    agent = env.agents[order.model.agent]
    boxed = bool(env.sandbox.bubblewrap and order.model.boxed)
    invocation = agent.invocation(order, replace(place, boxed=boxed))
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
    watch = RunWatch(attempt, place, reader, agent)
    for log in (watch.stdout, watch.stderr):
        log.unlink(missing_ok=True)
    # Some agents keep files of their own in the attempt's folder.
    with env.launcher.masking.covering(place.log_folder), closing(watch), _dropped(invocation.dropped):
        command = Command(
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
        )
        ended = env.launcher.run(
            command,
            attempt.scope.cancel,
            on_output=watch.poll,
            on_end=watch.read,
            rewritten=invocation.histories,
            on_quiet=watch.quiet,
        )
    run = _result(order, ended, reader, tail(watch.stderr, _STDERR_TAIL_BYTES), watch)
    if not run.answer and reader.any_output_is_life:
        run = replace(run, answer=tail(watch.stdout, ANSWER_MAX))  # of a program whose output has no types
    plain = order.model.command if reader.any_output_is_life else None
    error = run.error if plain is None or run.error is not None else _no_error(run)
    if box is not None and error is not None and _failed_by_itself(error, ended):
        repository = env.plumbing.repository
        own = (str(repository.common_dir), str(repository.state_dir), str(env.slots_dir))
        missed = out_of_reach(env.launcher, command, error, own, plain, str(repository.root))
        run = replace(run, out_of_reach=missed)
    return masked_run(run, env.masker)


def _no_error(run: AgentRun) -> Failure:
    """Return what a plain program failed with that passes over its errors; it counts where nothing has changed."""
    return Failure(FailureKind.NO_DIFF, f"the worker changed nothing; its last words: {run.last_words}", rule=UNCHANGED)


def _failed_by_itself(error: Failure, ended: Exit) -> bool:
    return ended.ended_by is EndedBy.ITSELF and not ended.output_limit and error.category is not Category.TRANSIENT


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


def _result(order: AttemptOrder, ended: Exit, reader: StreamReader, stderr: str, watch: RunWatch) -> AgentRun:
    """Return the run as it ended."""
    verdict = reader.verdict(ended.exit_code, stderr)
    error, usage = verdict.error, priced(verdict.usage, order.model)
    if ended.ended_by in _ENDED_FOR_MONEY:
        usage = at_least(usage, watch.most)
    if ended.ended_by is not EndedBy.ITSELF or ended.error or ended.output_limit:
        error = _ended(order, ended, verdict.last_words or stderr.strip(), watch, usage)
        waited = verdict.error is not None and verdict.error.category is Category.TRANSIENT
        if ended.ended_by in (EndedBy.IDLE, EndedBy.TIMEOUT) and watch.overdue is None:
            if waited:
                error = verdict.error  # it hung on its provider, as codex does without a network: not its own fault
            elif error is not None and _unanswered(reader, verdict, watch):
                error = _no_answer(order, ended, error)
    elif ended.out_of_memory:
        error = _out_of_memory(ended, verdict.last_words or stderr.strip(), watch.memory_max_bytes)
    elif ended.signal is not None and (error is None or error.kind is FailureKind.AGENT_CRASH):
        message = f"the worker died of {_name(ended.signal)}"
        died = _failure(FailureKind.AGENT_CRASH, message, f"signal-{ended.signal}")
        error = replace(died, excerpt=error.excerpt if error is not None else "")
    ended_by = ended.ended_by
    if ended_by is EndedBy.ITSELF and error is not None and error.resource == Resource.BUDGET:
        if order.allowance is not None and not order.allowance.of_model:
            ended_by, error = EndedBy.ALLOWANCE, None  # by another budget than the model's: no failure of the work
        else:
            error = _over_limit(order, usage, error)
    return AgentRun(
        exit_code=ended.exit_code,
        signal=ended.signal,
        ended_by=ended_by,
        seconds=ended.seconds,
        usage=usage,
        last_words=verdict.last_words,
        error=error,
        started=not ended.error or ended.ended_by is EndedBy.LOST,
        survivors_killed=ended.survivors_killed,
        answer=verdict.answer,
        refused=verdict.refused,
    )


def _unanswered(reader: StreamReader, verdict: RunVerdict, watch: RunWatch) -> bool:
    """Tell whether nothing has come from a model: no token, no word, no tool. A plain command tells of none."""
    nothing = not verdict.usage.tokens and not verdict.last_words and not verdict.answer and not watch.last_step
    return nothing and not reader.any_output_is_life


def _no_answer(order: AttemptOrder, ended: Exit, error: Failure) -> Failure:
    """Return the failure of a run whose provider never answered: an outage, which no worker can do anything about."""
    message = f"{order.model.agent} had no answer of its provider in {ended.seconds:.0f} s: {error.message}"
    return replace(
        error, kind=FailureKind.NETWORK, message=message, rule=UNANSWERED, signature=UNANSWERED, charged=False
    )


def _out_of_memory(ended: Exit, last_words: str, most_bytes: int | None) -> Failure:
    """Return the failure of a worker without memory; if the machine ran out, others may be to blame."""
    failure = _failure(
        FailureKind.RESOURCE_EXHAUSTED, f"the worker was {ended.memory_text}", "agent-out-of-memory", last_words
    )
    evidence = (f"ran out of {Resource.MEMORY}", *failure.evidence)
    own = ended.out_of_memory == "limit"
    limit = most_bytes if own else None
    return replace(failure, resource=Resource.MEMORY.value, evidence=evidence, charged=own, limit=limit)


def _over_limit(order: AttemptOrder, usage: Usage, error: Failure) -> Failure:
    """Return the failure of a run that reached its model's limit, with that and what it had used when it had ended."""
    limit, cost = order.model.max_cost_usd, usage.cost_usd
    if limit is None or cost is None:
        return error
    message = over_limit(order.model, cost, think=order.think)
    return replace(error, message=message, evidence=(message, *error.evidence), usage=cost, limit=limit)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"  # a real-time signal


def _ended(order: AttemptOrder, ended: Exit, last_words: str, watch: RunWatch, usage: Usage) -> Failure | None:
    model, now = order.model, time.monotonic()
    if ended.output_limit:
        allowed = f"[limits] log_mb allows ({watch.log_bytes_max:,} bytes)"
        message = f"the worker wrote more output than {allowed} and was ended"
        over = _failure(FailureKind.RESOURCE_EXHAUSTED, message, "agent-output-limit", last_words)
        return replace(over, signature="output-limit", limit=watch.log_bytes_max)
    match ended.ended_by:
        case EndedBy.IDLE:
            last = watch.waited(now, idle=True)
            message = f"no sign of life for {model.idle_timeout_s:.0f} s (idle_timeout of {model.name}){last}"
            rule = "agent-idle"
            if watch.overdue is not None:
                silent = f"no output for {model.tool_limit_s:.0f} s (tool_timeout of {model.name})"
                rule, message = "agent-tool-timeout", f"{silent}; {watch.overdue}"
            return _at_work(_failure(FailureKind.TIMEOUT, message, rule, last_words), ended)
        case EndedBy.TIMEOUT:
            last = watch.waited(now, idle=False)
            message = f"not finished after {model.timeout_s:.0f} s (timeout of {model.name}){last}"
            return _at_work(_failure(FailureKind.TIMEOUT, message, "agent-timeout", last_words), ended)
        case EndedBy.BUDGET:
            kind, evidence = FailureKind.RESOURCE_EXHAUSTED, (f"ran out of {Resource.BUDGET}",)
            over = _failure(kind, "stopped at its limit of cost", "agent-over-budget", last_words)
            over = replace(over, resource=Resource.BUDGET.value, signature="over-budget", evidence=evidence)
            return _over_limit(order, usage, over)
        case EndedBy.LOST:
            message = "the worker's supervisor was killed; what was left of it has been ended"
            return _failure(FailureKind.AGENT_CRASH, message, "keeper-lost", last_words)
        case EndedBy.CANCELLED | EndedBy.ALLOWANCE:
            return None
        case EndedBy.ITSELF:
            message = f"the worker could not be started: {ended.error}"
            rule = OUT_OF_REACH if ended.error.startswith(NOT_SHOWN) else "agent-not-started"
            return Failure(FailureKind.MISCONFIGURED, message, rule=rule, charged=False)


def _at_work(failure: Failure, ended: Exit) -> Failure:
    """Return the failure of a worker that was ended, with what of it ran then: the agent, or what it had started."""
    ran = ended.at_work
    return replace(failure, evidence=(*failure.evidence, ran.shown(ended.seconds))) if ran is not None else failure


def _failure(kind: FailureKind, message: str, rule: str, last_words: str = "") -> Failure:
    return Failure(kind, message, rule=rule, signature=rule, evidence=(message,), excerpt=last_words[-2000:])


def missing_program(program: str) -> bool:
    """Tell whether `program` cannot be found on PATH (or, being a path, is not executable)."""
    return bool(program) and shutil.which(program) is None
