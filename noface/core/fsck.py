"""Decides what is wrong with noface's state.

The rules, by what each holds against the facts:

main       Every first-parent commit of main with a Noface-Issue trailer is a recorded landing from its first parent,
           of a tree whose hard gates are recorded as passed. Main's reflog names noface for recorded moves only. What
           a person pulled, merged or rebased is theirs: it is told and not complained of.
work       The commit of every finished attempt exists and is reachable from noface's refs or a branch, unless its
           issue is merged or a person let go of it (`noface clean --force`).
agreement  An issue is merged in its row where main holds it. Refs, branches and folders belong to issues that rows or
           main know. Counters are the sums of their attempts.
closure    Without a living run no run, attempt, question, landing or process is open, and no half-done move of files.
storage    The database passes its own check; no object that noface refers to is missing; no lock is left behind.
"""

from collections.abc import Iterator
from dataclasses import replace

from noface.core.fsck_facts import AttemptRow, DatabaseFacts, Facts
from noface.core.fsck_findings import (
    IN_FLIGHT,
    Finding,
    Kind,
    Repair,
    RepairKind,
    Severity,
    for_person,
    note,
    repairable,
)
from noface.core.fsck_landings import landings, main_moves, merges
from noface.core.fsck_storage import storage
from noface.core.scratch import needed_until_landed
from noface.core.taxonomy import IssueStatus

_RECOVER = Repair(RepairKind.RECOVER)
_COST_ERROR_USD_MAX = 1e-6


def check(facts: Facts) -> tuple[Finding, ...]:
    """Return what is wrong, gravest first; while a run is at work, what it has in flight is only noted."""
    found = [*storage(facts), *_left(facts)]
    if facts.database is not None:
        found += landings(facts, facts.database)
        found += main_moves(facts, facts.database)
        found += merges(facts, facts.database)
        found += _work(facts, facts.database)
        found += _closure(facts.database)
        found += _references(facts, facts.database)
        found += _counters(facts.database)
    if facts.running:
        found = [_in_flight(each) for each in found]
    order = [Severity.PERSON, Severity.REPAIRABLE, Severity.NOTE]
    return tuple(sorted(found, key=lambda each: order.index(each.severity)))


def _in_flight(each: Finding) -> Finding:
    """Return a finding as it is beside a run: what a repair would settle at its death is only noted."""
    if each.kind not in IN_FLIGHT or each.severity is Severity.PERSON:
        return each
    return replace(each, severity=Severity.NOTE, repair=None, advice="")


def _work(facts: Facts, database: DatabaseFacts) -> Iterator[Finding]:
    merged = {issue.id for issue in database.issues if issue.status == IssueStatus.MERGED}
    for attempt in database.attempts:
        released = attempt.number <= database.released.get(attempt.issue, 0)
        if not attempt.outcome or not attempt.candidate or attempt.issue in merged or released:
            continue
        name = f"attempt {attempt.number} of {attempt.issue}"
        short = attempt.candidate[:12]
        if attempt.candidate not in facts.git.present:
            advice = "The work is lost unless a clone or a backup has the commit; `noface retry` has it done again."
            yield for_person(Kind.WORK_MISSING, name, f"its commit {short} is not in the repository", advice)
        elif attempt.candidate in facts.git.unreachable:
            ref = _ref_of(facts, attempt)
            repair = Repair(RepairKind.HOLD, ref, attempt.candidate)
            message = f"no ref holds its commit {short}, so git may prune it"
            yield repairable(Kind.WORK_UNHELD, name, message, f"make {ref} again", repair)


def _ref_of(facts: Facts, attempt: AttemptRow) -> str:
    slug = next(slug for slug, issue in facts.names.items() if issue == attempt.issue)
    return f"refs/noface/issues/{slug}/{attempt.number}"


