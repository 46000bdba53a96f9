"""Looks at what a former run left open and settles it: landings, attempts, processes. Harmless to repeat."""

import json
from dataclasses import replace
from pathlib import Path

from noface.core.attempt import AttemptOrder, AttemptReport, Snapshot
from noface.core.masked_records import masked_snapshot
from noface.core.taxonomy import INTERRUPTED, IssueStatus
from noface.core.worker_run import ModelSpec, Usage
from noface.errors import GitError
from noface.git.landing import settle
from noface.git.refs import RefUpdate, hold_ref
from noface.git.repair_interrupted import Held, Landed, Moved
from noface.git.snapshot import take
from noface.loop.asking import question_usage
from noface.loop.attempt import read_work
from noface.loop.context import RunContext
from noface.loop.deaths import DEATHS_MAX, block_for_deaths, count_death, note_boot
from noface.loop.lost_usage import lost_run
from noface.loop.messages import attempt_message
from noface.loop.own_values import own_values
from noface.loop.protected_files import protection_for
from noface.store.questions import OpenQuestion
from noface.store.reader import OpenAttempt
from noface.system.files import read_regular
from noface.system.sweep import sweep

_ORDER_BYTES_MAX = 16 << 20


def recover(context: RunContext) -> tuple[AttemptOrder, ...]:
    """Settle what is open; return the attempts whose work is done and only needs judging."""
    last = note_boot(context)
    killed = sweep("NOFACE_STATE", context.shop.state_marker)
    if killed:
        context.journal.event(context.clock.now(), "processes_swept", count=killed)
    masked = context.shop.launcher.masking.catch_up()  # nothing writes these logs any more
    if masked:
        context.journal.event(context.clock.now(), "logs_masked", count=masked)
    _rebuild_merged(context)
    _settle_landings(context)
    _drop_questions(context)
    resumed = []
    opened = context.reader.open_attempts()
    for attempt in opened:
        order = attempt.order
        deaths = count_death(context, attempt, last)
        if deaths and len(opened) > 1:
            context.suspects.add(attempt.issue_id)
        if deaths < DEATHS_MAX and order is not None and read_work(order) is not None:
            resumed.append(replace(order, resumed=True))
        else:
            _interrupt(context, attempt, order)
            block_for_deaths(context, attempt, order.issue if order is not None else None, deaths)
    return tuple(resumed)


def as_configured(context: RunContext, order: AttemptOrder) -> AttemptOrder:
    """Return the order of an earlier run as the present configuration and backlog would give it.

    Work that is judged now is judged by what holds now: gates, protected paths, the issue's own commands and paths.
    """
    issue = next((issue for issue in context.issues if issue.id == order.issue.id), None)
    told = order.issue
    if issue is not None:
        told = replace(told, paths=issue.paths, accept=issue.accept, recheck=issue.recheck, may_change=issue.may_change)
    protection = protection_for(context, told, order.main)
    return replace(
        order,
        issue=told,
        model=_with_variables(context, order.model),
        gates=context.gates_for(told),
        protected=protection.patterns,
        may_change=protection.may_change,
        any_case=protection.any_case,
        known_failures=context.known,
    )


def _with_variables(context: RunContext, model: ModelSpec) -> ModelSpec:
    """Return a model with the variables that its record leaves out."""
    present = context.settings.models.get(model.name)
    return replace(model, env=present.env) if present is not None else model


def _settle_landings(context: RunContext) -> None:
    for landing in context.reader.open_landings():
        result = settle(context.shop.plumbing, landing.old, landing.new, f"noface: land issue {landing.issue_id}")
        now = context.clock.now()
        match result:
            case Landed(commit):
                context.journal.landed(now, landing.id, landing.issue_id, commit)
            case Moved():
                context.journal.landing_dropped(landing.id)
            case Held(reason, paths):
                context.journal.landing_dropped(landing.id)
                shown = f"{reason}: {', '.join(paths)}" if paths else reason
                context.journal.status(now, landing.issue_id, IssueStatus.LANDING, shown)


