"""Holds what stores noface's state against what it should be: database, objects, refs, locks, private git dirs."""

from collections.abc import Iterator

from noface.core.fsck_facts import DatabaseFacts, Facts, LockFile
from noface.core.fsck_findings import Finding, Kind, Repair, RepairKind, for_person, note, repairable

_LOCK_AGE_S_MIN = 60.0
_OWN_MARK = "noface landing"
_SHOWN_MAX = 3


def storage(facts: Facts) -> Iterator[Finding]:
    """Check database, objects, refs, locks and private git dirs."""
    yield from _database(facts)
    yield from _objects(facts)
    for lock in facts.git.locks:
        yield from _lock(facts.database, lock)
    for name in facts.git.hubs_changed:
        repair = Repair(RepairKind.REWRITE_HUB, name)
        message = "its configuration is not the one noface wrote"
        yield repairable(Kind.PRIVATE_GIT_CHANGED, f"private git dir {name}", message, "write it anew", repair)


def _database(facts: Facts) -> Iterator[Finding]:
    if facts.database_error:
        yield for_person(Kind.DATABASE_UNUSABLE, "state.db", facts.database_error, facts.database_hint)
    for damage in facts.database.damage if facts.database is not None else ():
        advice = "Restore it from a backup, or move it away: merged work is known from main's history."
        yield for_person(Kind.DATABASE_DAMAGED, "state.db", damage, advice)
    missing = facts.database is None and not facts.database_error
    if missing and (facts.git.refs or facts.git.landed):
        number = len({each.issue for each in facts.git.landed})
        repair = Repair(RepairKind.RECOVER)
        message = f"it is not there, but noface worked here: main holds {number} issue(s)"
        advice = "make it again, with the issues that main holds as merged"
        yield repairable(Kind.DATABASE_MISSING, "state.db", message, advice, repair)


def _objects(facts: Facts) -> Iterator[Finding]:
    for ref in facts.git.broken_refs:
        advice = f"Where the reflog or a clone knows its commit: `git update-ref {ref} <commit>`."
        yield for_person(Kind.REF_BROKEN, ref, "it names no object that is there", advice)
    if facts.git.missing:
        shown = ", ".join(facts.git.missing[:_SHOWN_MAX])
        more = f" and {len(facts.git.missing) - _SHOWN_MAX} more" if len(facts.git.missing) > _SHOWN_MAX else ""
        advice = "Fetch them from a clone that has them; `git fsck` tells more."
        yield for_person(Kind.OBJECTS_MISSING, "objects", f"missing below noface's refs: {shown}{more}", advice)


def _lock(database: DatabaseFacts | None, lock: LockFile) -> Iterator[Finding]:
    """Name a lock that is left; only a landing's own is ever removed, by what settles the landing."""
    made = {row.new for row in database.landings} if database is not None else set()
    if lock.content.startswith(_OWN_MARK):
        return  # told as a landing that was cut off
    if lock.content and lock.content in made:
        repair = Repair(RepairKind.UNLOCK, lock.path, lock.content)
        yield repairable(Kind.LOCK_LEFT, lock.path, "left by a landing that was cut off", "remove it", repair)
    elif lock.age_s < _LOCK_AGE_S_MIN:
        yield note(Kind.LOCK_LEFT, lock.path, "a git command holds it, or left it behind just now")
    else:
        advice = f"If no git command is running here: `rm {lock.path}`."
        yield for_person(Kind.LOCK_LEFT, lock.path, f"left behind {lock.age_s:.0f} s ago", advice)