def _closure(database: DatabaseFacts) -> Iterator[Finding]:
    for run in database.open_runs:
        repair = Repair(RepairKind.END_RUNS)
        yield repairable(Kind.RUN_OPEN, f"run {run}", "it never ended", "record that it was cut off", repair)
    for attempt in database.attempts:
        if attempt.outcome:
            continue
        name = f"attempt {attempt.number} of {attempt.issue}"
        if attempt.saved:
            yield note(Kind.ATTEMPT_OPEN, name, "its work is saved; the next `noface run` judges it")
        else:
            advice = "keep what is in its workspace, and record it as interrupted"
            yield repairable(Kind.ATTEMPT_OPEN, name, "it was cut off", advice, _RECOVER)
    if database.open_questions:
        number = database.open_questions
        advice = "drop what was cut short; the next run asks again"
        yield repairable(Kind.QUESTION_OPEN, f"{number} asked", "never answered", advice, _RECOVER)
    for landing in database.landings:
        if landing.state == "intent":
            message = f"main was to become {landing.new[:12]}, and nobody recorded what came of it"
            name = f"landing of {landing.issue}"
            yield repairable(Kind.LANDING_OPEN, name, message, "finish it or take it back", _RECOVER)
    open_issues = {attempt.issue for attempt in database.attempts if not attempt.outcome}
    for issue in database.issues:
        if issue.status == IssueStatus.RUNNING and issue.id not in open_issues:
            yield note(Kind.ISSUE_OPEN, f"issue {issue.id}", "the next `noface run` decides what comes next")


def _left(facts: Facts) -> Iterator[Finding]:
    for path in facts.git.cut_off:
        message = "a landing was cut off while it moved these files"
        yield repairable(Kind.LANDING_CUT_OFF, path, message, "finish it or take it back", _RECOVER)
    if facts.processes:
        pids = ", ".join(map(str, facts.processes))
        yield repairable(Kind.PROCESS_LEFT, pids, "left running by a run that is gone", "kill them", _RECOVER)


def _references(facts: Facts, database: DatabaseFacts) -> Iterator[Finding]:
    merged = {issue.id for issue in database.issues if issue.status == IssueStatus.MERGED}
    made = {attempt.candidate for attempt in database.attempts} | {attempt.commit for attempt in database.attempts}
    unknown: dict[str, int] = {}
    for ref, oid in facts.git.refs.items():
        slug, _, what = ref.removeprefix("refs/noface/issues/").partition("/")
        if ref.startswith("refs/heads/noface/"):
            slug = ref.removeprefix("refs/heads/noface/")
            if slug in facts.names and oid in facts.git.present and oid not in made and oid in facts.git.off_main:
                message = f"{oid[:12]} is no attempt's commit: a person's work, which stays"
                yield note(Kind.BRANCH_OF_A_PERSON, ref.removeprefix("refs/heads/"), message)
            continue
        if not ref.startswith("refs/noface/issues/"):
            continue
        if slug not in facts.names:
            unknown[slug] = unknown.get(slug, 0) + 1
        elif facts.names[slug] in merged and needed_until_landed(what):
            repair = Repair(RepairKind.RELEASE, ref, oid)
            message = f"issue {facts.names[slug]} is merged and needs it no more"
            yield repairable(Kind.REF_LEFT, ref, message, "remove the ref", repair)
    for slug, number in sorted(unknown.items()):
        message = f"{number} ref(s) of an issue that nobody knows; they may hold the only copy of work"
        yield note(Kind.REF_UNKNOWN, f"refs/noface/issues/{slug}", message)
    known = {attempt.directory for attempt in database.attempts}
    left = [folder for folder in facts.folders if folder not in known]
    if left:
        message = f"{len(left)} folder(s) of attempts that the database does not know"
        yield note(Kind.FOLDER_UNKNOWN, left[0], message)


def _counters(database: DatabaseFacts) -> Iterator[Finding]:
    for issue in database.issues:
        wrong = []
        if issue.attempts != issue.charged:
            wrong.append(f"{issue.attempts} charged attempts are shown, {issue.charged} are recorded")
        if abs((issue.cost_usd or 0.0) - (issue.spent or 0.0)) > _COST_ERROR_USD_MAX:
            wrong.append(f"${issue.cost_usd or 0:.4f} is shown, ${issue.spent or 0:.4f} was spent")
        if wrong:
            repair = Repair(RepairKind.RECOUNT, issue.id)
            yield repairable(Kind.COUNTERS_WRONG, f"issue {issue.id}", "; ".join(wrong), "count anew", repair)
