"""What became of edits that are not in the change: a worker changed nothing, worked elsewhere, or was put back."""

from collections.abc import Sequence
from dataclasses import replace

from noface.agents.command import passed_over
from noface.attempt.attempt import Judging, named
from noface.attempt.gate_runs import UNSTEADY_BY_CHANGE
from noface.attempt.left_out import put_back
from noface.attempt.worker.out_of_reach import denied
from noface.diagnosis.agent import asked_by_program, without_changes
from noface.diagnosis.agent_errors import page_instead
from noface.diagnosis.check import PULL_QUESTION
from noface.diagnosis.known_causes import of_its_provider
from noface.git.guarded import PROTECTED
from noface.integrity.leftovers import LEFT_IN
from noface.integrity.not_taken import NOT_TAKEN, only_these
from noface.model.attempt import Snapshot
from noface.model.failure import ELSEWHERE, TAKEN_BACK, UNCHANGED, WORKER, Failure
from noface.model.protection import Protection
from noface.model.quoting import some, speaks
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import PLAIN_AGENTS, ReportStatus
from noface.prompts.answers.report import UNREADABLE
from noface.recovery.decided import OUTSIDE
from noface.recovery.reported import of_report
from noface.recovery.retry_policy import MAY_BE_HALF, TEXT_EDITED

_SHOWN_MAX = 10
_WORDS_MAX = 100
TOO_MANY, TOO_BIG = _OF_FILES_LEFT_OUT = ("too-many-files", "file-too-big")
"""The worker may answer by removing what was not taken: then the same tree is left, and no gate has judged it."""
_NOT_THE_GATES = (
    FailureKind.OUTPUT_FORMAT,
    FailureKind.UNKNOWN,
    FailureKind.AGENT_CRASH,
    FailureKind.AGENT_CONFUSION,
    FailureKind.AGENT_BLOCKED,
    FailureKind.TIMEOUT,
    FailureKind.RESOURCE_EXHAUSTED,
    FailureKind.BASELINE_RED,
    FailureKind.ENVIRONMENT,
)
"""After these failures an attempt that finds the work done and changes nothing may be right: the gates decide."""
_FIXTURES = (
    "A conftest.py may only gain fixtures with new names, without autouse, hooks and code that runs by itself; others"
    " belong into the test file that uses them"
)
_WORK_HERE = "work in the checkout itself; a folder whose files belong to the change has no .git of its own"
_LEAVE_FILES = "what counts is the files of the checkout when the work ends, so leave them there; no commit is needed"
_KEPT = " of a worker's own git is kept"
_LIFTED = "a person can name the file in its paths or may_change"


def unchanged(attempt: Judging) -> Failure:
    """Return the failure of a worker that changed nothing: where it worked instead, what it reports, how it ended."""
    order, work = attempt.order, attempt.work
    agent, snapshot = work.agent, work.snapshot
    status = work.report.status if work.report is not None else ReportStatus.DONE
    # Who was told last what is left out of work that passed may leave the same again: that work is there.
    sought = agent.error is None and status is not ReportStatus.BLOCKED and order.earlier[-1:] != (attempt.reminded,)
    kept = f"; {named(snapshot.in_git)}{_KEPT}" if snapshot.in_git else ""
    if snapshot.elsewhere and sought:
        message = f"the change lies in {repositories(snapshot.elsewhere)}: {_WORK_HERE}{kept}"
        return _elsewhere(attempt, message, snapshot.elsewhere)
    if kept and sought:
        message = f"the checkout is as it was{kept}: {_LEAVE_FILES}"
        return _elsewhere(attempt, message, tuple(what for what, _ in snapshot.in_git))
    told = next((each for each in reversed(order.earlier) if each.rule == ELSEWHERE and _KEPT in each.message), None)
    if told is not None and sought:  # whoever finds nothing to do has not looked there
        return _elsewhere(attempt, told.message, ())
    if snapshot.not_taken and sought:
        ignored = tuple(one for one in snapshot.not_taken if one.ignored)
        reminded = any(before.rule == NOT_TAKEN for before in order.earlier)
        if status is not ReportStatus.ALREADY_DONE or (ignored and not reminded):
            return only_these(ignored or snapshot.not_taken, snapshot.aside, order.issue.paths)
    unread = work.unreadable[0] if work.unreadable is not None and agent.error is None else None
    report = work.report
    if report is not None and report.status is ReportStatus.PARTIAL and report.questions:
        report = replace(report, status=ReportStatus.BLOCKED)  # it has done no part: what it asks keeps it from that
    tried = agent.error is None and status is not ReportStatus.ALREADY_DONE
    stopped = denied(order.model, agent.refused) if tried else None
    return stopped or of_report(report) or unread or _nothing_changed(attempt)


