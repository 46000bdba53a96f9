"""`noface tools fsck`: check what noface keeps of a repository, and repair what is safe.

The check needs git and the database only; a run may be at work beside it. A repair needs the lock and the
configuration, as a run does, and touches nothing of a person's.
"""

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.verb import ConfigFile, VerbResult, answers

if TYPE_CHECKING:
    from noface.git.plumbing import Plumbing
    from noface.git.repository import Repository
    from noface.integrity.state.fsck_facts import Fault


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
    from noface.integrity.state.fsck_facts import FaultKind, Severity, is_sound
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
    document = FsckDocument(is_sound(tuple(findings)), running or None, tuple(repaired), tuple(findings))
    return VerbResult(document, fsck_page, EXIT_DONE if document.sound else EXIT_ATTENTION)


def _repository(config: Path | None) -> "Repository":
    """Return the repository; a configuration that is missing or wrong keeps nobody from checking."""
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
    from noface.cli.fsck_look import collect
    from noface.integrity.state.fsck import check

    facts = collect(plumbing)
    findings = check(facts)
    if facts.running:
        again = check(collect(plumbing))
        findings = tuple(each for each in findings if each in again)
    return facts.running, findings


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
