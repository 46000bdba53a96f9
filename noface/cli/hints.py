"""`noface config hints`: try the rules of noface.toml on recorded failures, have some proposed; what was learned."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.candidates import any_issue
from noface.cli.verb import ConfigFile, VerbResult, answers, grouped
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.session import ReadSession
    from noface.knowledge.hint_mining import PastFailure
    from noface.knowledge.hints import HintRule
    from noface.model.issue import Issue

_PATCH_BYTES_MAX = 1_000_000


@answers()
def lessons(config: ConfigFile = None) -> VerbResult:
    """List the lessons learned from recoveries."""
    from noface.cli.session import open_session
    from noface.store.lessons import LessonStore
    from noface.ui.hints import lessons_page

    recent = LessonStore(open_session(config).database).recent()
    return VerbResult({"lessons": recent}, lambda _, width: lessons_page(recent, width))


@answers()
def try_on(
    issue_id: str = typer.Argument(..., metavar="ID", help="The issue.", autocompletion=any_issue),
    number: int | None = typer.Option(
        None, "--attempt", metavar="N", help="The attempt; by default the last that failed."
    ),
    config: ConfigFile = None,
) -> VerbResult:
    """Show which hints match an issue's failure, and why."""
    from noface.cli.session import open_session
    from noface.knowledge.hints import explain
    from noface.model.issue import Issue
    from noface.process.search import search
    from noface.ui.hints import match_document, match_page
    from noface.ui.issues import find_issue

    seen = open_session(config)
    known_id = str(find_issue(seen.reader, issue_id).id)
    issue, past = _issues(seen).get(known_id) or Issue(known_id, ""), seen.reader.past(known_id)
    failed = [attempt for attempt in past if attempt.failure is not None and number in (None, attempt.number)]
    if number is not None and not failed:
        known = ", ".join(str(attempt.number) for attempt in past if attempt.failure is not None)
        advice = f"Those that failed: {known}." if known else "No attempt failed."
        raise UsageError(f"issue {known_id} has no attempt {number} that failed", advice)
    attempt = failed[-1] if failed else None
    failure, touched = (attempt.failure, attempt.changed) if attempt is not None else (None, ())
    matches = [explain(rule, issue, failure, touched, search, every=True) for rule in _rules(seen, config)]
    document = match_document(issue, attempt, matches)
    return VerbResult(document, lambda _, width: match_page(issue, attempt, matches, width))


@answers()
def suggest(config: ConfigFile = None) -> VerbResult:
    """Propose hints for failures that several issues had."""
    from noface.cli.session import open_session
    from noface.knowledge.fixes import Fix, fix_of
    from noface.knowledge.hint_mining import propose
    from noface.process.search import search
    from noface.ui.hints import proposals_document, proposals_page

    seen = open_session(config)
    failures = _recorded(seen)

    def fix(past: "PastFailure") -> Fix:
        folders = {row.number: Path(row.directory) for row in seen.reader.attempts(past.issue.id)}
        return fix_of(_patch(folders[past.number]), _patch(folders[past.passed_by])) if past.passed_by else Fix()

    proposals = propose(failures, _rules(seen, config), search, fix)
    document = proposals_document(proposals, len(failures))
    return VerbResult(document, lambda _, width: proposals_page(proposals, len(failures), width))


group = partial(
    grouped, "Test and propose hints for failures.", {"lessons": lessons, "test": try_on, "suggest": suggest}
)


def _rules(seen: "ReadSession", config: Path | None) -> tuple["HintRule", ...]:
    from noface.config.load import load
    from noface.knowledge.hints import HintRule

    hints = load(seen.location.root, config).failure_hints
    return tuple(HintRule(**hint.model_dump()) for hint in hints)


def _recorded(seen: "ReadSession") -> "tuple[PastFailure, ...]":
    from noface.knowledge.hint_mining import past_failures
    from noface.model.issue import Issue

    known = _issues(seen)
    dated: list[tuple[float, PastFailure]] = []
    for issue_id in seen.reader.attempted():
        past = seen.reader.past(issue_id)
        ended = {attempt.number: attempt.finished_at for attempt in past}
        dated += [
            (ended[failure.number], failure)
            for failure in past_failures(known.get(issue_id) or Issue(issue_id, ""), past)
        ]
    dated.sort(key=lambda pair: pair[0])
    return tuple(failure for _, failure in dated)


def _issues(seen: "ReadSession") -> "dict[str, Issue]":
    """Return the sound issues of the backlog by id: labels and paths stand only in their files."""
    return {issue.id: issue for issue in seen.backlog().issues}


def _patch(directory: Path) -> str:
    from noface.process.files import read_regular

    return (read_regular(directory / "diff.patch", _PATCH_BYTES_MAX) or b"").decode("utf-8", "replace")
