"""`noface config hints`: list the rules of noface.toml, try them on recorded failures, add one, have some proposed."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.candidates import attempt_number, tried_issue
from noface.cli.verb import ConfigFile, VerbResult, answers, grouped
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.session import ReadSession
    from noface.knowledge.hint_mining import FixOf, PastFailure
    from noface.knowledge.hints import HintRule
    from noface.model.attempt import PastAttempt
    from noface.model.issue import Issue


_PATCH_BYTES_MAX = 1_000_000


def recorded(session: "ReadSession", *rules: "HintRule") -> "tuple[PastFailure, ...]":
    """Return the failures of all issues and all epochs, in the order they happened.

    Their issues have labels and paths if rules are asked for that go by these.
    """
    from noface.knowledge.hint_mining import past_failures
    from noface.model.issue import Issue

    known = issues(session) if any(rule.label or rule.path for rule in rules) else {}
    dated: list[tuple[float, PastFailure]] = []
    for issue_id in session.reader.attempted():
        past = attempts(session, issue_id)
        ended = {attempt.number: attempt.finished_at for attempt in past}
        failures = past_failures(known.get(issue_id) or Issue(issue_id, ""), past)
        dated += [(ended[failure.number], failure) for failure in failures]
    dated.sort(key=lambda pair: pair[0])
    return tuple(failure for _, failure in dated)


def issues(session: "ReadSession") -> "dict[str, Issue]":
    """Return the sound issues of the backlog by id: labels and paths stand only in their files."""
    return {issue.id: issue for issue in session.backlog().issues}


def nameless(session: "ReadSession", issue_id: str) -> "Issue":
    """Return what is left of an issue whose file is gone or faulty."""
    from noface.model.issue import Issue

    row = session.reader.issue(issue_id)
    return Issue(issue_id, row.title if row is not None else "")


def attempts(session: "ReadSession", issue_id: str) -> "tuple[PastAttempt, ...]":
    """Return an issue's finished attempts; what they changed is read from their patch if no record says it."""
    from dataclasses import replace

    from noface.model.patch import changed_lines

    def changed(directory: Path) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line.path for line in changed_lines(_patch(directory))))

    past = session.reader.past(issue_id)
    if all(attempt.changed for attempt in past):
        return past
    folders = {row.number: Path(row.directory) for row in session.reader.attempts(issue_id)}
    return tuple(
        attempt if attempt.changed else replace(attempt, changed=changed(folders[attempt.number])) for attempt in past
    )


def fixes(session: "ReadSession") -> "FixOf":
    """Return what compares a failed attempt's patch with that of the attempt that passed after it."""
    from noface.knowledge.fixes import Fix, fix_of

    def fix(past: "PastFailure") -> Fix:
        folders = {row.number: Path(row.directory) for row in session.reader.attempts(past.issue.id)}
        if past.passed_by is None:
            return Fix()
        return fix_of(_patch(folders[past.number]), _patch(folders[past.passed_by]))

    return fix


def _patch(directory: Path) -> str:
    from noface.process.files import read_regular

    return (read_regular(directory / "diff.patch", _PATCH_BYTES_MAX) or b"").decode("utf-8", "replace")


_VALUES = ("label", "language", "path", "error_pattern", "error_regex", "hint")


@answers()
def list_hints(
    lessons: bool = typer.Option(False, "--lessons", help="Show the lessons learned from recoveries instead."),
    config: ConfigFile = None,
) -> VerbResult:
    """List the hints, and how often each has matched."""
    from noface.cli.session import open_session
    from noface.process.search import patient_search

    seen = open_session(config)
    if lessons:
        return _lessons(seen)
    from noface.config.load import name_of
    from noface.ui.hints import list_document, list_page

    rules = _rules(seen, config)
    document = list_document(name_of(seen.location.root, config), rules, recorded(seen, *rules), patient_search())
    return VerbResult(document, list_page)


@answers()
def try_on(
    issue_id: str = typer.Argument(..., metavar="ID", help="The issue.", autocompletion=tried_issue),
    number: int | None = typer.Option(
        None,
        "--attempt",
        metavar="N",
        help="The attempt; by default the last that failed.",
        autocompletion=attempt_number,
    ),
    config: ConfigFile = None,
) -> VerbResult:
    """Show which hints match an issue's failure, and why."""
    from noface.cli.session import open_session
    from noface.knowledge.hints import explain
    from noface.process.search import search
    from noface.ui.hints import match_document, match_page
    from noface.ui.issues import find_issue

    seen = open_session(config)
    rules = _rules(seen, config)
    known_id = str(find_issue(seen.reader, issue_id).id)
    issue = issues(seen).get(known_id) or nameless(seen, known_id)
    attempt = _failed(attempts(seen, known_id), known_id, number)
    failure, touched = (attempt.failure, attempt.changed) if attempt is not None else (None, ())
    matches = tuple(explain(rule, issue, failure, touched, search) for rule in rules)
    document = match_document(issue, attempt, matches)
    return VerbResult(document, lambda _, width: match_page(issue, attempt, matches, width))


