"""Decides what is wrong with noface's state.

The rules, by what each holds against the facts:

main       Every first-parent commit of main with a Noface-Issue trailer is a recorded landing from its first parent,
           of a tree whose hard gates are recorded as passed. Main's reflog names noface for recorded moves only. What
           a person pulled, merged or rebased is theirs: it is noted and no complaint.
work       The commit of every finished attempt exists and is reachable from noface's refs or a branch, unless its
           issue is merged or a person let go of it (`noface tools clean --force`).
steps      Issues, pull requests and landings changed their states as the table of transitions has it.
agreement  An issue is merged in its row where main holds it. Refs, branches and folders belong to issues that rows or
           main know. Counters are the sums of their attempts.
closure    Without a living run no run, attempt, question, landing or process is open, and no half-done move of files.
storage    The database passes its own check; no object that noface refers to is missing; no lock is left behind; the
           configuration of private git dirs is what noface wrote.
"""

from collections.abc import Iterator
from dataclasses import replace

from noface.integrity.state.fsck_facts import (
    IN_FLIGHT,
    AttemptFacts,
    DatabaseFacts,
    Facts,
    Fault,
    FaultKind,
    LandingFacts,
    LockFile,
    RepairKind,
    Severity,
)
from noface.integrity.state.landed import TrailedCommit
from noface.model.scratch import needed_until_landed
from noface.model.taxonomy import IssueStatus

_OWN = "noface: land"
_LOOK = "Run the gates on it: `git worktree add --detach /tmp/look {commit}`. Revert it if they fail."
_MOVE_AWAY = "Restore it from a backup, or move it away: merged work is known from main's history."
_CLOCK_ERROR_S = 2.0
_LOCK_AGE_S_MIN = 60.0
_OWN_MARK = "noface landing"
_SHOWN_MAX = 3
_RECOVER = RepairKind.RECOVER
_COST_ERROR_USD_MAX = 1e-6


def check(facts: Facts) -> tuple[Fault, ...]:
    """Return what is wrong, gravest first; while a run is at work, what it has in flight is only noted."""
    faults = [*_storage(facts), *_left(facts)]
    if facts.database is not None:
        faults += _landings(facts, facts.database)
        faults += _main_moves(facts, facts.database)
        faults += _merges(facts, facts.database)
        faults += _work(facts, facts.database)
        faults += _closure(facts.database)
        faults += _references(facts, facts.database)
        faults += _counters(facts.database)
        faults += _steps(facts.database)
    if facts.running:
        faults = [_in_flight(each) for each in faults]
    order = [Severity.PERSON, Severity.REPAIRABLE, Severity.NOTE]
    return tuple(sorted(faults, key=lambda each: order.index(each.severity)))


def _in_flight(each: Fault) -> Fault:
    """Return a finding as it is beside a run: what a repair would settle at its death is only noted."""
    if each.kind not in IN_FLIGHT or each.severity is Severity.PERSON:
        return each
    return replace(each, repair=None, advice="")


def _storage(facts: Facts) -> Iterator[Fault]:
    """Check database, objects, refs, locks and private git dirs."""
    yield from _database(facts)
    yield from _objects(facts)
    for lock in facts.git.locks:
        yield from _lock(facts.database, lock)
    for name in facts.git.hubs_changed:
        message = "its configuration is not the one noface wrote"
        advice, repair = "write it anew", RepairKind.REWRITE_HUB
        yield Fault(FaultKind.PRIVATE_GIT_CHANGED, f"private git dir {name}", message, advice, repair, name)


def _database(facts: Facts) -> Iterator[Fault]:
    if facts.database_error:
        yield Fault(FaultKind.DATABASE_UNUSABLE, "state.db", facts.database_error, facts.database_hint or _MOVE_AWAY)
    for damage in facts.database.damage if facts.database is not None else ():
        yield Fault(FaultKind.DATABASE_DAMAGED, "state.db", damage, _MOVE_AWAY)
    missing = facts.database is None and not facts.database_error
    if missing and (facts.git.refs or facts.git.landed):
        number = len({each.issue for each in facts.git.landed})
        message = f"it is not there, but noface worked here: main holds {number} issue(s)"
        advice = "make it again, with the issues that main holds as merged"
        yield Fault(FaultKind.DATABASE_MISSING, "state.db", message, advice, _RECOVER)


