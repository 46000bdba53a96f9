"""Runs an order's worker under supervision, in the session that was cut off or afresh, and says how it ended."""

import json
import os
import shutil
import signal
import stat
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from noface.agents.base import ANSWER_MAX, SESSION, RunPlace, RunVerdict, StreamReader, place_in
from noface.attempt.attempt import Attempt
from noface.attempt.environment import AttemptEnvironment, order_document, put
from noface.attempt.isolation import agent_box, allotted, session_environment, wrapping
from noface.attempt.worker.agent_watch import RunWatch, at_least, over_limit, tail
from noface.attempt.worker.out_of_reach import out_of_reach
from noface.diagnosis.agent_errors import Resource
from noface.git.removal import remove
from noface.git.workspace import Slot
from noface.model.attempt import AttemptOrder
from noface.model.budget import priced, summed
from noface.model.failure import OUT_OF_REACH, UNANSWERED, UNCHANGED, Failure
from noface.model.taxonomy import Category, FailureKind
from noface.model.worker_run import AgentRun, EndedBy, Resumed, Usage
from noface.process.command import LOG_BYTES_MAX
from noface.process.environment import agent_environment
from noface.process.files import open_regular, real_folder
from noface.process.masking import mask_files
from noface.process.supervise import NOT_SHOWN, Command, Exit
from noface.prompts.answers.report import find_report
from noface.recovery.resume import refusal
from noface.secrets.masked_records import masked_record

_STDERR_TAIL_BYTES = 16_000
_ENDED_FOR_MONEY = (EndedBy.BUDGET, EndedBy.CANCELLED)
"""For these the highest amounts count, which may have ended them: the last amount may be less, or missing."""


def run_agent(attempt: Attempt, place: RunPlace) -> AgentRun:
    """Run the order's worker to its end, and until no process of it is left (law 6)."""
    order, env = attempt.order, attempt.env
    agent = env.agents[order.model.agent]
    boxed = bool(env.sandbox.bubblewrap and order.model.boxed)
    place = replace(place, boxed=boxed, address=env.address if boxed else "")
    invocation = agent.invocation(order, place)
    apart = allotted(env, Path(place.workspace), order.model.env_pass, boxed=order.model.boxed)
    given = (*apart, *order.model.env, *invocation.env, *_facts(order, place), *env.markers(order.token))
    outside = agent_environment(agent.environment, order.model, given)
    box, variables = agent_box(env, order.model, place, outside)
    reader = agent.reader(
        session_environment(place.directory, outside, agent.homes) if box is not None else dict(variables),
        order.session,
    )
    watch = RunWatch(attempt, place, reader, agent)
    for log in (watch.stdout, watch.stderr):
        log.unlink(missing_ok=True)
    with closing(watch), ExitStack() as dropped:
        for folder in invocation.dropped:  # they hold what is the person's
            dropped.callback(remove, Path(folder))
        command = Command(
            argv=invocation.argv,
            cwd=place.workspace,
            env=variables,
            stdin=invocation.stdin,
            stdout=str(watch.stdout),
            stderr=str(watch.stderr),
            timeout_s=order.model.timeout_s,
            idle_timeout_s=order.model.idle_timeout_s,
            log_max_bytes=LOG_BYTES_MAX,
            box=box,
            wrap=wrapping(env, place.workspace, place) if order.model.boxed else (),
        )
        ended = env.launcher.run(command, attempt.scope.cancel, on_output=watch.poll, on_quiet=watch.quiet)
        watch.read()
        ended = as_told(ended, reader, watch.stdout)
    stderr = tail(watch.stderr, _STDERR_TAIL_BYTES)
    run = _RunEnd(order, ended, reader, reader.verdict(ended.exit_code, stderr), stderr, watch).run()
    if not run.answer and reader.any_output_is_life:
        run = replace(run, answer=tail(watch.stdout, ANSWER_MAX))  # of a program whose output has no types
    error = run.error
    if error is None and reader.any_output_is_life:
        # What a plain program passes over counts if nothing has changed.
        message = f"the worker changed nothing; its last words: {run.last_words}"
        error = Failure(FailureKind.NO_DIFF, message, rule=UNCHANGED)
    by_itself = ended.ended_by is EndedBy.ITSELF and not ended.output_limit
    if box is not None and error is not None and by_itself and error.category is not Category.TRANSIENT:
        repository = env.plumbing.repository
        own = (str(repository.common_dir), str(repository.state_dir), str(env.slots_dir))
        missed = out_of_reach(env.launcher, command, error, own, plain=reader.any_output_is_life)
        run = replace(run, out_of_reach=missed)
    return masked_record(run, env.masker)