@answers()
def add(
    hint: str = typer.Option(..., "--hint", metavar="TEXT", help="The text that the next attempt gets."),
    label: str = typer.Option("", "--label", help="Condition: the issue has this label."),
    language: str = typer.Option("", "--language", help="Condition: the failing file is in this language."),
    path: str = typer.Option("", "--path", metavar="GLOB", help="Condition: the attempt changed a matching file."),
    error_pattern: str = typer.Option(
        "", "--error-pattern", metavar="TEXT", help="Condition: the error contains this text."
    ),
    error_regex: str = typer.Option(
        "", "--error-regex", metavar="REGEX", help="Condition: the error matches this regular expression."
    ),
    config: ConfigFile = None,
) -> VerbResult:
    """Add a hint to noface.toml, and show what it matches."""
    from noface.cli.session import open_session
    from noface.knowledge.hints import HintRule

    rule = HintRule(hint, label, language, error_pattern, error_regex, path)
    return _add(open_session(config), config, rule, draft=False)


@answers()
def suggest(
    least: int = typer.Option(2, "--min", metavar="N", min=2, help="In how many issues a failure must have occurred."),
    chosen: int | None = typer.Option(None, "--apply", metavar="N", help="Add this proposal to noface.toml."),
    hint: str = typer.Option("", "--hint", metavar="TEXT", help="With --apply: the text to give it."),
    config: ConfigFile = None,
) -> VerbResult:
    """Propose hints for failures that several issues had."""
    from dataclasses import replace

    from noface.cli.session import open_session
    from noface.knowledge.hint_mining import propose
    from noface.process.search import patient_search
    from noface.ui.hints import proposals_document, proposals_page

    if hint and chosen is None:
        raise UsageError("--hint goes with --apply", "To add a hint of your own: noface config hints add")
    seen = open_session(config)
    rules = _rules(seen, config)
    failures = recorded(seen, *rules)
    proposals = propose(failures, rules, patient_search(), fixes(seen), least)
    if chosen is not None:
        if not 1 <= chosen <= len(proposals):
            raise UsageError(
                f"there is no proposal {chosen}; there are {len(proposals)}", "See: noface config hints suggest"
            )
        proposal = proposals[chosen - 1]
        rule = replace(proposal.rule, hint=hint or proposal.rule.hint)
        return _add(seen, config, rule, draft=proposal.draft and not hint)
    document = proposals_document(proposals, failures, least)
    return VerbResult(document, lambda _, width: proposals_page(proposals, failures, least, width))


group = partial(
    grouped,
    "List, test, add and propose hints for failures.",
    {"list": list_hints, "test": try_on, "add": add, "suggest": suggest},
)


def _add(seen: "ReadSession", config: Path | None, rule: "HintRule", *, draft: bool) -> VerbResult:
    from noface.cli.config import replace_file
    from noface.config.edit import with_hint
    from noface.config.load import find, name_of, read
    from noface.process.search import patient_search
    from noface.ui.hints import added_document, added_page, tried_on

    path, name = find(seen.location.root, config), name_of(seen.location.root, config)
    values = {key: value for key in _VALUES if (value := str(getattr(rule, key)))}
    after = with_hint(read(path), values, name)
    replace_file(path, after)
    number = len(_rules(seen, config))
    matches = tried_on(recorded(seen, rule), rule, patient_search())
    document = added_document(name, number, rule, matches, draft=draft)
    return VerbResult(document, lambda _, width: added_page(name, number, rule, matches, width, draft=draft))


def _lessons(seen: "ReadSession") -> VerbResult:
    from noface.store.lessons import LessonStore
    from noface.ui.hints import lessons_document, lessons_page

    store = LessonStore(seen.database)
    lessons = store.recent()
    without = {kind: store.untold(kind) for kind in {lesson.kind for lesson in lessons}}
    document = lessons_document(lessons, without)
    return VerbResult(document, lambda _, width: lessons_page(lessons, without, width))


def _rules(seen: "ReadSession", config: Path | None) -> tuple["HintRule", ...]:
    """Return the rules of noface.toml as a run has them."""
    from noface.config.load import load
    from noface.knowledge.hints import HintRule

    hints = load(seen.location.root, config).failure_hints
    return tuple(hint.record(HintRule) for hint in hints)


def _failed(past: tuple["PastAttempt", ...], issue_id: str, number: int | None) -> "PastAttempt | None":
    """Return the failed attempt that is meant; None if the issue has not failed yet."""
    failed = [attempt for attempt in past if attempt.failure is not None]
    if number is None:
        return failed[-1] if failed else None
    attempt = next((attempt for attempt in failed if attempt.number == number), None)
    if attempt is None:
        known = ", ".join(str(attempt.number) for attempt in failed)
        raise UsageError(
            f"issue {issue_id} has no attempt {number} that failed",
            f"Those that failed: {known}." if known else "No attempt failed.",
        )
    return attempt
