"""Collects what an attempt needs to go on from one that was cut off: the facts for its prompt, and the session."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from noface.attempt.examine import unparsable
from noface.attempt.worker.agent_watch import session_files
from noface.engine.context import RunContext
from noface.engine.prompt_context import attempt_directory
from noface.errors import GitError
from noface.git.plumbing import Plumbing
from noface.model.attempt import Finished, PastAttempt
from noface.model.history import History, Verdict
from noface.model.issue import Issue
from noface.model.start import CutOff, StartPoint, StartReason
from noface.model.taxonomy import INTERRUPTED, Category, FailureKind
from noface.model.worker_run import ModelSpec, Session
from noface.process.files import read_regular
from noface.recovery.decided import OUTSIDE, is_for_a_person
from noface.recovery.resume import session_to_resume
from noface.recovery.start import cut_off, left_work

_SHOWN_MAX = 20
_ORDER_BYTES_MAX = 16 << 20


def cut_off_before(context: RunContext, history: History, start: StartPoint, main: str) -> CutOff | None:
    """Return what is known of the attempt before, where something other than its worker ended it, None elsewhere."""
    last = next(cut_off(history.attempts), None)
    if last is None:
        return None
    edited, plumbing = _edited(context, history.issue, last), context.env.plumbing
    kind = FailureKind.__members__.get(last.outcome) if last.outcome != INTERRUPTED else None
    cause = (kind.info.cut_off if kind is not None else "") or "the run was stopped"
    left = next((past for past in history.attempts if past.number == start.number), None)
    if start.reason is not StartReason.CUT_OFF or left is None or left.candidate is None:
        return CutOff(cause, edited=edited)
    return CutOff(
        cause,
        main_moved=not plumbing.is_ancestor(main, left.candidate),
        broken=broken_places(plumbing, main, left.candidate),
        edited=edited,
        last_output=last.last_output,
    )


def finished_before(context: RunContext, history: History, start: StartPoint) -> Finished | None:
    """Return the finished work that the next attempt starts from, if all it lacks is to be judged.

    A gate has run on it, so its worker had finished; what was red was main or the machine. The issue reads as it did.
    Or a person has let in all that spoke against it.
    """
    last = history.attempts[-1] if history.attempts else None
    if start.reason is StartReason.CHOSEN and history.chosen is not None:
        decided, named = history.chosen
        return (named.number, None) if decided.work and is_for_a_person(named) else None
    told = last is not None and any(each.note and each.at >= last.finished_at for each in history.decisions)
    if last is None or last.failure is None or told:
        return None
    verdict, whole = history.verdict(last.number), start.commit is not None and not start.without
    let = last.failure.rule == OUTSIDE and verdict is not None and verdict.verdict is Verdict.APPROVED
    if let and whole and start.number == last.number:
        return last.number, last.report
    if start != StartPoint(StartReason.CUT_OFF, last.number, last.candidate):
        return None
    by_gate = last.failure.gate is not None and last.failure.category is Category.ENVIRONMENT and not last.charged
    return (last.number, last.report) if by_gate and not _edited(context, history.issue, last) else None


def broken_files(plumbing: Plumbing, attempts: tuple[PastAttempt, ...]) -> Mapping[int, int]:
    unjudged = (past for past in attempts if left_work(past) and past.failing_tests is None)
    return {past.number: len(broken_places(plumbing, plumbing.main(), past.candidate)) for past in unjudged}


def broken_places(plumbing: Plumbing, main: str, commit: str | None) -> tuple[str, ...]:
    try:
        broken = unparsable(plumbing, main, commit) if commit is not None else ()
    except GitError:
        broken = ()
    return tuple(each.place for each in broken)[:_SHOWN_MAX]


def _edited(context: RunContext, issue: Issue, last: PastAttempt) -> bool:
    then, now = as_ordered(context, issue, last.number), masked_text(context, issue)
    return then is None or then != now


def as_ordered(context: RunContext, issue: Issue, number: int) -> Issue | None:
    """Return an issue with the text, paths and commands that an attempt's order has, None if it cannot be read."""
    folder = Path(attempt_directory(context.settings.attempts_dir, issue.id, number))
    try:
        then = json.loads(read_regular(folder / "order.json", _ORDER_BYTES_MAX) or b"")["issue"]
        paths, accept = tuple(then["paths"]), tuple(then["accept"])
        return replace(issue, title=then["title"], body=then["body"], paths=paths, accept=accept)
    except (ValueError, TypeError, KeyError):
        return None


def masked_text(context: RunContext, issue: Issue) -> Issue:
    masked = context.env.masker.text
    return replace(issue, title=masked(issue.title), body=masked(issue.body))


def next_session(
    context: RunContext, history: History, start: StartPoint, model: ModelSpec, slot: int, *, think: bool
) -> Session | None:
    """Return the session that the next attempt goes on with, without its prompt; None if it begins afresh."""
    agent = context.env.agents[model.agent]
    last = session_to_resume(history.attempts, start, model.name, think=think)
    if last is None or not agent.resumes or not (agent.resumes_anywhere or last.slot == slot):
        return None
    directory = Path(attempt_directory(context.settings.attempts_dir, history.issue.id, last.number))
    used = agent.session_usage(last.session, session_files(agent, model, directory))
    return Session(last.session, last.number, str(directory), "", used)
