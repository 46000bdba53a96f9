"""Settles what an earlier run left open: landings, attempts, processes. Harmless to repeat.

An attempt may have killed noface: it would run, and cost, again at every start. A stop by signal is recorded and is no
death; nor is one with the machine. What is left needs evidence (law 8): the kernel counts kills for want of memory, or
no walls kept the only attempt at work from sending a signal. Suspects work alone; after DEATHS_MAX deaths in a row
alone one waits for a person.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from noface.agents.base import OWN_SETTINGS, SESSION
from noface.attempt.attempt import Attempt
from noface.attempt.run import only_judged
from noface.attempt.worker.agent_run import settle as settle_files
from noface.attempt.worker.agent_watch import lost_run
from noface.engine.asking import AGAIN, question_usage
from noface.engine.context import RunContext
from noface.engine.dispatch import block
from noface.engine.ground import fetch_again
from noface.engine.jobs import Job, JobKind
from noface.engine.landing.queue import release_merged
from noface.engine.landing.stacks import was_pushed
from noface.engine.orders import protection_for
from noface.engine.prompt_context import history_of
from noface.errors import GitError
from noface.git.fast_forward import Blocked, Landed, Moved, MoveResult
from noface.git.landing import settle, settle_forgotten
from noface.git.landings import landings
from noface.git.refs import ZERO, RefUpdate
from noface.git.removal import remove
from noface.integrity.state.fsck_facts import Fault, RepairKind
from noface.model.actions import Block
from noface.model.attempt import MET, AttemptOrder, Interrupted, noted
from noface.model.budget import ESTIMATED
from noface.model.codec import decode, encode
from noface.model.taxonomy import INTERRUPTED, Cause, FailureKind, IssueStatus
from noface.model.worker_run import ModelSpec, Usage
from noface.process.command import Canceller
from noface.process.memory import OomKills, oom_kills
from noface.process.process_tree import sweep
from noface.process.supervisor import Containment
from noface.prompts.partial import accumulate, steps_of
from noface.secrets.masked_records import masked_snapshot
from noface.store.records import LEARNED

_KILLED = "noface was killed, or failed itself, during this attempt"
_TRAILERS_READ = "trailers_read"
"""The fact that holds main's commit up to which its trailers are known."""


def recover(context: RunContext) -> tuple[AttemptOrder, ...]:
    before, now = context.reader.fact(_BOOT), context.boot
    context.journal.fact(_BOOT, now)  # within this start of the machine, and leaving work open
    died = bool(now) and before == now and context.reader.cut_off_before(context.run_id)
    if killed := sweep("NOFACE_STATE", context.env.state_marker):
        context.log_event("processes_swept", count=killed)
    return settle_open(context, died=died)


def settle_open(
    context: RunContext, at_work: Collection[Job[Any]] = (), *, died: bool = False
) -> tuple[AttemptOrder, ...]:
    """Settle what is open and not `at_work`; return the attempts that only need judging. `died`: noface has."""
    _learn_landings(context)
    _settle_landings(context)
    _drop_questions(context, {job.number for job in at_work if job.kind is JobKind.QUESTION})
    resumed = []
    going = {(job.issue_id, job.number) for job in at_work if job.kind is JobKind.ATTEMPT}
    unread = [each for each in context.reader.unreadable_attempts() if (each["issue_id"], each["number"]) not in going]
    for row in unread:
        _drop_settings(row["directory"])
        report = Interrupted(row["token"], row["issue_id"], row["number"])
        merged = context.reader.state(report.issue_id).status is IssueStatus.MERGED
        _end(context, report, row["directory"], landed=merged)
    attempts = [each for each in context.reader.open_attempts() if (each.issue.id, each.number) not in going]
    killers = find_suspects(context, attempts, died=died and not unread)
    for order in attempts:
        _drop_settings(order.directory)
        killer = killers.get(order.issue.id)
        if context.reader.state(order.issue.id).status is IssueStatus.MERGED:
            _interrupt(context, order, landed=True)
            continue
        if killer is None and only_judged(order):
            resumed.append(replace(order, resumed=True))
            continue
        settle_files(context.env, order.directory)
        _interrupt(context, order)
        if killer is not None:
            reason = f"{killer}. Look at {order.directory}; then `noface retry {order.issue.id}`"
            block(context, history_of(context, order.issue), Block(FailureKind.AGENT_CRASH, reason))
    return tuple(resumed)


def as_configured(context: RunContext, order: AttemptOrder) -> AttemptOrder:
    """Return the order of an earlier run as the present configuration and backlog would give it: they judge it."""
    issue = next((each for each in context.issues if each.id == order.issue.id), order.issue)
    issue = replace(issue, title=order.issue.title, body=order.issue.body)
    model, gates = _with_variables(context, order.model), context.gates_for(issue)
    return _protected(context, replace(order, issue=issue, model=model, gates=gates, known_failures=context.known))


