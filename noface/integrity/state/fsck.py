"""Decides what is wrong with noface's state.

The rules, by what each holds against the facts:

main       Every first-parent commit of main with a Noface-Issue trailer is a recorded landing from its first parent,
           of a tree whose hard gates are recorded as passed. Main's reflog names noface for recorded moves only. What
           a person pulled, merged or rebased is theirs: it is noted and no complaint.
work       The commit of every finished attempt exists and is reachable from noface's refs or a branch, unless its
           issue is merged or a person let go of it (`noface tools clean --force`).
steps      Issues, pull requests and landings changed their states as the table of transitions has it.
agreement  An issue is merged in its row where main holds it. Refs belong to issues that rows or main know. Counters
           are the sums of their attempts.
closure    Without a living run no run, attempt, question, landing or process is open, and no half-done move of files.
storage    The database passes its own check; no object that noface refers to is missing.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from noface.integrity.state.fsck_facts import DatabaseFacts, Facts, Fault, FaultKind, LandingFacts, RepairKind, Severity
from noface.integrity.state.landed import TrailedCommit
from noface.model.taxonomy import IssueStatus

_OWN = "noface: land"
_LOOK = "Run the gates on it: `git worktree add --detach /tmp/look {commit}`. Revert it if they fail."
_MOVE_AWAY = "Restore it from a backup, or move it away: merged work is known from main's history."
_CLOCK_ERROR_S = 2.0
_SHOWN_MAX = 3
_COST_ERROR_USD_MAX = 1e-6
_ISSUE_REFS = "refs/noface/issues/"


def check(facts: Facts) -> tuple[Fault, ...]:
    """Return what is wrong, gravest first; while a run is at work, what it has in flight is only noted."""
    faults = [*_storage(facts), *_left(facts)]
    if facts.database is not None:
        for rule in (_landings, _main_moves, _merges, _work, _open, _unknown, _counters, _steps):
            faults += rule(facts, facts.database)
    if facts.running:
        faults = [replace(f, repair=None, advice="") if f.repair is RepairKind.RECOVER else f for f in faults]
    order = [Severity.PERSON, Severity.REPAIRABLE, Severity.NOTE]
    return tuple(sorted(faults, key=lambda each: order.index(each.severity)))


def _storage(facts: Facts) -> Iterator[Fault]:
    git = facts.git
    if facts.database_error:
        yield Fault(FaultKind.DATABASE_UNUSABLE, "state.db", facts.database_error, facts.database_hint or _MOVE_AWAY)
    elif facts.database is None and (git.refs or git.landed):
        number = len({each.issue for each in git.landed})
        message = f"it is not there, but noface worked here: main holds {number} issue(s)"
        advice = "make it again, with the issues that main holds as merged"
        yield Fault(FaultKind.DATABASE_MISSING, "state.db", message, advice, RepairKind.RECOVER)
    for damage in facts.database.damage if facts.database is not None else ():
        yield Fault(FaultKind.DATABASE_DAMAGED, "state.db", damage, _MOVE_AWAY)
    for ref in git.broken_refs:
        advice = f"Where the reflog or a clone knows its commit: `git update-ref {ref} <commit>`."
        yield Fault(FaultKind.REF_BROKEN, ref, "it names no object that is there", advice)
    if git.missing:
        text = ", ".join(git.missing[:_SHOWN_MAX])
        more = f" and {len(git.missing) - _SHOWN_MAX} more" if len(git.missing) > _SHOWN_MAX else ""
        advice = "Fetch them from a clone that has them; `git fsck` tells more."
        yield Fault(FaultKind.OBJECTS_MISSING, "objects", f"missing below noface's refs: {text}{more}", advice)


def _landings(facts: Facts, database: DatabaseFacts) -> Iterator[Fault]:
    by_commit = {(row.new, row.issue): row for row in database.landings}
    others = {row.new: row for row in database.landings}
    own = {move.new for move in facts.git.moves if move.message.startswith(_OWN)}
    for landed in facts.git.landed:
        row = by_commit.get((landed.landing.commit, landed.issue)) or others.get(landed.landing.commit)
        if row is None:
            yield _unrecorded(database, landed, by_noface=landed.landing.commit in own)
        elif row.state != "intent":  # that is found as a landing that is open
            yield from _recorded(database, landed, row)


def _recorded(database: DatabaseFacts, landed: TrailedCommit, row: LandingFacts) -> Iterator[Fault]:
    """Hold a landing against its record, and that against its gates: each hard one has passed on exactly its tree."""
    name, short = f"landing of {row.issue}", landed.commit[:12]
    look = _LOOK.format(commit=short)
    held = ("landed", landed.landing.tree, landed.landing.parent, landed.issue)
    if held != (row.state, row.tree, row.old, row.issue):
        recorded = f"{row.state}, of the tree {row.tree[:12]}, on {row.old[:12]}"
        yield Fault(FaultKind.LANDING_DIFFERS, name, f"main holds {short}, recorded as {recorded}", look)
    results = [database.gates[key] for key in row.gates if key in database.gates]
    proofs = sum(each.tree == row.tree and (each.passed or not each.gate.hard) for each in results)
    if proofs < max(len(row.gates), 1):
        message = f"{short}: of its {len(row.gates)} gates {proofs} are recorded as passed on its tree"
        yield Fault(FaultKind.LANDING_UNPROVEN, name, message, look)


def _unrecorded(database: DatabaseFacts, landed: TrailedCommit, *, by_noface: bool) -> Fault:
    name, short = f"landing of {landed.issue}", landed.commit[:12]
    if landed.commit in database.learned or _before(database, landed.at):
        return Fault(FaultKind.LANDING_UNRECORDED, name, f"{short}: its proof went with another state.db")
    if by_noface:
        message = f"noface moved main to {short}, and nothing is recorded of it"
        return Fault(FaultKind.LANDING_UNRECORDED, name, message, _LOOK.format(commit=short))
    return Fault(
        FaultKind.LANDING_UNRECORDED, name, f"{short} came by a person's hand (a pull, rebase, or cherry-pick)"
    )


def _main_moves(facts: Facts, database: DatabaseFacts) -> Iterator[Fault]:
    recorded = {(row.old, row.new) for row in database.landings}
    for move in facts.git.moves:
        known = (move.old, move.new) in recorded or move.new in database.learned
        if not move.message.startswith(_OWN) or known or _before(database, move.at):
            continue
        message = f"noface moved main from {move.old[:12]} to {move.new[:12]} without a recorded intent"
        advice = "See `git reflog main`; put main back where that was wrong, and please report it."
        yield Fault(FaultKind.MAIN_MOVED, "main", message, advice)


def _merges(facts: Facts, database: DatabaseFacts) -> Iterator[Fault]:
    rows = {issue.id: issue for issue in database.issues}
    landed = {each.issue: each.commit for each in facts.git.landed}
    pending = {row.issue for row in database.landings if row.state == "intent"}
    for issue, commit in landed.items():
        if issue in pending or (issue in rows and rows[issue].status == IssueStatus.MERGED):
            continue
        if issue in rows and rows[issue].merged_commit == commit:
            continue  # a person took it back
        message = f"main holds it as {commit[:12]}, its row says {rows[issue].status if issue in rows else 'nothing'}"
        name, advice = f"issue {issue}", "mark it as merged"
        yield Fault(FaultKind.MERGE_UNRECORDED, name, message, advice, RepairKind.MARK_MERGED, issue, commit)
    for row in database.issues:
        gone = row.merged_commit and (
            row.merged_commit in facts.git.off_main or row.merged_commit not in facts.git.present
        )
        if row.status == IssueStatus.MERGED and gone and row.id not in landed:
            message = (
                f"it was merged as {row.merged_commit[:12]}, and main does not hold it; the next run asks about it"
            )
            yield Fault(FaultKind.MERGE_LOST, f"issue {row.id}", message)


def _before(database: DatabaseFacts, at: float) -> bool:
    """True if something happened before the database's first run: an earlier one recorded it."""
    return database.first_run_at is None or at < database.first_run_at - _CLOCK_ERROR_S


