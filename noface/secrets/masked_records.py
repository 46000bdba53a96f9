"""Takes secrets out of the records that are stored, shown, and quoted in prompts (I12).

Names of tests lose only values that are known: they are compared with those of main's run, so they must stay what
they are. The paths that a worker changed are those of the project, which rules look at: only a new file's name, and of
it only a value that a project cannot bear by chance and that does not stand on main either, is taken out. Commits,
commands and all other paths are left alone, since programs use them.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import overload

from noface.model.attempt import ABSENT, Interrupted, Judged, NotTaken, Snapshot
from noface.model.failure import Failure
from noface.model.gate import GateResult
from noface.model.issue import Backlog, Issue
from noface.model.worker_run import AgentRun, WorkerReport
from noface.secrets.masking import Masker


@overload
def masked_failure(failure: Failure, masker: Masker) -> Failure: ...
@overload
def masked_failure(failure: Failure | None, masker: Masker) -> Failure | None: ...
def masked_failure(failure: Failure | None, masker: Masker) -> Failure | None:
    """Return a failure whose words hold no secret."""
    if failure is None:
        return None
    return replace(
        failure,
        message=masker.text(failure.message),
        signature=masker.text(failure.signature),
        evidence=_texts(failure.evidence, masker),
        excerpt=masker.text(failure.excerpt),
        failing_tests=_names(failure.failing_tests, masker),
        questions=_texts(failure.questions, masker),
        points=_texts(failure.points, masker),
        also_matched=tuple((rule, masker.text(line), why) for rule, line, why in failure.also_matched),
    )


def masked_run(run: AgentRun, masker: Masker) -> AgentRun:
    """Return a worker's run whose words hold no secret."""
    return replace(
        run,
        last_words=masker.text(run.last_words),
        answer=masker.text(run.answer),
        refused=_texts(run.refused, masker),
        error=masked_failure(run.error, masker),
        out_of_reach=masked_failure(run.out_of_reach, masker),
    )


def masked_gate(result: GateResult, masker: Masker) -> GateResult:
    """Return a gate's result whose words hold no secret."""
    return replace(
        result,
        failing_tests=_names(result.failing_tests, masker),
        failure=masked_failure(result.failure, masker),
        first_failure=masked_failure(result.first_failure, masker),
    )


def masked_report(report: Interrupted | Judged, masker: Masker) -> Interrupted | Judged:
    """Return an attempt's report whose words hold no secret. The gates' results in it have been masked before."""
    notes = _texts(report.notes, masker)
    worker = _masked_worker(report.worker, masker) if report.worker is not None else None
    if isinstance(report, Judged):
        agent, failure = masked_run(report.agent, masker), masked_failure(report.failure, masker)
        return replace(report, agent=agent, failure=failure, notes=notes, worker=worker)
    run = masked_run(report.agent, masker) if report.agent is not None else None
    return replace(report, agent=run, notes=notes, worker=worker)


def masked_snapshot(snapshot: Snapshot, masker: Masker, own: Collection[str]) -> Snapshot:
    """Return a snapshot whose notes and names of new files hold no secret; `own` are values that main holds anyway."""

    def masked(paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(masker.path(path, own) for path in paths)

    def masked_files(files: tuple[NotTaken, ...]) -> tuple[NotTaken, ...]:
        return tuple(replace(one, path=masker.path(one.path, own), why=masker.text(one.why)) for one in files)

    return replace(
        snapshot,
        changes=tuple(
            replace(change, path=masker.path(change.path, own)) if change.old_mode == ABSENT else change
            for change in snapshot.changes
        ),
        protected_edits=masked(snapshot.protected_edits),
        oversized=masked(snapshot.oversized),
        notes=_texts(snapshot.notes, masker),
        elsewhere=masked(snapshot.elsewhere),
        not_taken=masked_files(snapshot.not_taken),
        suspects=masked_files(snapshot.suspects),
    )


def named_anew(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the paths of a snapshot that need not stand on main: those that a worker may have named."""
    made = (change.path for change in snapshot.changes if change.old_mode == ABSENT)
    return (
        *made,
        *snapshot.protected_edits,
        *snapshot.oversized,
        *snapshot.elsewhere,
        *(one.path for one in (*snapshot.not_taken, *snapshot.suspects)),
    )


def masked_issue(issue: Issue, masker: Masker) -> Issue:
    """Return an issue whose words hold no secret."""
    return replace(issue, title=masker.text(issue.title), body=masker.text(issue.body))


def masked_backlog(backlog: Backlog, masker: Masker) -> Backlog:
    """Return a backlog whose titles, faults and warnings hold no secret: that is what is stored of it."""
    faults, warnings = (
        tuple(fault._replace(problem=masker.text(fault.problem), hint=masker.text(fault.hint)) for fault in faults)
        for faults in (backlog.faults, backlog.warnings)
    )
    issues = tuple(replace(issue, title=masker.text(issue.title)) for issue in backlog.issues)
    return Backlog(issues, faults, warnings)


def _masked_worker(report: WorkerReport, masker: Masker) -> WorkerReport:
    return replace(
        report,
        summary=masker.text(report.summary),
        risks=_texts(report.risks, masker),
        gaps=_texts(report.gaps, masker),
        questions=_texts(report.questions, masker),
        left=_texts(report.left, masker),
    )


def _texts(texts: tuple[str, ...], masker: Masker) -> tuple[str, ...]:
    return tuple(masker.text(text) for text in texts)


def _names(names: tuple[str, ...], masker: Masker) -> tuple[str, ...]:
    return tuple(masker.values(name) for name in names)