def _objects(facts: Facts) -> Iterator[Fault]:
    for ref in facts.git.broken_refs:
        advice = f"Where the reflog or a clone knows its commit: `git update-ref {ref} <commit>`."
        yield Fault(FaultKind.REF_BROKEN, ref, "it names no object that is there", advice)
    if facts.git.missing:
        text = ", ".join(facts.git.missing[:_SHOWN_MAX])
        more = f" and {len(facts.git.missing) - _SHOWN_MAX} more" if len(facts.git.missing) > _SHOWN_MAX else ""
        advice = "Fetch them from a clone that has them; `git fsck` tells more."
        yield Fault(FaultKind.OBJECTS_MISSING, "objects", f"missing below noface's refs: {text}{more}", advice)


def _lock(database: DatabaseFacts | None, lock: LockFile) -> Iterator[Fault]:
    """Name a lock that is left; only a landing's own is ever removed, by what settles the landing."""
    path, content, age_s = lock
    made = {row.new for row in database.landings} if database is not None else set()
    if content.startswith(_OWN_MARK):
        return  # found as a landing that was cut off
    if content and content in made:
        message, advice = "left by a landing that was cut off", "remove it"
        yield Fault(FaultKind.LOCK_LEFT, path, message, advice, RepairKind.UNLOCK, path, content)
    elif age_s < _LOCK_AGE_S_MIN:
        yield Fault(FaultKind.LOCK_LEFT, path, "a git command holds it, or left it behind just now")
    else:
        advice = f"If no git command is running here: `rm {path}`."
        yield Fault(FaultKind.LOCK_LEFT, path, f"left behind {age_s:.0f} s ago", advice)


def _landings(facts: Facts, database: DatabaseFacts) -> Iterator[Fault]:
    """Check each landed commit of main against its record, and each record against its proof."""
    by_commit = {(row.new, row.issue): row for row in database.landings}
    others = {row.new: row for row in database.landings}
    own = {move.new for move in facts.git.moves if move.message.startswith(_OWN)}
    for landed in facts.git.landed:
        row = by_commit.get((landed.landing.commit, landed.issue)) or others.get(landed.landing.commit)
        if row is not None:
            yield from _recorded(database, landed, row)
        else:
            yield from _unrecorded(database, landed, by_noface=landed.landing.commit in own)


def _recorded(database: DatabaseFacts, landed: TrailedCommit, row: LandingFacts) -> Iterator[Fault]:
    name, short = f"landing of {row.issue}", landed.commit[:12]
    if row.state == "intent":
        return  # found as a landing that is open
    look = _LOOK.format(commit=short)
    if row.state != "landed":
        yield Fault(FaultKind.LANDING_DIFFERS, name, f"main holds {short}, recorded as {row.state}", look)
    differs = [
        word
        for word, is_, should in (
            ("its tree", landed.landing.tree, row.tree),
            ("what it was built on", landed.landing.parent, row.old),
            ("its issue", landed.issue, row.issue),
        )
        if is_ != should
    ]
    if differs:
        message = f"of {short}, {' and '.join(differs)} is not as recorded"
        yield Fault(FaultKind.LANDING_DIFFERS, name, message, look)
    yield from _proof(database, row)


def _proof(database: DatabaseFacts, row: LandingFacts) -> Iterator[Fault]:
    """Check that every hard gate of a landing is recorded as passed on exactly its tree."""
    name, look = f"landing of {row.issue}", _LOOK.format(commit=row.new[:12])
    results = [database.gates[key] for key in row.gates if key in database.gates]
    red = sorted({each.gate.name for each in results if each.gate.hard and not each.passed})
    other = sorted({each.gate.name for each in results if each.tree != row.tree})
    lacking = len(row.gates) - len(results)
    if red or other or not row.gates:
        why = (
            f"the gate {red[0]} is recorded as red"
            if red
            else f"the gate {other[0]} was run on another tree"
            if other
            else "no gate is named as its proof"
        )
        yield Fault(FaultKind.LANDING_UNPROVEN, name, f"{row.new[:12]}: {why}", look)
    elif lacking:
        message = f"{row.new[:12]}: nothing is recorded of {lacking} of its {len(row.gates)} gates"
        yield Fault(FaultKind.LANDING_UNPROVEN, name, message, look)