def as_told(ended: Exit, reader: StreamReader, stdout: Path) -> Exit:
    """Return the end of a run as its stream tells it: one that had said its last word ended well, though it stayed.

    The last word of a plain program is its report.
    """
    if ended.ended_by not in (EndedBy.LAST_EVENT, EndedBy.IDLE, EndedBy.TIMEOUT):
        return ended
    reported = reader.any_output_is_life and find_report(tail(stdout, ANSWER_MAX))[0] is not None
    over = reader.ended or (reported and ended.ended_by is EndedBy.IDLE)
    return replace(ended, ended_by=EndedBy.ITSELF, exit_code=0, signal=None) if over else ended


def _facts(order: AttemptOrder, place: RunPlace) -> tuple[tuple[str, str], ...]:
    return (
        ("NOFACE_PROMPT_FILE", place.prompt_file),
        ("NOFACE_ORDER_FILE", place.order_file),
        ("NOFACE_ISSUE_ID", order.issue.id),
        ("NOFACE_ATTEMPT", str(order.number)),
        ("NOFACE_MODEL", order.model.model or order.model.name),
        ("NOFACE_RUN_ID", order.run_id),
        ("NOFACE_ROLE", order.role),
        ("NOFACE_TOPIC", order.topic),
        ("NOFACE_THINK", "1" if order.think else ""),
    )