def _work(facts: Facts, database: DatabaseFacts) -> Iterator[Fault]:
    merged = {issue.id for issue in database.issues if issue.status == IssueStatus.MERGED}
    for attempt in database.attempts:
        released = attempt.number <= database.released.get(attempt.issue, 0)
        if not attempt.outcome or not attempt.candidate or attempt.issue in merged or released:
            continue
        name = f"attempt {attempt.number} of {attempt.issue}"
        short = attempt.candidate[:12]
        if attempt.candidate not in facts.git.present:
            advice = "The work is lost unless a clone or a backup has the commit; `noface retry` has it done again."
            yield Fault(FaultKind.WORK_MISSING, name, f"its commit {short} is not in the repository", advice)
        elif attempt.candidate in facts.git.unreachable:
            slug = next(slug for slug, issue in facts.names.items() if issue == attempt.issue)
            ref = f"{_ISSUE_REFS}{slug}/{attempt.number}"
            message, hold = f"no ref holds its commit {short}, so git may prune it", RepairKind.HOLD
            yield Fault(FaultKind.WORK_UNHELD, name, message, f"make {ref} again", hold, ref, attempt.candidate)


def _steps(_: Facts, database: DatabaseFacts) -> Iterator[Fault]:
    """Name changes of state that nothing in noface is meant to make; what they led to is checked by the other rules."""
    for step in database.unexpected_steps:
        message = f"it went from {step.before} to {step.after}, which is a mistake of noface's"
        yield Fault(FaultKind.STEP_UNEXPECTED, f"{step.of.replace('_', ' ')} {step.name}", message)