def left_ungated(attempt: Judging, nothing: Failure) -> bool:
    """True if no gate has ever failed the work that the attempt started with and left alone, or may have wrongly.

    What the first attempt at a part has from the whole issue may be half of it: then the worker has to say that it is
    done. So it has if nothing failed but tests in files that it left as they are.
    """
    order, work, change = attempt.order, attempt.work, attempt.change
    if any(last.rule == PULL_QUESTION for last in order.earlier[-1:]):
        return nothing.rule == UNCHANGED and bool(change.files) and bool(work.agent.last_words.strip())
    status = work.report.status if work.report is not None else None
    alone = nothing.rule == UNREADABLE or (
        nothing.kind is FailureKind.NO_DIFF and nothing.rule not in (ELSEWHERE, NOT_TAKEN)
    )
    never_gated = any(
        last.kind in _NOT_THE_GATES or last.rule in (*_OF_FILES_LEFT_OUT, TEXT_EDITED, LEFT_IN, TAKEN_BACK, MAY_BE_HALF)
        for last in order.earlier[-1:]
    )
    done = status in (ReportStatus.DONE, ReportStatus.ALREADY_DONE)
    of_main = any(
        last.kind == FailureKind.TEST_FAILURE
        and last.rule != UNSTEADY_BY_CHANGE
        and bool(files := {test.partition("::")[0] for test in last.failing_tests})
        and not files & set(last.changed)
        for last in order.earlier[-1:]
    )
    return alone and bool(change.files) and (never_gated or (done and (of_main or not order.earlier)))


def _nothing_changed(attempt: Judging) -> Failure:
    order, work, agent = attempt.order, attempt.work, attempt.work.agent
    summary = work.report.summary if work.report is not None else agent.last_words
    if work.report is not None and work.report.status is ReportStatus.ALREADY_DONE and agent.error is None:
        return _no_diff(attempt, summary)
    if order.model.agent in PLAIN_AGENTS:
        silent = agent.error is None or agent.error.rule == f"command-exit-{agent.exit_code}"
        ended = agent.error.excerpt if agent.error is not None else ""  # a question, if nothing else explains its end
        asked = asked_by_program(order.model.agent, (ended or agent.answer or agent.last_words) if silent else "")
        error = of_its_provider(agent.error, idle=True) if agent.error is not None else page_instead(agent.answer)
        error = error or passed_over(agent.answer or agent.last_words)
        return asked or error or _no_diff(attempt, summary)
    failure = without_changes(order.model.agent, agent.last_words, agent.error)
    failure = _no_diff(attempt, summary) if failure.kind is FailureKind.NO_DIFF else failure
    refused = tuple(f"{order.model.agent} itself refused: {words}" for words in agent.refused)
    message = f"{refused[-1]}; {failure.message}" if refused else failure.message
    return replace(failure, message=message, evidence=(*refused, *failure.evidence))


def _no_diff(attempt: Judging, last_words: str) -> Failure:
    order, snapshot = attempt.order, attempt.work.snapshot
    taken_back = not snapshot.changes and order.start != order.main
    message = "the work is exactly what main has: nothing of it is left" if taken_back else "the worker changed nothing"
    protected = snapshot.protected_edits
    words = " ".join(line.strip() for line in last_words.splitlines() if speaks(line))
    if words:
        message += f"; its last words: {words[:_WORDS_MAX]}"
    if protected:
        message = f"the worker changed only protected files, which were put back: {', '.join(protected[:_SHOWN_MAX])}"
        message += f". {instead(order.protection, protected)}"
    told = any(earlier.rule == UNCHANGED for earlier in order.earlier)
    if protected and told:  # it has been told that it may not: whether it should is for others to say
        return Failure(FailureKind.BOUNDARY_VIOLATION, message, rule=OUTSIDE, signature=OUTSIDE, evidence=protected)
    evidence = (f"the snapshot's tree equals that of {(order.main if taken_back else order.start)[:12]}",)
    kind = FailureKind.NO_DIFF
    failure = Failure(kind, message, UNCHANGED, signature=kind, evidence=evidence, excerpt=last_words, by=WORKER)
    says_why = attempt.work.report is not None or (bool(words) and order.model.agent not in PLAIN_AGENTS)
    return replace(failure, charged=told or not says_why or bool(protected))  # it is told once how to say it


def _elsewhere(attempt: Judging, message: str, places: tuple[str, ...]) -> Failure:
    failure = Failure(FailureKind.NO_DIFF, message, rule=ELSEWHERE, signature=ELSEWHERE)
    evidence = (f"the snapshot's tree equals that of {attempt.order.start[:12]}", *places)
    return replace(failure, evidence=evidence, excerpt=attempt.work.agent.last_words)


def with_places(failure: Failure, snapshot: Snapshot) -> Failure:
    rubbish = [f"{one.path}, {one.why}" for one in snapshot.not_taken if not one.ignored]
    places = [repositories(snapshot.elsewhere)] if snapshot.elsewhere else []
    if not rubbish and not places:
        return failure
    named = some((*places, *rubbish), _SHOWN_MAX)
    return replace(failure, message=f"{failure.message} (left out of the change: {named})")


def with_put_back(attempt: Judging, failure: Failure) -> Failure:
    """Return a gate's failure that first says which of the worker's edits the gate has not seen, and what to do."""
    why = put_back(attempt)
    if not why:
        return failure
    paths = sorted(why, key=lambda path: why[path] == PROTECTED)
    named = some(tuple(f"{path} ({why[path]})" for path in paths), _SHOWN_MAX)
    ways = instead(attempt.order.protection, paths)
    return replace(failure, message=f"put back to main's before the gate ran: {named}. So {failure.message}. {ways}")


def instead(protection: Protection, paths: Sequence[str]) -> str:
    fixtures = f"{_FIXTURES}. " if any(protection.may_grow(path) for path in paths) else ""
    return f"{fixtures}Do without the edit, or report that the issue needs it: {_LIFTED}"


def repositories(places: tuple[str, ...]) -> str:
    kind = "a repository of its own" if len(places) == 1 else "repositories of their own"
    return f"{some(places, _SHOWN_MAX)}, {kind}"
