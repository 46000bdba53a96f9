"""`noface tools fsck`: check what noface keeps of a repository, and repair what is safe.

The check needs git and the database only; a run may be at work beside it. A repair needs the lock and the
configuration, as a run does, and touches nothing of a person's.
"""

from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.verb import ConfigFile, VerbResult, answers

if TYPE_CHECKING:
    from noface.git.plumbing import Plumbing
    from noface.git.repository import Repository
    from noface.integrity.state.fsck_facts import DatabaseFacts, Facts, Fault


@answers("The findings as JSON.")
def fsck(
    repair: bool = typer.Option(False, "--repair", help="Repair what can be repaired safely; name what needs you."),
    config: ConfigFile = None,
) -> VerbResult:
    """Check that main, refs, database and processes agree.

    Run it after a crash, for example.
    """
    from noface.errors import EXIT_ATTENTION, EXIT_DONE
    from noface.git.plumbing import Plumbing
    from noface.integrity.state.fsck_facts import FaultKind, Severity
    from noface.ui.fsck import FsckDocument, fsck_page

    with closing(Plumbing(_repository(config))) as plumbing:
        running, findings = _check(plumbing)
        repaired: tuple[Fault, ...] = ()
        if repair:
            before = [each for each in findings if each.severity is Severity.REPAIRABLE]
            if all(each.kind not in (FaultKind.DATABASE_UNUSABLE, FaultKind.DATABASE_DAMAGED) for each in findings):
                _repair(config, findings)
            running, findings = _check(plumbing)
            left = {(each.kind, each.subject) for each in findings if each.severity is not Severity.NOTE}
            repaired = tuple(each for each in before if (each.kind, each.subject) not in left)
    sound = all(each.severity is Severity.NOTE for each in findings)
    document = FsckDocument(sound, running or None, tuple(repaired), tuple(findings))
    return VerbResult(document, fsck_page, EXIT_DONE if sound else EXIT_ATTENTION)


def _repository(config: Path | None) -> "Repository":
    from noface.config.load import load_tables
    from noface.errors import ConfigError
    from noface.git.locate import locate
    from noface.git.repository import discover

    try:
        project = load_tables(locate(Path.cwd()).root, config).get("project")
    except ConfigError:
        if config is not None:
            raise
        project = None
    main = project.get("main") if isinstance(project, dict) else None
    return discover(Path.cwd(), main if isinstance(main, str) else "")


def _check(plumbing: "Plumbing") -> "tuple[str, tuple[Fault, ...]]":
    """Return who is at work, and what is wrong.

    A living run goes on between one look and the next, so beside one only that counts which two looks agree on.
    """
    from noface.integrity.state.fsck import check

    facts = _collect(plumbing)
    findings = check(facts)
    if facts.running:
        again = check(_collect(plumbing))
        findings = tuple(each for each in findings if each in again)
    return facts.running, findings


def _collect(plumbing: "Plumbing") -> "Facts":
    from noface.git.refs import slug
    from noface.git.survey import survey
    from noface.integrity.state.fsck_facts import Facts
    from noface.process.lock import holder_of
    from noface.process.process_tree import carriers

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


def _rows(path: Path) -> "tuple[DatabaseFacts, str, str]":
    from noface.errors import StoreError
    from noface.integrity.state.fsck_facts import DatabaseFacts
    from noface.store.check import database_facts
    from noface.store.database import Database
    from noface.store.reader import Reader

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


def _repair(config: Path | None, findings: "tuple[Fault, ...]") -> None:
    """Repair under the lock. Raises LockedError beside a run, ConfigError if there is no sound configuration."""
    from noface.cli.run_session import make_context, open_project
    from noface.cli.wiring import RunOptions, settings
    from noface.engine.recover import repair
    from noface.process.lock import RepositoryLock
    from noface.store.database import Database

    options = RunOptions()
    repository, loaded, tracker = open_project(Path.cwd(), config, options)
    with ExitStack() as stack:
        stack.enter_context(RepositoryLock(repository.state_dir / "lock"))
        database = Database.open(repository.state_dir / "state.db")
        stack.callback(database.close)
        chosen = settings(loaded, repository, options)
        context = make_context(repository, loaded, tracker, chosen, database, lambda *_: None, stack)
        repair(context, findings)