@dataclass(frozen=True, slots=True)
class _RunEnd:
    """How a run ended, by its exit, its stream and what was watched of it."""

    order: AttemptOrder
    ended: Exit
    reader: StreamReader
    verdict: RunVerdict
    stderr: str
    watch: RunWatch

    @property
    def usage(self) -> Usage:
        usage = priced(self.verdict.usage, self.order.model)
        return at_least(usage, self.watch.most) if self.ended.ended_by in _ENDED_FOR_MONEY else usage

    @property
    def last_words(self) -> str:
        return self.verdict.last_words or self.stderr.strip()

    def run(self) -> AgentRun:
        """Return the run as it ended."""
        order, ended, verdict = self.order, self.ended, self.verdict
        ended_by, error = ended.ended_by, self._error()
        if ended_by is EndedBy.ITSELF and error is not None and error.resource == Resource.BUDGET:
            if order.allowance is not None and not order.allowance.of_model:
                ended_by, error = EndedBy.ALLOWANCE, None  # by another budget than the model's: no failure of the work
            else:
                error = self._over_limit(error)
        return AgentRun(
            exit_code=ended.exit_code,
            signal=ended.signal,
            ended_by=ended_by,
            seconds=ended.seconds,
            usage=self.usage,
            last_words=verdict.last_words,
            error=error,
            started=not ended.error or ended.ended_by is EndedBy.LOST,
            survivors_killed=ended.survivors_killed,
            answer=verdict.answer,
            refused=verdict.refused,
        )

    def _error(self) -> Failure | None:
        ended, error = self.ended, self.verdict.error
        if ended.ended_by is not EndedBy.ITSELF or ended.error or ended.output_limit:
            by_limit = self._ended_by_limit()
            if ended.ended_by not in (EndedBy.IDLE, EndedBy.TIMEOUT):
                return by_limit
            if error is not None and error.category is Category.TRANSIENT:
                return error  # it hung on its provider, as codex does without a network: not its own fault
            if by_limit is None or self.verdict.usage.tokens or self._spoke:
                return by_limit
            waited = f"had no answer of its provider in {ended.seconds:.0f} s"
            message = f"{self.order.model.agent} {waited}: {by_limit.message}"
            return replace(by_limit, message=message, rule=UNANSWERED, signature=UNANSWERED)
        if ended.out_of_memory:
            message, own = f"the worker was {ended.memory_text}", ended.out_of_memory == "limit"
            failure = _failure(FailureKind.RESOURCE_EXHAUSTED, message, "agent-out-of-memory", self.last_words)
            evidence = (f"ran out of {Resource.MEMORY}", *failure.evidence)
            limit, resource = self.watch.memory_max_bytes if own else None, Resource.MEMORY.value
            # If the machine ran out, others may be to blame.
            return replace(failure, resource=resource, evidence=evidence, charged=own, limit=limit)
        if ended.signal is not None and (error is None or error.kind is FailureKind.AGENT_CRASH):
            known = ended.signal in {*signal.Signals}
            message = f"the worker died of {signal.Signals(ended.signal).name if known else f'signal {ended.signal}'}"
            died = _failure(FailureKind.AGENT_CRASH, message, f"signal-{ended.signal}")
            return replace(died, excerpt=error.excerpt if error is not None else "")
        if error is None and self.verdict.usage.tokens == 0 and not self._spoke:
            message = f"{self.order.model.agent} ended well and never asked its model: no token, no word, no tool"
            return replace(_failure(FailureKind.MISCONFIGURED, message, "agent-not-begun"), charged=False)
        return error

    @property
    def _spoke(self) -> bool:
        """True if anything came of its model; what a plain program prints may be."""
        said = self.verdict.last_words or self.verdict.answer or self.watch.last_step
        return bool(said) or self.reader.any_output_is_life

    def _over_limit(self, error: Failure) -> Failure:
        model, cost = self.order.model, self.usage.cost_usd
        if model.max_cost_usd is None or cost is None:
            return error
        message = over_limit(model, cost, think=self.order.think)
        evidence = (message, *error.evidence)
        return replace(error, message=message, evidence=evidence, usage=cost, limit=model.max_cost_usd)

    def _ended_by_limit(self) -> Failure | None:
        model, ended, watch = self.order.model, self.ended, self.watch
        last_words, now = self.last_words, time.monotonic()
        if ended.output_limit:
            message = f"the worker wrote more output than is kept ({LOG_BYTES_MAX:,} bytes) and was ended"
            over = _failure(FailureKind.RESOURCE_EXHAUSTED, message, "agent-output-limit", last_words)
            return replace(over, signature="output-limit", limit=LOG_BYTES_MAX)
        match ended.ended_by:
            case EndedBy.IDLE | EndedBy.TIMEOUT:
                idle = ended.ended_by is EndedBy.IDLE
                message = (
                    f"no sign of life for {model.idle_timeout_s:.0f} s (idle_timeout of {model.name})"
                    if idle
                    else f"not finished after {model.timeout_s:.0f} s (timeout of {model.name})"
                )
                rule, message = "agent-idle" if idle else "agent-timeout", f"{message}{watch.waited(now, idle=idle)}"
                failure = _failure(FailureKind.TIMEOUT, message, rule, last_words)
                ran = (ended.at_work.described(ended.seconds),) if ended.at_work is not None else ()
                return replace(failure, evidence=(*failure.evidence, *ran))
            case EndedBy.BUDGET:
                kind, evidence = FailureKind.RESOURCE_EXHAUSTED, (f"ran out of {Resource.BUDGET}",)
                over = _failure(kind, "stopped at its limit of cost", "agent-over-budget", last_words)
                over = replace(over, resource=Resource.BUDGET.value, signature="over-budget", evidence=evidence)
                return self._over_limit(over)
            case EndedBy.LOST:
                message = "the worker's supervisor was killed; what was left of it has been ended"
                return _failure(FailureKind.AGENT_CRASH, message, "keeper-lost", last_words)
            case EndedBy.CANCELLED | EndedBy.ALLOWANCE | EndedBy.LAST_EVENT:
                return None
            case EndedBy.ITSELF:
                message = f"the worker could not be started: {ended.error}"
                rule = OUT_OF_REACH if ended.error.startswith(NOT_SHOWN) else "agent-not-started"
                return Failure(FailureKind.MISCONFIGURED, message, rule=rule, charged=False)