def _unrecorded(database: DatabaseFacts, landed: TrailedCommit, *, by_noface: bool) -> Iterator[Fault]:
    name, short = f"landing of {landed.issue}", landed.commit[:12]
    if landed.commit in database.learned:
        message = f"{short} was learned from main: an older state.db had come back; its proof went with the other"
        yield Fault(FaultKind.LANDING_UNRECORDED, name, message)
    elif _before(database, landed.at):
        yield Fault(
            FaultKind.LANDING_UNRECORDED, name, f"{short} is older than the database; its proof went with another"
        )
    elif by_noface:
        message = f"noface moved main to {short}, and nothing is recorded of it"
        yield Fault(FaultKind.LANDING_UNRECORDED, name, message, _LOOK.format(commit=short))
    else:
        yield Fault(
            FaultKind.LANDING_UNRECORDED, name, f"{short} came by a person's hand (a pull, rebase, or cherry-pick)"
        )


def _main_moves(facts: Facts, database: DatabaseFacts) -> Iterator[Fault]:
    """Check that noface moved main only as it had recorded before."""
    recorded = {(row.old, row.new) for row in database.landings}
    for move in facts.git.moves:
        known = (move.old, move.new) in recorded or move.new in database.learned
        if not move.message.startswith(_OWN) or known or _before(database, move.at):
            continue
        message = f"noface moved main from {move.old[:12]} to {move.new[:12]} without a recorded intent"
        advice = "See `git reflog main`; put main back where that was wrong, and please report it."
        yield Fault(FaultKind.MAIN_MOVED, "main", message, advice)


def _merges(facts: Facts, database: DatabaseFacts) -> Iterator[Fault]:
    """Check that issues are merged in their rows where main holds them, and the other way round."""
    rows = {issue.id: issue for issue in database.issues}
    landed = {each.issue: each.commit for each in facts.git.landed}
    pending = {row.issue for row in database.landings if row.state == "intent"}
    for issue, commit in landed.items():
        if issue in pending or (issue in rows and rows[issue].status == IssueStatus.MERGED):
            continue
        message = f"main holds it as {commit[:12]}, its row says {rows[issue].status if issue in rows else 'nothing'}"
        name, advice = f"issue {issue}", "mark it as merged"
        yield Fault(FaultKind.MERGE_UNRECORDED, name, message, advice, RepairKind.MARK_MERGED, issue, commit)
    for row in database.issues:
        gone = row.merged_commit and (
            row.merged_commit in facts.git.off_main or row.merged_commit not in facts.git.present
        )
        if row.status != IssueStatus.MERGED or not gone or row.id in landed:
            continue
        message = f"it was merged as {row.merged_commit[:12]}, and main does not hold it any more"
        at = max((each.at for each in database.landings if each.issue == row.id), default=0.0)
        if any(not _own(move.message) and move.at >= at - _CLOCK_ERROR_S for move in facts.git.moves):
            yield Fault(FaultKind.MERGE_LOST, f"issue {row.id}", f"{message}: a person moved main")
        else:
            advice = f"`git merge {row.merged_commit[:12]}` puts it back; or write a new issue for it."
            yield Fault(FaultKind.MERGE_LOST, f"issue {row.id}", message, advice)


def _own(message: str) -> bool:
    return not message or message.startswith(_OWN)


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
            ref = _ref_of(facts, attempt)
            message = f"no ref holds its commit {short}, so git may prune it"
            advice = f"make {ref} again"
            yield Fault(FaultKind.WORK_UNHELD, name, message, advice, RepairKind.HOLD, ref, attempt.candidate)


def _ref_of(facts: Facts, attempt: AttemptFacts) -> str:
    slug = next(slug for slug, issue in facts.names.items() if issue == attempt.issue)
    return f"refs/noface/issues/{slug}/{attempt.number}"


def _steps(database: DatabaseFacts) -> Iterator[Fault]:
    """Name changes of state that nothing in noface is meant to make; what they led to is checked by the other rules."""
    for step in database.unexpected_steps:
        message = f"it went from {step.before} to {step.after}, which is a mistake of noface's"
        yield Fault(FaultKind.STEP_UNEXPECTED, f"{step.of.replace('_', ' ')} {step.name}", message)


