"""What `noface blocked` shows of an issue whose pull request needs a person: closed, taken over, or out of rounds."""

import shlex
from typing import Any

from noface.model.actions import Block
from noface.model.history import History
from noface.model.issue import Issue
from noface.model.quoting import quoted, some
from noface.model.taxonomy import FailureKind
from noface.recovery.blocked import block_document
from noface.recovery.options import Configured, Option, edit_command
from noface.recovery.pull_rounds import ClosedUnmerged, Followed, RoundDue, TakenByPerson
from noface.recovery.review_words import first_words

_NOTE = '--note "…"'
_NAMES_MAX = 4
_ASKED_CHARS_MAX = 400


def closed_document(
    issue: Issue, closed: ClosedUnmerged, followed: Followed, history: History, configured: Configured
) -> dict[str, Any]:
    """Return what is shown if somebody closed the pull request without a merge: that is a rejection."""
    who = closed.by or "Somebody"
    closed_it = f"{who} closed pull request #{followed.number} ({followed.url}) without a merge."
    question = f"Shall issue {issue.id} be tried again? {closed_it}"
    again = Option("yes: say what should be done otherwise", f"noface unblock {issue.id} {_NOTE}")
    reopen = Option("it was closed by mistake: open it again, and noface goes on", _on_forge("reopen", followed))
    action = Block(FailureKind.REVIEW_REJECTED, closed.reason)
    task = "Say what becomes of work whose pull request was closed"
    return _document(issue, action, history, configured, followed, question, (again, reopen, *_leave(issue)), task)


def taken_pull_document(
    issue: Issue, taken: TakenByPerson, followed: Followed, history: History, configured: Configured
) -> dict[str, Any]:
    """Return what is shown where a person has pushed to the branch of the pull request: it is theirs."""
    question = (
        f"Shall issue {issue.id} go on from what was pushed to {followed.branch} ({taken.head[:12]})? Until then the"
        f" pull request is left to you: {followed.url}"
    )
    again = Option("yes: the next attempt starts from these commits", f"noface retry {issue.id}")
    mine = Option("no: finish it by hand; noface sees when it is merged", _on_forge("view", followed))
    action = Block(FailureKind.REVIEW_REJECTED, taken.reason)
    task = "Say what becomes of your work on a pull request"
    return _document(issue, action, history, configured, followed, question, (again, mine), task)


def rounds_document(
    issue: Issue, due: RoundDue, kind: FailureKind, followed: Followed, history: History, configured: Configured
) -> dict[str, Any]:
    """Return what is shown where the rounds are used up: what is still asked for, with links."""
    asked = [f"{check.name} is red ({check.url})" if check.url else f"{check.name} is red" for check in due.checks]
    asked += [
        f"{review.author} says {quoted(first_words((review,)))}{f' ({review.url})' if review.url else ''}"
        for review in due.reviews
    ]
    shown = some(tuple(asked), _NAMES_MAX, _ASKED_CHARS_MAX)
    question = f"What should be done about pull request #{followed.number} ({followed.url})? {shown}"
    answer = Option("say what to do about it; the next worker reads it", f"noface unblock {issue.id} {_NOTE}")
    again = Option("try it again unchanged, with new rounds", f"noface retry {issue.id}")
    mine = Option("finish it by hand; noface sees when it is merged", _on_forge("view", followed))
    task = "Help with pull requests whose checks stay red or whose reviewers are not content"
    action = Block(kind, due.reason)
    return _document(issue, action, history, configured, followed, question, (answer, again, mine), task)


def _document(
    issue: Issue,
    action: Block,
    history: History,
    configured: Configured,
    followed: Followed,
    question: str,
    options: tuple[Option, ...],
    task: str,
) -> dict[str, Any]:
    document = block_document(issue, action, history, "", configured)
    return document | {
        "task": task,
        "question": question,
        "url": followed.url,
        "options": [option.text for option in options],
        "commands": [option.command for option in options],
        "next_steps": [f"Look at {followed.url}", f"See the evidence: noface show {issue.id}"],
    }


def _on_forge(verb: str, followed: Followed) -> str:
    """Return the command of GitHub's own program that shows or reopens a pull request."""
    return f"gh pr {verb} {shlex.quote(followed.url or str(followed.number))}"


def _leave(issue: Issue) -> tuple[Option, ...]:
    """Return how an issue is given up where it was written."""
    if issue.source.startswith("https://"):
        return (Option("no: close the issue", f"gh issue close {shlex.quote(issue.source)}"),)
    return (Option("no: change the issue, or remove it", edit_command(issue)),) * bool(issue.source)
