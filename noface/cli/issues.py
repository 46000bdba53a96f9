"""`noface issues`, `issues add` and `issues show`: the backlog, and one issue of it."""

import sys
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.candidates import any_issue, model_name
from noface.cli.verb import ConfigFile, VerbResult, answers, grouped
from noface.git.landings import landed_issues
from noface.model.listed import IssueFault

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noface.model.finding import Finding
    from noface.model.issue import Issue

_SETTLED = ("merged", "skipped")
_TRIED_S = 20.0
_GREEN = "main passes what is in `accept` already, so nobody will work on the issue"


@answers("The new issue as JSON.")
def add(
    title: str = typer.Argument(..., help="What should be done, in one line."),
    body: str = typer.Option("", "--body", "-b", help="The text; - reads it from standard input."),
    label: list[str] = typer.Option([], "--label", "-l", help="A label; may be given several times."),
    priority: int = typer.Option(2, "--priority", "-p", help="0 is the most urgent."),
    depends_on: list[str] = typer.Option(
        [], "--depends-on", "-d", help="Wait for this issue to be merged.", autocompletion=any_issue
    ),
    accept: list[str] = typer.Option([], "--accept", "-a", help="A command that must pass when it is done."),
    path: list[str] = typer.Option([], "--path", help="A glob of files it may touch."),
    model: str | None = typer.Option(
        None, "--model", "-m", help="The model of its first attempt.", autocompletion=model_name
    ),
    config: ConfigFile = None,
) -> VerbResult:
    """Add an issue and print where it is: its file, or its address on GitHub."""
    from noface.cli.session import merged_ids, open_session
    from noface.model.issue import Issue
    from noface.trackers.base import ISSUE_BYTES_MAX
    from noface.ui.issues import BacklogIssue
    from noface.ui.page import finding_lines

    session = open_session(config, fetch=True)
    draft = Issue(
        "",
        title=title,
        # More than a tracker would take is not even read.
        body=sys.stdin.buffer.read(ISSUE_BYTES_MAX + 1).decode("utf-8", "replace") if body == "-" else body,
        labels=tuple(label),
        priority=priority,
        depends_on=tuple(depends_on),
        paths=tuple(path),
        accept=tuple(accept),
        model=model,
    )
    taken = (*merged_ids(session.reader), *session.reader.attempted(), *_landed_elsewhere())
    issue = session.tracker.add(draft, taken)
    lines = [f"Added issue {issue.id}: {issue.source}"]
    if not issue.body:
        edit = "" if "://" in issue.source else "$EDITOR "
        lines.append(f"It has no text yet; say in it what a worker needs to know: {edit}{issue.source}")
    told = (*_of_accept((issue,), config), *_on_main(issue, config))
    page = lambda _, width: [*lines, *finding_lines(told, width), "Next: noface run"]  # noqa: E731
    return VerbResult({"issue": BacklogIssue(issue, "ready"), "findings": told}, page)


def _on_main(issue: "Issue", config: ConfigFile) -> "tuple[Finding, ...]":
    """Try an issue's `accept` on main for a moment, if that takes no setup, and no run is at work, which tries it."""
    from noface.cli.run_session import on_main
    from noface.config.load import load
    from noface.engine.main_checks import check_accept
    from noface.errors import EXIT_DONE, NofaceError
    from noface.git.repository import discover
    from noface.integrity.accepting import without_gates
    from noface.model.failure import Failure
    from noface.model.finding import Finding

    try:
        loaded = load(Path.cwd(), config)
        repository = discover(Path.cwd(), loaded.project.main)
        if not issue.accept or loaded.project.setup:
            return ()
        with on_main(repository, loaded, lambda *_: None) as (context, cancel):
            asked = replace(without_gates(issue, context.settings.gates), accept_timeout_s=_TRIED_S)
            seen = check_accept(context, asked, 0, cancel) if asked.accept else None
    except NofaceError:
        return ()
    if isinstance(seen, Failure):
        return (Finding(issue.source, f"accept cannot be run: {seen.message}", "", EXIT_DONE),)
    if seen is None or seen.failing:
        return ()
    return (Finding(issue.source, _GREEN, "Name a command that fails until it is done.", EXIT_DONE),)


def _of_accept(issues: "Iterable[Issue]", config: ConfigFile) -> "tuple[Finding, ...]":
    from noface.cli.findings import accept_findings
    from noface.config.load import load
    from noface.errors import NofaceError
    from noface.git.repository import discover

    try:
        loaded = load(Path.cwd(), config)
        return accept_findings(loaded, discover(Path.cwd(), loaded.project.main), issues)
    except NofaceError:
        return ()


def _landed_elsewhere() -> tuple[str, ...]:
    """Return the issues that have landed on main, in whatever clone: a new one under such an id would count as done."""
    from noface.errors import NofaceError
    from noface.git.plumbing import Plumbing
    from noface.git.repository import discover

    try:
        plumbing = Plumbing(discover(Path.cwd()))
    except NofaceError:
        return ()
    with closing(plumbing):
        return tuple(issue_id for issue_id, _ in landed_issues(plumbing))


@answers("The issue as JSON.")
def show(
    issue_id: str = typer.Argument(..., metavar="ID", help="The issue.", autocompletion=any_issue),
    config: ConfigFile = None,
) -> VerbResult:
    """Show what an issue asks for; `noface show ID` shows its attempts."""
    from noface.cli.session import open_session
    from noface.errors import UsageError
    from noface.ui.issues import BacklogIssue, find_issue, issue_page
    from noface.ui.status import effective_status, standings

    session = open_session(config)
    row = find_issue(session.reader, issue_id)
    issue = session.issue(row)
    if issue is None:
        raise UsageError(
            f"issue {row.id} is not in the backlog any more: its file is gone or faulty",
            f"See its attempts: noface show {row.id}",
        )
    record = BacklogIssue(issue, effective_status(row, standings(session.reader.around(row)))[0])
    return VerbResult({"issue": record}, lambda _, width: issue_page(record, width))


@answers("The backlog as JSON.")
def issues(config: ConfigFile = None) -> VerbResult:
    """List the backlog in working order, with its faults.

    Exit code 3 where there are any.
    """
    from noface.cli.session import open_session, without_unknown
    from noface.errors import EXIT_ATTENTION, EXIT_DONE
    from noface.ui.issues import backlog_document, backlog_page
    from noface.ui.status import effective_status, standings

    session = open_session(config)
    backlog = without_unknown(session.backlog(), session.location.root, config)
    rows = session.reader.issues()
    known = standings(rows)
    statuses = {row.id: effective_status(row, known)[0] for row in rows}
    asked = [each for each in backlog.issues if each.accept and statuses.get(each.id) not in _SETTLED]
    told = tuple(IssueFault(each.where, each.what, each.fix) for each in _of_accept(asked, config)) if asked else ()
    backlog = replace(backlog, warnings=(*backlog.warnings, *told))
    return VerbResult(
        backlog_document(backlog, statuses), backlog_page, EXIT_ATTENTION if backlog.faults else EXIT_DONE
    )


_HELP = "List the backlog in working order, add an issue, or read one."
group = partial(grouped, _HELP, {"add": add, "show": show}, issues)