def _failure(kind: FailureKind, message: str, rule: str, last_words: str = "") -> Failure:
    return Failure(kind, message, rule=rule, signature=rule, evidence=(message,), excerpt=last_words[-2000:])


def missing_program(program: str) -> bool:
    return bool(program) and shutil.which(program) is None


SESSION_BYTES_MAX = 512 << 20
SESSION_FILES_MAX = 20_000
_TOO_LARGE = f"its files are more than {SESSION_BYTES_MAX >> 20} MB or {SESSION_FILES_MAX:,}"
_REFUSED = (("agent.log", "refused.log"), ("agent.err", "refused.err"))


def write_order(attempt: Attempt, slot: Slot) -> RunPlace:
    """Write the prompt and the order for the agent that works in the slot; return the place of its run."""
    order = attempt.order
    directory = real_folder(attempt.folder, attempt.plumbing.repository.state_dir)
    remove(directory / SESSION)  # a repeated question has the same place, and no agent's leavings
    place = place_in(slot.path, directory)
    put(directory / "prompt.md", order.session.prompt if order.session is not None else order.prompt)
    put(directory / "order.json", json.dumps(order_document(order), indent=1))
    if order.answer_schema:
        put(Path(place.schema_file), order.answer_schema)
    return place


def run_worker(attempt: Attempt, slot: Slot, place: RunPlace) -> AgentRun:
    """Run the worker of an order that is written; where it cannot go on with its session, it begins afresh."""
    session = attempt.order.session
    if session is None:
        return run_agent(attempt, place)
    run, refused = None, _TOO_LARGE
    if carry_files(Path(session.directory, SESSION), Path(place.directory)):
        run = run_agent(attempt, place)
        refused = refusal(run)
    refusal_of = Resumed(session.id, session.attempt, attempt.env.masker.text(refused))
    if run is not None and (not refused or attempt.scope.cancel.cancelled):
        return replace(run, resumed=refusal_of)
    attempt.progress("agent", f"begins afresh, since its session cannot go on: {refused}")
    for log, kept in _REFUSED:
        if (attempt.folder / log).exists():
            (attempt.folder / log).replace(attempt.folder / kept)
    afresh = Attempt(replace(attempt.order, session=None), attempt.scope)
    again = run_agent(afresh, write_order(afresh, slot))
    usage = summed(run.usage, again.usage) if run is not None else again.usage
    return replace(again, usage=replace(usage, session_id=again.usage.session_id), resumed=refusal_of)


def settle(env: AttemptEnvironment, directory: str) -> None:
    """Take secrets out of what an agent has kept of an attempt or a question that has ended; close it to others."""
    mask_files(Path(directory), SESSION, env.masker)


def carry_files(source: Path, target: Path) -> bool:
    """Copy the ordinary files below a folder that an agent could write; False if they are too many or too large."""
    found = (Path(parent, name) for parent, _, names in os.walk(source) for name in names)
    files = list(islice((path for path in found if stat.S_ISREG(path.lstat().st_mode)), SESSION_FILES_MAX + 1))
    if len(files) > SESSION_FILES_MAX or sum(path.lstat().st_size for path in files) > SESSION_BYTES_MAX:
        return False
    for path in files:
        descriptor = open_regular(path)
        if descriptor is None:
            continue
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(descriptor, "rb") as old, copy.open("xb") as new:
            shutil.copyfileobj(old, new)
            times = os.fstat(descriptor)
        os.utime(copy, ns=(times.st_atime_ns, times.st_mtime_ns))
    return True
