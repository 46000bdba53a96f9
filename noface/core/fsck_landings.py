"""Holds main against what is recorded of it: every landing proven, every move noface's or a person's."""

from collections.abc import Iterator

from noface.core.fsck_facts import DatabaseFacts, Facts, LandedCommit, LandingRow
from noface.core.fsck_findings import Finding, Kind, Repair, RepairKind, for_person, note, repairable
from noface.core.taxonomy import IssueStatus

_OWN = "noface: land"
_LOOK = "Run the gates on it: `git worktree add --detach /tmp/look {commit}`. Revert it if they fail."
_CLOCK_ERROR_S = 2.0


def landings(facts: Facts, database: DatabaseFacts) -> Iterator[Finding]:
    """Check each landed commit of main against its record, and each record against its proof."""
    by_commit = {row.new: row for row in database.landings}
    own = {move.new for move in facts.git.moves if move.message.startswith(_OWN)}
    for landed in facts.git.landed:
        row = by_commit.get(landed.commit)
        if row is not None:
            yield from _recorded(database, landed, row)
        else:
            yield from _unrecorded(database, landed, by_noface=landed.commit in own)


def _recorded(database: DatabaseFacts, landed: LandedCommit, row: LandingRow) -> Iterator[Finding]:
    name, short = f"landing of {row.issue}", landed.commit[:12]
    if row.state == "intent":
        return  # told as a landing that is open
    look = _LOOK.format(commit=short)
    if row.state != "landed":
        yield for_person(Kind.LANDING_DIFFERS, name, f"main holds {short}, recorded as {row.state}", look)
    differs = [
        word
        for word, is_, should in (
            ("its tree", landed.tree, row.tree),
            ("what it was built on", landed.parent, row.old),
            ("its issue", landed.issue, row.issue),
        )
        if is_ != should
    ]
    if differs:
        message = f"of {short}, {' and '.join(differs)} is not as recorded"
        yield for_person(Kind.LANDING_DIFFERS, name, message, look)
    yield from _proof(database, row)


def _proof(database: DatabaseFacts, row: LandingRow) -> Iterator[Finding]:
    """Check that every hard gate of a landing is recorded as passed on exactly its tree."""
    name, look = f"landing of {row.issue}", _LOOK.format(commit=row.new[:12])
    results = [database.gates[key] for key in row.gates if key in database.gates]
    red = sorted({each.gate for each in results if each.hard and not each.passed})
    other = sorted({each.gate for each in results if each.tree != row.tree})
    lacking = len(row.gates) - len(results)
    if red or other or not row.gates:
        why = (
            f"the gate {red[0]} is recorded as red"
            if red
            else f"the gate {other[0]} was run on another tree"
            if other
            else "no gate is named as its proof"
        )
        yield for_person(Kind.LANDING_UNPROVEN, name, f"{row.new[:12]}: {why}", look)
    elif lacking and (database.proofs_from is None or row.id < database.proofs_from):
        message = f"{row.new[:12]}: an earlier noface kept no result of {lacking} of its {len(row.gates)} gates"
        yield note(Kind.LANDING_UNPROVEN, name, message)
    elif lacking:
        message = f"{row.new[:12]}: nothing is recorded of {lacking} of its {len(row.gates)} gates"
        yield for_person(Kind.LANDING_UNPROVEN, name, message, look)


def _unrecorded(database: DatabaseFacts, landed: LandedCommit, *, by_noface: bool) -> Iterator[Finding]:
    name, short = f"landing of {landed.issue}", landed.commit[:12]
    if _before(database, landed.at):
        yield note(Kind.LANDING_UNRECORDED, name, f"{short} is older than the database; its proof went with another")
    elif by_noface:
        message = f"noface moved main to {short}, and nothing is recorded of it"
        yield for_person(Kind.LANDING_UNRECORDED, name, message, _LOOK.format(commit=short))
    else:
        yield note(Kind.LANDING_UNRECORDED, name, f"{short} came by a person's hand (a pull, rebase, or cherry-pick)")


def main_moves(facts: Facts, database: DatabaseFacts) -> Iterator[Finding]:
    """Check that noface moved main only as it had recorded before."""
    recorded = {(row.old, row.new) for row in database.landings}
    for move in facts.git.moves:
        if not move.message.startswith(_OWN) or (move.old, move.new) in recorded or _before(database, move.at):
            continue
        message = f"noface moved main from {move.old[:12]} to {move.new[:12]} without a recorded intent"
        advice = "See `git reflog main`; put main back where that was wrong, and please report it."
        yield for_person(Kind.MAIN_MOVED, "main", message, advice)


def merges(facts: Facts, database: DatabaseFacts) -> Iterator[Finding]:
    """Check that issues are merged in their rows where main holds them, and the other way round."""
    rows = {issue.id: issue for issue in database.issues}
    landed = {each.issue: each.commit for each in facts.git.landed}
    pending = {row.issue for row in database.landings if row.state == "intent"}
    for issue, commit in landed.items():
        if issue in pending or (issue in rows and rows[issue].status == IssueStatus.MERGED):
            continue
        message = f"main holds it as {commit[:12]}, its row says {rows[issue].status if issue in rows else 'nothing'}"
        repair = Repair(RepairKind.MARK_MERGED, issue, commit)
        yield repairable(Kind.MERGE_UNRECORDED, f"issue {issue}", message, "mark it as merged", repair)
    for row in database.issues:
        gone = row.merged_commit and (
            row.merged_commit in facts.git.off_main or row.merged_commit not in facts.git.present
        )
        if row.status != IssueStatus.MERGED or not gone or row.id in landed:
            continue
        message = f"it was merged as {row.merged_commit[:12]}, and main does not hold it any more"
        at = max((each.at for each in database.landings if each.new == row.merged_commit), default=0.0)
        if any(not _own(move.message) and move.at >= at - _CLOCK_ERROR_S for move in facts.git.moves):
            yield note(Kind.MERGE_LOST, f"issue {row.id}", f"{message}: a person moved main")
        else:
            advice = f"`git merge {row.merged_commit[:12]}` puts it back; or write a new issue for it."
            yield for_person(Kind.MERGE_LOST, f"issue {row.id}", message, advice)


def _own(message: str) -> bool:
    return not message or message.startswith(_OWN)


def _before(database: DatabaseFacts, at: float) -> bool:
    """Tell whether something happened before the database's first run: an earlier one recorded it."""
    return database.first_run_at is None or at < database.first_run_at - _CLOCK_ERROR_S