def _protected(context: RunContext, order: AttemptOrder) -> AttemptOrder:
    now = protection_for(context, order.issue, order.main)
    return replace(order, protected=now.patterns, may_change=now.may_change, any_case=now.any_case)


def _with_variables(context: RunContext, model: ModelSpec) -> ModelSpec:
    present = context.settings.models.get(model.name)
    return replace(model, env=present.env) if present is not None else model


def _settle_landings(context: RunContext) -> None:
    intents, pushing = context.reader.open_landings(), context.settings.config.landing.push
    moves: dict[str, MoveResult] = {}
    if intents and pushing:
        fetch_again(context, Canceller())
        settle_forgotten(context.env.plumbing)
    for intent in intents:
        pushed, plumbing = pushing and was_pushed(context, intent.new), context.env.plumbing
        if pushing and not pushed and not plumbing.is_ancestor(intent.new, plumbing.local_main()):
            context.journal.landing_dropped(intent.id)
            continue
        if intent.new not in moves:  # of several that land as one what comes of the one move counts for all
            note = f"noface: land issue {intent.issue_id}"
            moves[intent.new] = settle(plumbing, intent.old, intent.new, note)
        result, now = moves[intent.new], context.clock.now()
        match result:
            case _ if pushed or isinstance(result, Landed):
                landed = landings(plumbing, f"{intent.old}..{intent.new}")
                own = next((each.commit for each in landed if each.issue == intent.issue_id), intent.new)
                context.journal.landed(now, intent.id, intent.issue_id, own)
            case Moved():
                context.journal.landing_dropped(intent.id)
            case Blocked():
                context.journal.landing_dropped(intent.id)
                context.set_status(intent.issue_id, IssueStatus.LANDING, result.text, cause=Cause.HELD)


def _drop_questions(context: RunContext, asked: Collection[int]) -> None:
    for question, name, directory in context.questions.open():
        if question in asked:
            continue
        _drop_settings(directory)
        settle_files(context.env, directory)
        model = context.settings.models.get(name)  # without one its prices are unknown
        used = question_usage(context.env, model, directory) if model is not None else Usage()
        gone = name != "" and model is None
        context.questions.cut_short(context.clock.now(), question, used, keep=gone)


def _drop_settings(directory: str) -> None:
    for run in (Path(directory), Path(directory, AGAIN)):
        remove(run / SESSION / OWN_SETTINGS)


def _interrupt(context: RunContext, order: AttemptOrder, *, landed: bool = False) -> None:
    report = without_end(context, replace(order, model=_with_variables(context, order.model)))
    with suppress(GitError):  # killed while the workspace was being built: there is nothing of the worker's in it
        report = report if landed or _is_outlived(context, order) else with_work(context, order, report)
    _end(context, report, order.directory, landed=landed)


def _end(context: RunContext, report: Interrupted, directory: str, *, landed: bool = False) -> None:
    settle_files(context.env, directory)
    run = report.agent
    estimated = (ESTIMATED,) if run is not None and run.usage.priced else ()
    left = report.snapshot.notes if report.snapshot is not None else ()
    cause = "state.db was older than this attempt: its issue has landed" if landed else _KILLED
    notes = (cause, *filter(None, (noted(left, MET),)), *estimated)
    partial = accumulate(steps_of(report), context.settings.earlier_form)
    context.journal.attempt_finished(context.clock.now(), report, charged=False, notes=notes, partial=partial)
    if not landed:
        context.set_status(report.issue_id, IssueStatus.READY, "noface was killed, or failed; nothing is charged")


def _is_outlived(context: RunContext, order: AttemptOrder) -> bool:
    known, own = context.reader.directories(), Attempt(order, context.quiet_scope(Canceller())).began
    orders = (path for path in Path(context.settings.attempts_dir).glob("*/*/order.json") if path.stat().st_mtime > own)
    return any(path.parent.name.isdecimal() and str(path.parent) not in known for path in orders)


def without_end(context: RunContext, order: AttemptOrder) -> Interrupted:
    run = lost_run(context.env, order.model, Path(order.directory, "agent.log"), order.session)
    return Interrupted(order.token, order.issue.id, order.number, run)


def with_work(context: RunContext, order: AttemptOrder, report: Interrupted) -> Interrupted:
    """Keep what is in the attempt's workspace, and return the report with it. Raises GitError if that fails."""
    attempt = Attempt(_protected(context, order), context.quiet_scope(Canceller()))
    if not (attempt.folder / "order.json").exists():
        return report  # the workspace was not this attempt's yet
    taken = attempt.with_rest_held(attempt.take(context.env.agent_slot(order.slot), INTERRUPTED))
    if not taken.changed:
        return report
    _, own = attempt.keep_patches(taken)
    snapshot = attempt.hold_outcome(taken.snapshot, INTERRUPTED)
    return replace(report, snapshot=masked_snapshot(snapshot, context.env.masker, own), patch_hash=taken.patch_hash)


