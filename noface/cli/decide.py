"""`noface unblock`, `retry`, `approve` and `reject`: what a person decides on an issue."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from noface.errors import UsageError
from noface.model.history import Verdict

if TYPE_CHECKING:
    from noface.cli.session import ReadSession
    from noface.model.actions import ApprovalKind
    from noface.model.attempt import PastAttempt
    from noface.model.failure import Failure
    from noface.store.records import IssueRow


NOTE_CHARS_MAX = 10_000
ATTEMPTS_MAX = 50
_OPENABLE = ("blocked", "skipped", "approval")
_GOES_ON_WITHOUT = ("ready", "waiting", "running", "landing")


def unblock(
    issue_ids: list[str] = typer.Argument(None, metavar="ID...", help="The issues."),
    note: str = typer.Option("", "--note", "-n", help="What the next worker should know; it goes into its prompt."),
    model: str | None = typer.Option(None, "--model", "-m", help="Begin with this model of noface.toml."),
    attempts: int | None = typer.Option(None, "--attempts", help=f"Number of attempts to allow, 1 to {ATTEMPTS_MAX}."),
    everything: bool = typer.Option(False, "--all", help="All blocked issues."),
    as_json: bool = typer.Option(False, "--json", help="The unblocked issues as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration file, if it is not noface.toml."),
) -> None:
    """Unblock blocked or skipped issues. Their attempt counters start again."""
    from noface.cli.session import open_session
    from noface.ui import page

    if bool(issue_ids) == everything:
        raise UsageError("name the issues to unblock, or use --all", "See the blocked issues: noface blocked")
    if attempts is not None and not 1 <= attempts <= ATTEMPTS_MAX:
        raise UsageError(f"--attempts takes 1 to {ATTEMPTS_MAX}, not {attempts}", "Nothing was changed.")
    session = open_session(config)
    if model is not None:
        _require_model(session.location.root, config, model)
    wanted = list(issue_ids or ())
    if everything:
        wanted = [row.id for row in session.reader.issues() if row.status == "blocked" and row.present]
    given = give_back(session, wanted, _no_unblocking, note, "unblocked by a person", model, attempts)
    if as_json:
        page.show_json({"unblock": given})
        return
    page.show(given_lines(given) if given else ["Nothing is blocked."])


def give_back(
    session: "ReadSession",
    wanted: Sequence[str],
    refusal: Callable[["IssueRow"], UsageError | None],
    note: str,
    why: str,
    model: str | None = None,
    attempts: int | None = None,
) -> list[dict[str, Any]]:
    """Give all the named issues back to the loop, or none of them; return what they are now.

    `model` and `attempts` hold for them until they are given back again. Raises UsageError where nothing has been run
    yet, an id is unknown, an issue's file is gone, or `refusal` finds a reason. A noface that is running takes them
    up with its next tick.
    """
    import time

    from noface.ui.issues import find_issue

    if not session.exists:
        raise UsageError("nothing has run yet, so there is nothing to unblock", "Start with: noface run")
    said = sound_note(note)
    given: dict[str, dict[str, Any]] = {}
    more = {"model": model, "attempts": attempts}
    with session.database.transaction():
        for name in wanted:
            row = find_issue(session.reader, name)
            problem = refusal(row) or gone(row) or _taken_back(session, row)
            if problem is not None:
                raise problem
            session.journal.give_branch(row.id, given=True)
            session.journal.unblocked(time.time(), row.id, said, why, model, attempts)
            record = {"id": row.id, "title": row.title, "status": "ready"}
            given[row.id] = record | {key: value for key, value in more.items() if value is not None}
    return list(given.values())


def given_lines(given: Sequence[dict[str, Any]]) -> list[str]:
    """Return what a person reads after giving issues back."""
    from noface.ui.page import width
    from noface.ui.text import count, hanging

    lines: list[str] = []
    for issue in given:
        attempts = f"up to {count(issue['attempts'], 'attempt')}" if "attempts" in issue else ""
        more = [f"with {issue['model']}" if "model" in issue else "", attempts]
        state = ", ".join(["ready", *(text for text in more if text)])
        lines += hanging(f"{issue['title']}: {state}", width(), f"{issue['id']}  ")
    return [*lines, "The counters start again. Next: noface run"]


def sound_note(note: str) -> str:
    """Return a note as it can be kept; raise UsageError for one that is too long to be told to a worker."""
    text = note.strip().encode("utf-8", "replace").decode()
    if len(text) > NOTE_CHARS_MAX:
        raise UsageError(
            f"the note is too long: {len(text):,} characters, at most {NOTE_CHARS_MAX:,}",
            "Keep the note short, and put the rest into the issue's file.",
        )
    return text


def gone(row: "IssueRow") -> UsageError | None:
    """Return the refusal for an issue that the backlog no longer holds, None for one that is there."""
    if row.present:
        return None
    return UsageError(
        f"issue {row.id} is not in the backlog any more: its file is gone or faulty",
        f"Put {row.source or 'its file'} back, or see what is faulty: noface issues",
    )


def _require_model(root: Path, config: Path | None, model: str) -> None:
    from noface.config.load import load
    from noface.config.problems import did_you_mean

    known = load(root, config).models
    if model not in known:
        raise UsageError(f"noface.toml has no model {model[:80]}; {did_you_mean(model[:80], known)}", _MODELS_HINT)


_MODELS_HINT = "All of them, with the built-in ones: noface config show"


def _no_unblocking(row: "IssueRow") -> UsageError | None:
    status = row.status
    if status in _OPENABLE:
        return None
    hints = {
        "merged": f"It has landed. For more work on it, add another issue; see: noface show {row.id}",
        "running": "A worker is on it. If no noface runs any more: noface run",
        "landing": f"What is in its way: noface show {row.id}",
        "epic": f"Its parts do the work; unblock one of them. Which there are: noface show {row.id}",
    }
    hint = hints.get(status, f"It is tried by itself; to let its counters start again: noface retry {row.id}")
    return UsageError(f"issue {row.id} is {status}, not blocked", hint)


def _taken_back(session: "ReadSession", row: "IssueRow") -> UsageError | None:
    """Refuse a part that its parent does without: both would do the same work."""
    parent = session.reader.issue(row.parent) if row.parent is not None and row.status == "skipped" else None
    if parent is None or row.satisfied:
        return None
    name = parent.id
    if parent.status == "merged":
        return UsageError(f"issue {name}, of which {row.id} was a part, has landed without it", _ADD_ANOTHER)
    if parent.status in _GOES_ON_WITHOUT:
        return UsageError(
            f"issue {row.id} was withdrawn: its parent, issue {name}, goes on without it",
            f"See: noface show {name}",
        )
    return None


_ADD_ANOTHER = 'For what is still missing, add another issue: noface issue add "What should be done"'


def retry(
    issue_ids: list[str] = typer.Argument(..., metavar="ID...", help="The issues."),
    as_json: bool = typer.Option(False, "--json", help="The retried issues as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration file, if it is not noface.toml."),
) -> None:
    """Try issues again. Their attempt counters start again, their best work is kept."""
    from noface.cli.session import open_session
    from noface.ui import page

    given = give_back(open_session(config), issue_ids, _no_retry, "", "retried by a person")
    if as_json:
        page.show_json({"retry": given})
    else:
        page.show(given_lines(given))


def _no_retry(row: "IssueRow") -> UsageError | None:
    name, status = row.id, row.status
    refusals = {
        "merged": (f"issue {name} is merged already", "For more work on it, add another issue: noface issue add"),
        "running": (f"issue {name} is running", "Wait for its attempt to end. If no noface runs any more: noface run"),
        "landing": (f"issue {name} has passed and waits to land", f"What is in its way: noface show {name}"),
        "epic": (f"issue {name} was divided; its parts do the work", f"Retry one of them; see: noface show {name}"),
    }
    return UsageError(*refusals[status]) if status in refusals else None


def approve(
    issue_id: str = typer.Argument(..., metavar="ID", help="The issue that waits for your approval."),
    note: str = typer.Option("", "--note", "-n", help="What the next worker should know, if one is needed."),
    as_json: bool = typer.Option(False, "--json", help="What was approved, as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration file, if it is not noface.toml."),
) -> None:
    """Approve an issue that waits for you. Its work may land, or it may go on as proposed."""
    from noface.cli.session import open_session

    said = sound_note(note)
    session = open_session(config)
    with session.database.transaction():
        case = open_case(session, issue_id, Verdict.APPROVED)
        if case.settled is None:
            _approve(session, case, said)
    show_verdict(case, Verdict.APPROVED, as_json=as_json)


@dataclass(frozen=True, slots=True)
class Case:
    """What a person decides on: the issue's row, the attempt, what is wanted, and which paths it is about.

    `settled` is the status the issue has by now where the same has been said before.
    """

    row: "IssueRow"
    attempt: "PastAttempt"
    wants: "ApprovalKind"
    paths: tuple[str, ...] = ()
    settled: str | None = None


def open_case(session: "ReadSession", issue_id: str, verdict: Verdict) -> Case:
    """Return what an issue waits for. Raises UsageError where it waits for no approval, or for nothing any more."""
    from noface.model.actions import ApprovalKind
    from noface.store.questions import Questions
    from noface.ui.issues import find_issue

    row = find_issue(session.reader, issue_id)
    past = session.reader.past(row.id)
    if row.status != "approval":
        decided = Questions(session.database, session.journal).approvals(row.id)
        if decided and past and (decided[-1].verdict, decided[-1].attempt) == (verdict, past[-1].number):
            return Case(row, past[-1], ApprovalKind.LANDING, settled=str(row.status))
        raise _no_approval(row)
    problem = gone(row)
    if problem is not None:
        raise problem
    if not past:
        raise UsageError(f"issue {row.id} has no attempt to decide on", f"Unblock it: noface unblock {row.id}")
    document = row.block or {}
    otherwise = ApprovalKind.LANDING if past[-1].failure is None else ApprovalKind.GOING_ON
    wants = next((each for each in ApprovalKind if each.value == document.get("wants")), otherwise)
    return Case(row, past[-1], wants, tuple(str(path) for path in document.get("paths", ())))


def show_verdict(case: Case, verdict: Verdict, *, as_json: bool) -> None:
    """Tell what was decided, and what follows."""
    from noface.ui import page
    from noface.ui.text import hanging

    row, status = case.row, case.settled or "ready"
    if as_json:
        name = "approve" if verdict is Verdict.APPROVED else "reject"
        decided: dict[str, Any] = {"id": row.id, "title": row.title, "status": status}
        page.show_json({name: {**decided, "attempt": case.attempt.number, "verdict": verdict.value}})
        return
    if case.settled is not None:
        page.show([f"Issue {row.id} was {verdict.value} already; it is {status} now."])
        return
    lines = hanging(f"{row.title}: {verdict.value}", page.width(), f"{row.id}  ")
    if case.paths and verdict is Verdict.APPROVED:
        lines += hanging(f"it may change {', '.join(case.paths)} as well", page.width(), "   ")
    page.show([*lines, "Next: noface run"])


def _approve(session: "ReadSession", case: Case, note: str) -> None:
    import time

    from noface.model.actions import ApprovalKind
    from noface.model.taxonomy import IssueStatus
    from noface.store.questions import Questions

    now, row = time.time(), case.row
    questions = Questions(session.database, session.journal)
    questions.approve(now, row.id, case.attempt.number, epoch=row.epoch, verdict=Verdict.APPROVED, note=note)
    if case.wants is ApprovalKind.PATHS:
        granted = (*row.granted_paths, *case.paths)
        session.journal.allowed(now, row.id, tuple(dict.fromkeys(granted)))
    if note and case.wants is not ApprovalKind.LANDING:
        questions.note(row.id, note)  # another worker follows, and should know
    session.journal.status(now, row.id, IssueStatus.READY, "approved by a person")


def _no_approval(row: "IssueRow") -> UsageError:
    name, status = row.id, str(row.status)
    hints = {
        "blocked": f"It needs more than a yes or no: noface blocked. To let it go on: noface unblock {name}",
        "merged": f"It has landed; see: noface show {name}",
        "running": "A worker is on it; whether it needs you is not known yet. To look: noface status",
        "landing": f"It has passed and needs no approval; what is in its way: noface show {name}",
        "epic": f"Its parts do the work; which there are: noface show {name}",
        "skipped": f"To let it be worked on after all: noface unblock {name}",
    }
    hint = hints.get(status, "It is worked on by itself: noface run")
    return UsageError(f"issue {name} is {status}; it does not wait for approval", hint)


_MESSAGE_CHARS_MAX = 300


def reject(
    issue_id: str = typer.Argument(..., metavar="ID", help="The issue that waits for your approval."),
    note: str = typer.Option(
        "", "--note", "-n", help="Why, and what should be done instead; the next worker reads it."
    ),
    as_json: bool = typer.Option(False, "--json", help="What was rejected, as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration file, if it is not noface.toml."),
) -> None:
    """Reject what an issue proposes; a worker goes on with your note."""
    from noface.cli.session import open_session
    from noface.model.history import Verdict

    said = sound_note(note)
    if not said:
        raise UsageError(
            "say why with --note: without a reason the next worker would do the same again",
            f'For example: noface reject {issue_id[:80]} --note "Keep the old name as an alias."',
        )
    session = open_session(config)
    with session.database.transaction():
        case = open_case(session, issue_id, Verdict.REJECTED)
        if case.settled is None:
            _reject(session, case, said)
    show_verdict(case, Verdict.REJECTED, as_json=as_json)


def _reject(session: "ReadSession", case: "Case", note: str) -> None:
    import time

    from noface.model.history import Verdict
    from noface.model.taxonomy import PASSED, IssueStatus
    from noface.store.questions import Questions

    now, name, number = time.time(), case.row.id, case.attempt.number
    questions = Questions(session.database, session.journal)
    questions.approve(now, name, number, epoch=case.row.epoch, verdict=Verdict.REJECTED, note=note)
    if case.attempt.outcome == PASSED:
        session.journal.attempt_overruled(now, name, number, _rejection(note))
    questions.note(name, note)
    session.journal.status(now, name, IssueStatus.READY, "rejected by a person")


def _rejection(note: str) -> "Failure":
    """Return the failure of work that a person turned down; another note is another failure, no mere repetition."""
    import hashlib

    from noface.model.failure import Failure
    from noface.model.quoting import short
    from noface.model.taxonomy import FailureKind

    digest = hashlib.sha256(note.encode()).hexdigest()[:12]
    return Failure(
        FailureKind.REVIEW_REJECTED,
        f"rejected by a person: {short(note, _MESSAGE_CHARS_MAX)}",
        rule="person-rejected",
        signature=f"person-rejected:{digest}",
        evidence=(short(note, _MESSAGE_CHARS_MAX),),
        excerpt=note,
    )
