"""What a person is asked for another cause than the work itself: a branch, a pull request, a command, a yes or a no.

data/requests.toml has the words, recovery/blocked what is told of the issue beside them.
"""

import shlex
from dataclasses import replace

from noface.integrity.accepting import OUT_OF_REACH
from noface.model.actions import Block
from noface.model.failure import Failure
from noface.model.history import History
from noface.model.issue import Issue
from noface.model.quoting import quoted, some
from noface.model.request import PersonRequest, RequestKind
from noface.model.scratch import BranchTaken
from noface.model.taxonomy import FailureKind
from noface.recovery.blocked import block_request
from noface.recovery.options import Configured, asks
from noface.recovery.pull_rounds import ClosedUnmerged, Followed, RoundDue, TakenByPerson
from noface.recovery.review_words import first_words

_NAMES_MAX = 4
_ASKED_CHARS_MAX = 400
_ERRORS_SHOWN = 3


def branch_request(issue: Issue, history: History, why: BranchTaken) -> PersonRequest:
    request = block_request(issue, Block(FailureKind.MERGE_CONFLICT, why.reason), history, "")
    facts = {"branch": why.branch, "place": why.place, "remote": why.remote}
    return asks(replace(request, failing=None), why.kind, issue, facts)


def closed_request(
    closed: ClosedUnmerged, issue: Issue, followed: Followed, history: History, configured: Configured
) -> PersonRequest:
    request = block_request(issue, Block(FailureKind.REVIEW_REJECTED, closed.reason), history, "", configured)
    on_forge = issue.source.startswith("https://")
    facts = _of_pull(followed) | {"who": closed.by or "Somebody", "page": shlex.quote(issue.source) if on_forge else ""}
    return asks(request, RequestKind.PULL_CLOSED, issue, facts | ({"edit": ""} if on_forge else {}))


def taken_pull_request(
    taken: TakenByPerson, issue: Issue, followed: Followed, history: History, configured: Configured
) -> PersonRequest:
    request = block_request(issue, Block(FailureKind.REVIEW_REJECTED, taken.reason), history, "", configured)
    return asks(request, RequestKind.PULL_TAKEN, issue, _of_pull(followed) | {"head": taken.head[:12]})


def rounds_request(
    due: RoundDue, kind: FailureKind, issue: Issue, followed: Followed, history: History, configured: Configured
) -> PersonRequest:
    """Return what is asked if the rounds are used up: what is still wanted, with links."""
    asked = [f"{check.name} is red ({check.url})" if check.url else f"{check.name} is red" for check in due.checks]
    asked += [
        f"{review.author} says {quoted(first_words((review,)))}{f' ({review.url})' if review.url else ''}"
        for review in due.reviews
    ]
    request = block_request(issue, Block(kind, due.reason), history, "", configured)
    facts = _of_pull(followed) | {"asked": some(tuple(asked), _NAMES_MAX, _ASKED_CHARS_MAX)}
    return asks(request, RequestKind.PULL_ROUNDS, issue, facts)


def not_on_main_request(issue: Issue, why: str, history: History, commit: str, bring: str) -> PersonRequest:
    """Return what is asked of an issue whose landing `commit` main does not hold; the command `bring` mends that."""
    request = block_request(issue, Block(FailureKind.REVIEW_REJECTED, why), history, "")
    facts = {"why": why, "commit": commit[:12], "bring": bring}
    return asks(replace(request, summary=why, failing=None), RequestKind.NOT_ON_MAIN, issue, facts)


def _of_pull(followed: Followed) -> dict[str, object]:
    pull = shlex.quote(followed.url or str(followed.number))
    return {"number": followed.number, "url": followed.url, "branch": followed.branch, "pull": pull}


def accept_request(issue: Issue, failure: Failure, commit: tuple[str, ...]) -> PersonRequest:
    """Return what is asked of an issue whose `accept` cannot be run on main; `commit` are the commands that mend it."""
    cannot = "" if commit or failure.rule == OUT_OF_REACH else "its accept command cannot be run: "
    request = PersonRequest(
        kind=failure.kind.value,
        summary=f"{failure.kind}: {cannot}{failure.message}",
        errors=(failure.message, *(() if commit else failure.evidence[-_ERRORS_SHOWN:])),
    )
    kind = RequestKind.ACCEPT_UNCOMMITTED if commit else RequestKind.ACCEPT_UNRUNNABLE
    return asks(request, kind, issue, {"source": issue.source, "commit": " && ".join(commit)})
