"""`noface approve` and `reject`: what a person decides on work that waits for them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import typer

from noface.cli.candidates import proposed_issue
from noface.cli.verb import ConfigFile, VerbResult, answers
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.model.history import Verdict
    from noface.store.decisions import Case


@answers("What was approved, as JSON.")
def approve(
    issue_ids: list[str] = typer.Argument(
        ..., metavar="ID...", help="The issues that wait for your approval.", autocompletion=proposed_issue
    ),
    note: str = typer.Option("", "--note", "-n", help="What the next worker should know, if one is needed."),
    attempt: int | None = typer.Option(None, "--attempt", min=1, help="This attempt's work is right: go on from it."),
    paths: list[str] = typer.Option(
        [], "--path", help="What the issue may change from now on, instead of what was asked for."
    ),
    config: ConfigFile = None,
) -> VerbResult:
    """Say yes to what issues wait for: to all of these, or none. Their work may land, or go on as proposed.

    It holds for the same work and the same question in all later attempts.
    """
    from noface.model.history import Verdict
    from noface.model.patterns import path_problem
    from noface.store.decisions import sound_note

    if problem := next(filter(None, map(path_problem, paths)), None):
        raise UsageError(problem, "Nothing was changed.")
    if attempt is not None and len(issue_ids) > 1:
        raise UsageError("--attempt is one issue's", "Name one issue.")
    return _decide(config, issue_ids, Verdict.APPROVED, sound_note(note), attempt, tuple(paths))


def _decide(
    config: ConfigFile,
    issue_ids: Sequence[str],
    verdict: "Verdict",
    note: str,
    attempt: int | None = None,
    paths: tuple[str, ...] = (),
) -> VerbResult:
    import time

    from noface.cli.session import open_session
    from noface.store import decisions
    from noface.ui.issues import find_issue

    session = open_session(config)
    with session.database.transaction():
        rows = {row.id: row for row in (find_issue(session.reader, name) for name in issue_ids)}
        cases = [decisions.open_case(session.reader, row, verdict, attempt, paths) for row in rows.values()]
        for case in cases:
            if case.settled is None:
                said = (verdict, note, "a person")
                decisions.decide(time.time(), session.journal, session.questions, session.reader, case, said)
    return _verdicts(cases, verdict)


def _verdicts(cases: "Sequence[Case]", verdict: "Verdict") -> VerbResult:
    """Tell what was decided, and what follows; in JSON one issue stands alone, several in a list."""
    from noface.model.actions import ApprovalKind
    from noface.model.history import Verdict
    from noface.ui.text import hanging

    approved = verdict is Verdict.APPROVED

    def status(case: "Case") -> str:
        done = (ApprovalKind.DONE, ApprovalKind.UNDONE)
        return case.settled or ("skipped" if approved and case.wants in done else "ready")

    def lines(_: object, width: int) -> Iterator[str]:
        for case in cases:
            row = case.row
            if case.settled is not None:
                yield f"Issue {row.id} was {verdict.value} already; it is {case.settled} now."
                continue
            yield from hanging(f"{row.title}: {verdict.value}", width, f"{row.id}  ")
            if approved and case.paths:
                yield from hanging(f"it may change {', '.join(case.paths)} as well", width, "   ")
            if status(case) == "skipped":
                yield "It is closed as done." if case.wants is ApprovalKind.DONE else "It is left undone."
        if any(case.settled is None and status(case) == "ready" for case in cases):
            yield "Next: noface run"

    decided = [
        {
            "id": case.row.id,
            "title": case.row.title,
            "status": status(case),
            "attempt": case.attempt.number if case.attempt is not None else 0,
            "verdict": verdict.value,
        }
        for case in cases
    ]
    return VerbResult({"approve" if approved else "reject": decided[0] if len(decided) == 1 else decided}, lines)


@answers("What was rejected, as JSON.")
def reject(
    issue_ids: list[str] = typer.Argument(
        ..., metavar="ID...", help="The issues that wait for your approval.", autocompletion=proposed_issue
    ),
    note: str = typer.Option(
        "", "--note", "-n", help="Why, and what should be done instead; the next worker reads it."
    ),
    config: ConfigFile = None,
) -> VerbResult:
    """Reject what issues propose: all of these, or none. A worker goes on with your note."""
    from noface.model.history import Verdict
    from noface.store.decisions import sound_note

    text = sound_note(note)
    if not text:
        raise UsageError(
            "say why with --note: without a reason the next worker would do the same again",
            f'For example: noface reject {issue_ids[0][:80]} --note "Keep the old name as an alias."',
        )
    return _decide(config, issue_ids, Verdict.REJECTED, text)