def _learn_landings(context: RunContext) -> None:
    """Learn from main's trailers what has landed that the database does not know: it was lost, or a backup came back.

    A forge's merge commits have no trailer; the proven commits that they bring have one.
    """
    plumbing, journal, reader = context.env.plumbing, context.journal, context.reader
    main, read = plumbing.local_main(), reader.fact(_TRAILERS_READ)
    if read == main:
        return
    commits = f"{read}..{main}" if read is not None and plumbing.resolve(read) is not None else main
    beside = landings(plumbing, commits, first_parent=False) if context.settings.config.landing.by_pull_request else ()
    states, intended = reader.states(), {each.new for each in reader.open_landings()}
    landed_by = {
        each.issue: each.commit
        for each in (*beside, *landings(plumbing, commits))
        if each.landing.commit not in intended and context.pulls.row(each.issue) is None
        if each.issue not in states or states[each.issue].status is not IssueStatus.MERGED
    }
    for issue_id, commit in landed_by.items():
        journal.merged(context.clock.now(), issue_id, commit)
    if landed_by and reader.fact("merged_known") is not None:
        context.log_event("landings_learned", None, issues=list(landed_by))
        journal.fact(LEARNED, json.dumps([*json.loads(reader.fact(LEARNED) or "[]"), *landed_by.values()]))
    journal.fact("merged_known", "1")
    journal.fact(_TRAILERS_READ, main)


def repair(context: RunContext, findings: Iterable[Fault]) -> None:
    """Repair what is safe. The caller holds the lock; nothing of a person's is touched."""
    recover(context)
    context.journal.runs_cut_off(context.clock.now())
    settle_forgotten(context.env.plumbing)
    release_merged(context)
    for each in findings:
        _carry_out(context, each)


def _carry_out(context: RunContext, fault: Fault) -> None:
    journal, plumbing = context.journal, context.env.plumbing
    match fault.repair:
        case None | RepairKind.RECOVER:
            pass
        case RepairKind.MARK_MERGED:
            journal.merged(context.clock.now(), fault.of, fault.oid)
        case RepairKind.HOLD:
            with suppress(GitError):  # one that exists by now stays, and the next check reports it
                plumbing.refs.apply(RefUpdate(fault.of, fault.oid, ZERO))
        case RepairKind.RECOUNT:
            journal.recount(fault.of)


DEATHS_MAX = 3
_BOOT = "boot"
_OOM_KILLS = "kernel_kills"


EVIDENCE = {
    "memory": "and each time the kernel had killed for want of memory meanwhile: set [limits] memory_max",
    "signal": "killed by a signal: neither the sandbox nor a PID namespace keeps its programs from sending it",
}
"""What speaks for an attempt having killed noface, in words."""


def evidence_of(oom_kills: int, *, contained: bool, alone: bool) -> str | None:
    """Say what speaks for an attempt: the kernel's kills since it began, or that only it could have sent a signal."""
    return "memory" if oom_kills else "signal" if alone and not contained else None


def remember_oom_kills(context: RunContext) -> None:
    """Remember the kernel's count as an attempt begins: what comes later may be that attempt's."""
    counted = json.dumps(encode(oom_kills()))
    if counted != context.reader.fact(_OOM_KILLS):
        context.journal.fact(_OOM_KILLS, counted)


def find_suspects(context: RunContext, attempts: Sequence[AttemptOrder], *, died: bool) -> dict[str, str]:
    """Record what a death says of the attempts left open; return why an issue now waits for a person, by id."""
    if died:
        _record_death(context, attempts)
    deaths = context.reader.deaths()
    context.suspects |= deaths.keys()
    return {
        name: f"noface itself died {times} times in a row while this issue alone was worked on, {EVIDENCE[evidence]}"
        for name, (times, evidence) in deaths.items()
        if times >= DEATHS_MAX
    }


def _record_death(context: RunContext, attempts: Sequence[AttemptOrder]) -> None:
    env, before = context.env, context.reader.deaths()
    contained = env.sandbox.kind != "none" or env.launcher.containment() is Containment.NAMESPACE
    landing = any(row.status == IssueStatus.LANDING for row in context.reader.issues())
    alone = len(attempts) == 1 and not landing
    counted = context.reader.fact(_OOM_KILLS)
    then = decode(OomKills, json.loads(counted)) if counted else None
    kills = oom_kills(then.group).since(then) if then is not None else 0
    evidence = evidence_of(kills, contained=contained, alone=alone)
    for attempt in attempts:
        epoch = context.reader.state(attempt.issue.id).epoch
        deaths = before.get(attempt.issue.id, (0, ""))[0] + (alone and evidence is not None)
        facts = {"epoch": epoch, "deaths": deaths, "evidence": evidence}
        context.log_event("noface_died", attempt.issue.id, number=attempt.number, **facts)