def _drop_questions(context: RunContext) -> None:
    """Drop the questions that were never answered, since they are asked again; what they cost stays counted.

    Where the model has left the configuration, its prices have, too: of such a question only what its agent told.
    """
    for question in context.questions.open():
        model = context.settings.models.get(question.model) or _model_of(question)
        used = question_usage(context.shop, model, question.directory) if model is not None else Usage()
        gone = question.model != "" and question.model not in context.settings.models
        context.questions.cut_short(context.clock.now(), question.id, used, keep=gone)


def _model_of(question: OpenQuestion) -> ModelSpec | None:
    """Return the model that a question was put to, as its order tells."""
    try:
        told = json.loads(read_regular(Path(question.directory) / "order.json", _ORDER_BYTES_MAX) or b"")["model"]
        return ModelSpec(question.model, str(told["agent"]), str(told["model"]))
    except (ValueError, TypeError, KeyError):
        return None


def _interrupt(context: RunContext, attempt: OpenAttempt, order: AttemptOrder | None) -> None:
    """Keep what the killed attempt had in its workspace, and record it as charged to nobody, with what it cost."""
    snapshot = _saved(context, attempt, order) if order is not None else None
    log = Path(attempt.directory, "agent.log")
    run = lost_run(context.shop, _with_variables(context, order.model), log) if order is not None else None
    report = AttemptReport(
        attempt.token, attempt.issue_id, attempt.number, agent=run, snapshot=snapshot, interrupted=True
    )
    now = context.clock.now()
    estimated = ("its cost is an estimate: priced from tokens",) if run is not None and run.usage.priced else ()
    notes = ("noface was killed during this attempt", *estimated)
    context.journal.attempt_finished(now, report, charged=False, notes=notes)
    context.journal.status(now, attempt.issue_id, IssueStatus.READY, "noface was killed; nothing is charged")


def _saved(context: RunContext, attempt: OpenAttempt, order: AttemptOrder) -> Snapshot | None:
    if not (Path(attempt.directory) / "order.json").exists():
        return None  # the workspace was not this attempt's yet
    try:
        taken = take(
            context.shop.plumbing,
            context.shop.agent_slot(attempt.slot),
            start=attempt.start,
            main=attempt.main,
            message=attempt_message(order, INTERRUPTED),
            protection=protection_for(context, order.issue, attempt.main),
            limits=context.shop.limits,
        )
    except GitError:
        return None  # killed while the workspace was being built: there is nothing of the worker's in it
    if not taken.changed:
        return None
    ref = hold_ref(attempt.issue_id, str(attempt.number))
    context.shop.plumbing.refs.apply(RefUpdate(ref, taken.snapshot.candidate))
    own = own_values(context.shop, attempt.main, taken.snapshot)
    return masked_snapshot(taken.snapshot, context.shop.masker, own)


def _rebuild_merged(context: RunContext) -> None:
    """Learn from main's trailers which issues have landed, where the database does not know (it was lost)."""
    if context.reader.fact("merged_known") is not None:
        return
    now = context.clock.now()
    for issue_id, commit in context.shop.plumbing.landed_issues():
        context.journal.merged(now, issue_id, commit)
    context.journal.fact("numbers", json.dumps(_numbers_in_use(context)))
    context.journal.fact("merged_known", "1")


def _numbers_in_use(context: RunContext) -> dict[str, int]:
    """Return how far the attempts of each issue (by its slug) were counted: their refs and folders stay theirs."""
    refs = context.shop.plumbing.references("refs/noface/issues")
    folders = Path(context.settings.attempts_dir).glob("*/*")
    pairs = [ref.split("/")[3:] for ref in refs] + [[folder.parent.name, folder.name] for folder in folders]
    numbers: dict[str, int] = {}
    for name, number, *_ in pairs:
        if number.isdecimal():
            numbers[name] = max(numbers.get(name, 0), int(number))
    return numbers