def _settled(kind: FaultKind, subject: str, message: str) -> Fault:
    return Fault(kind, subject, message, "settle it, as the next run does", RepairKind.RECOVER)


def _open(_: Facts, database: DatabaseFacts) -> Iterator[Fault]:
    for run in database.open_runs:
        yield _settled(FaultKind.RUN_OPEN, f"run {run}", "it never ended")
    for attempt in database.attempts:
        name = f"attempt {attempt.number} of {attempt.issue}"
        if not attempt.outcome and attempt.saved:
            yield Fault(FaultKind.ATTEMPT_OPEN, name, "its work is saved; the next `noface run` judges it")
        elif not attempt.outcome:
            yield _settled(FaultKind.ATTEMPT_OPEN, name, "it was cut off")
    if database.open_questions:
        yield _settled(FaultKind.QUESTION_OPEN, f"{database.open_questions} asked", "never answered")
    for row in (row for row in database.landings if row.state == "intent"):
        message = f"main was to become {row.new[:12]}, and nobody recorded what came of it"
        yield _settled(FaultKind.LANDING_OPEN, f"landing of {row.issue}", message)


def _left(facts: Facts) -> Iterator[Fault]:
    for path in facts.git.cut_off:
        yield _settled(FaultKind.LANDING_CUT_OFF, path, "a landing was cut off while it moved these files")
    if facts.processes:
        pids = ", ".join(map(str, facts.processes))
        yield _settled(FaultKind.PROCESS_LEFT, pids, "left running by a run that is gone")


def _unknown(facts: Facts, _: DatabaseFacts) -> Iterator[Fault]:
    issues = Counter(ref.split("/")[3] for ref in facts.git.refs if ref.startswith(_ISSUE_REFS))
    for slug in sorted(issues.keys() - facts.names.keys()):
        message = f"{issues[slug]} ref(s) of an issue that nobody knows; they may hold the only copy of work"
        yield Fault(FaultKind.REF_UNKNOWN, f"{_ISSUE_REFS}{slug}", message)


def _counters(_: Facts, database: DatabaseFacts) -> Iterator[Fault]:
    for issue in database.issues:
        shown, spent = issue.cost_usd or 0.0, issue.spent or 0.0
        if issue.attempts != issue.charged or abs(shown - spent) > _COST_ERROR_USD_MAX:
            name = f"issue {issue.id}"
            recorded = f"{issue.charged} charged attempts and ${spent:.4f} are recorded"
            message = f"{recorded}, {issue.attempts} and ${shown:.4f} are shown"
            yield Fault(FaultKind.COUNTERS_WRONG, name, message, "count anew", RepairKind.RECOUNT, issue.id)
