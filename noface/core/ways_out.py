"""What a person can do about an issue that waits for them: each option with the command that carries it out (N14)."""

import shlex
from dataclasses import dataclass

from noface.core.actions import ApprovalKind
from noface.core.history import History
from noface.core.issue import Issue
from noface.core.taxonomy import Category, FailureKind

_MORE_ATTEMPTS = 3
_NOTE = '--note "…"'


@dataclass(frozen=True, slots=True)
class Way:
    """An option in a person's words, and the command that takes it."""

    option: str
    command: str


def ways_of_blocked(issue: Issue, kind: FailureKind, history: History, branch: str) -> tuple[Way, ...]:
    """Return what can be done about a blocked issue, what fits its kind first."""
    ways = [*_for_kind(issue, kind), _answer(issue)]
    strongest = max(history.attempts, key=lambda attempt: (attempt.tier, attempt.number), default=None)
    if strongest is not None and kind.category is not Category.TRANSIENT:
        command = f"noface unblock {issue.id} --model {shlex.quote(strongest.model)} --attempts {_MORE_ATTEMPTS}"
        ways.append(
            Way(f"give it {_MORE_ATTEMPTS} more attempts with {strongest.model}, or name a stronger model", command)
        )
    if issue.source and kind is not FailureKind.BOUNDARY_VIOLATION:
        ways.append(Way("change what it asks for, or divide it; that lifts the block", _edit(issue)))
    if all(way.command != _retry(issue) for way in ways):
        ways.append(Way("try it again as it is, after you have changed something else", _retry(issue)))
    if branch:
        ways.append(Way("take the work over by hand", f"git switch --create by-hand-{issue.id} {shlex.quote(branch)}"))
    return tuple(ways)


def ways_of_approval(issue: Issue, wants: ApprovalKind, branch: str) -> tuple[Way, ...]:
    """Return what can be said to an issue that waits for approval."""
    approve, reject = f"noface approve {issue.id}", f"noface reject {issue.id} {_NOTE}"
    look = (Way("look at the work first", f"git diff ...{shlex.quote(branch)}"),) if branch else ()
    return (*look, *_answers(wants, approve, reject))


def _answers(wants: ApprovalKind, approve: str, reject: str) -> tuple[Way, Way]:
    match wants:
        case ApprovalKind.LANDING:
            return Way("let it land", approve), Way("turn it down and say why; the next worker is told", reject)
        case ApprovalKind.PATHS:
            return Way("allow these paths as well", approve), Way("refuse, and say how to do without", reject)
        case ApprovalKind.CONTRACT:
            yes = Way("it is wrong: the change of the tests may land, if the gates pass", f"{approve} {_NOTE}")
            return yes, Way("it is right, and stays: say so", reject)
        case ApprovalKind.GOING_ON:
            return Way("go on with it", approve), Way("say what should be done instead", reject)


def _for_kind(issue: Issue, kind: FailureKind) -> list[Way]:
    match kind.category:
        case Category.ENVIRONMENT:
            return [Way("mend the cause; the next run lifts this by itself", "noface run")]
        case Category.TRANSIENT:
            wait = Way("wait for the provider; the next run lifts this by itself", "noface run")
            return [wait, Way("go on with another model of noface.toml", f"noface unblock {issue.id} --model NAME")]
        case Category.BOUNDARY if kind is FailureKind.GATE_TAMPERING:
            return [Way("the test is wrong: correct it on main yourself, then go on", _retry(issue))]
        case Category.BOUNDARY if issue.source:
            return [Way("yes: add what it needs to its `paths`; that lifts the block", _edit(issue))]
        case _:
            return []


def _answer(issue: Issue) -> Way:
    return Way("answer, or say what the workers could not know", f"noface unblock {issue.id} {_NOTE}")


def _edit(issue: Issue) -> str:
    return f"$EDITOR {shlex.quote(issue.source)}"


def _retry(issue: Issue) -> str:
    return f"noface retry {issue.id}"
