"""Collects the facts that `noface tools fsck` judges: what git, the database and the processes say. Changes nothing."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from noface.errors import StoreError
from noface.git.plumbing import Plumbing
from noface.git.refs import slug
from noface.git.survey import survey
from noface.integrity.state.fsck_facts import DatabaseFacts, Facts
from noface.process.lock import holder_of
from noface.process.process_tree import carriers
from noface.store.check import database_facts
from noface.store.database import Database
from noface.store.reader import Reader


def collect(plumbing: Plumbing) -> Facts:
    """Return the facts about a repository. Raises UsageError if main is gone, GitError if git fails."""
    state = plumbing.repository.state_dir
    holder = holder_of(state / "lock")
    rows, error, hint = _rows(state / "state.db")
    commits = {oid for attempt in rows.attempts for oid in (attempt.candidate, attempt.commit)}
    commits |= {issue.merged_commit for issue in rows.issues}
    git = survey(plumbing, {oid for oid in commits if oid})
    ids = {"", *(issue.id for issue in rows.issues), *(attempt.issue for attempt in rows.attempts)}
    ids |= {landed.issue for landed in git.landed}
    return Facts(
        git=git,
        database=rows if (state / "state.db").exists() and not error else None,
        database_error=error,
        database_hint=hint,
        running=holder,
        names={slug(issue_id): issue_id for issue_id in ids},
        processes=() if holder else carriers("NOFACE_STATE", str(state)),
    )


def _rows(path: Path) -> tuple[DatabaseFacts, str, str]:
    if not path.exists():
        return DatabaseFacts(), "", ""
    try:
        with closing(Database.open(path)) as database:
            rows = database_facts(database)
            opened = Reader(database).open_attempts()
    except StoreError as error:
        return DatabaseFacts(), error.message, error.hint
    if not opened:
        return rows, "", ""
    from noface.attempt.run import only_judged  # with what a run needs

    judged_next = {each.directory for each in opened if only_judged(each)}
    saved = tuple(replace(attempt, saved=attempt.directory in judged_next) for attempt in rows.attempts)
    return replace(rows, attempts=saved), "", ""