def _closure(database: DatabaseFacts) -> Iterator[Fault]:
    for run in database.open_runs:
        advice = "record that it was cut off"
        yield Fault(FaultKind.RUN_OPEN, f"run {run}", "it never ended", advice, _RECOVER)
    for attempt in database.attempts:
        if attempt.outcome:
            continue
        name = f"attempt {attempt.number} of {attempt.issue}"
        if attempt.saved:
            yield Fault(FaultKind.ATTEMPT_OPEN, name, "its work is saved; the next `noface run` judges it")
        else:
            advice = "keep what is in its workspace, and record it as interrupted"
            yield Fault(FaultKind.ATTEMPT_OPEN, name, "it was cut off", advice, _RECOVER)
    if database.open_questions:
        number = database.open_questions
        advice = "drop what was cut short; the next run asks again"
        yield Fault(FaultKind.QUESTION_OPEN, f"{number} asked", "never answered", advice, _RECOVER)
    for landing in database.landings:
        if landing.state == "intent":
            message = f"main was to become {landing.new[:12]}, and nobody recorded what came of it"
            name = f"landing of {landing.issue}"
            yield Fault(FaultKind.LANDING_OPEN, name, message, "finish it or take it back", _RECOVER)


def _left(facts: Facts) -> Iterator[Fault]:
    for path in facts.git.cut_off:
        message = "a landing was cut off while it moved these files"
        yield Fault(FaultKind.LANDING_CUT_OFF, path, message, "finish it or take it back", _RECOVER)
    if facts.processes:
        pids = ", ".join(map(str, facts.processes))
        yield Fault(FaultKind.PROCESS_LEFT, pids, "left running by a run that is gone", "kill them", _RECOVER)


def _references(facts: Facts, database: DatabaseFacts) -> Iterator[Fault]:
    merged = {issue.id for issue in database.issues if issue.status == IssueStatus.MERGED}
    made = {attempt.candidate for attempt in database.attempts} | {attempt.commit for attempt in database.attempts}
    unknown: dict[str, int] = {}
    for ref, oid in facts.git.refs.items():
        slug, _, what = ref.removeprefix("refs/noface/issues/").partition("/")
        if ref.startswith("refs/heads/noface/"):
            slug = ref.removeprefix("refs/heads/noface/")
            if slug in facts.names and oid in facts.git.present and oid not in made and oid in facts.git.off_main:
                message = f"{oid[:12]} is no attempt's commit: a person's work, which stays"
                yield Fault(FaultKind.BRANCH_OF_A_PERSON, ref.removeprefix("refs/heads/"), message)
            continue
        if not ref.startswith("refs/noface/issues/"):
            continue
        if slug not in facts.names:
            unknown[slug] = unknown.get(slug, 0) + 1
        elif facts.names[slug] in merged and needed_until_landed(what):
            message = f"issue {facts.names[slug]} is merged and needs it no more"
            yield Fault(FaultKind.REF_LEFT, ref, message, "remove the ref", _RECOVER)
    for slug, number in sorted(unknown.items()):
        message = f"{number} ref(s) of an issue that nobody knows; they may hold the only copy of work"
        yield Fault(FaultKind.REF_UNKNOWN, f"refs/noface/issues/{slug}", message)
    known = {attempt.directory for attempt in database.attempts}
    left = [folder for folder in facts.folders if folder not in known]
    if left:
        message = f"{len(left)} folder(s) of attempts that the database does not know"
        yield Fault(FaultKind.FOLDER_UNKNOWN, left[0], message)


def _counters(database: DatabaseFacts) -> Iterator[Fault]:
    for issue in database.issues:
        wrong = []
        if issue.attempts != issue.charged:
            wrong.append(f"{issue.attempts} charged attempts are shown, {issue.charged} are recorded")
        if abs((issue.cost_usd or 0.0) - (issue.spent or 0.0)) > _COST_ERROR_USD_MAX:
            wrong.append(f"${issue.cost_usd or 0:.4f} is shown, ${issue.spent or 0:.4f} was spent")
        if wrong:
            name, message = f"issue {issue.id}", "; ".join(wrong)
            yield Fault(FaultKind.COUNTERS_WRONG, name, message, "count anew", RepairKind.RECOUNT, issue.id)
