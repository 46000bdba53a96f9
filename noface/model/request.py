"""What a person is asked of an issue that waits for them, from its cause to page, JSON, comment and verbs (N13, L10).

Rows keep it as JSON by the names of its fields.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from noface.model.description import OneOf

_KIND = "noface.model.taxonomy.FailureKind"
_NONE: dict[str, int] = {}


class RequestKind(StrEnum):
    """What else than a failure may keep an issue waiting for a person, in words of data/requests.toml."""

    LIMIT = "limit"
    GATE = "gate"
    BRANCH_CHECKED_OUT = "branch-checked-out"
    BRANCH_COMMITTED = "branch-committed"
    BRANCH_ON_REMOTE = "branch-on-remote"
    PULL_CLOSED = "pull-closed"
    PULL_TAKEN = "pull-taken"
    PULL_ROUNDS = "pull-rounds"
    ACCEPT_UNCOMMITTED = "accept-uncommitted"
    ACCEPT_UNRUNNABLE = "accept-unrunnable"
    CHANGED_TESTS = "changed-tests"
    NOT_ON_MAIN = "not-on-main"


Option = tuple[str, str]
"""What can be done about an issue, in a person's words, and the command that does it."""


class GivenUp(NamedTuple):
    """What recovery did before it gave up; null where it never began."""

    id: Annotated[str, "The issue's id."] = ""
    title: Annotated[str, "The issue's title."] = ""
    status: Annotated[str, OneOf(("failed",)), "What became of it."] = "failed"
    failure_kind: Annotated[str, OneOf(_KIND), "What it ended with."] = "UNKNOWN"
    failure_reason: Annotated[str, "Why noface gave up."] = ""
    attempts_made: Annotated[int, "How many attempts were made."] = 0
    attempts_charged: Annotated[int, "How many of them count against its limit."] = 0
    last_error: Annotated[str | None, "What went wrong last."] = None
    recovery_attempted: Annotated[tuple[dict[str, str], ...], "What was tried, oldest first: strategy and result."] = ()
    recommendation: Annotated[str, "What a person could do."] = ""
    attempts_by_model: Annotated[dict[str, Annotated[int, "How many."]], "How many attempts each model made."] = _NONE
    questions_by_model: Annotated[dict[str, Annotated[int, "How many."]], "How many questions each was asked."] = _NONE
    cost_usd: Annotated[float | None, "Dollars; null where nobody said."] = None
    subtask_failures: Annotated[
        tuple[dict[str, Any], ...], "For each part that failed its request, error, depth and partial output."
    ] = ()


class Failing(NamedTuple):
    """What a gate has found on its newest work; null where no gate failed."""

    attempt: Annotated[int, "The attempt."] = 0
    kind: Annotated[str, OneOf(_KIND), "Why it failed."] = "UNKNOWN"
    gate: Annotated[str, "The gate."] = ""
    command: Annotated[str, "Its command; empty where that is not known."] = ""
    tests: Annotated[tuple[str, ...], "The tests that fail, the first thirty."] = ()
    more_tests: Annotated[int, "How many more fail."] = 0
    message: Annotated[str, "What went wrong."] = ""
    location: Annotated[str | None, "Where."] = None
    lines: Annotated[tuple[str, ...], "The lines that decided."] = ()


@dataclass(frozen=True, kw_only=True)
class PersonRequest:
    """What a person is asked, and what is told with it. `task` is the heading for issues that need the same.

    `agent` is the program of `model`, `limit` the key of [retry] whose money is spent. The issue's row has the branch.
    """

    kind: Annotated[str, OneOf(_KIND, ("PASSED",)), "What its last attempt ended with."] = "UNKNOWN"
    task: str = ""
    limit: str = ""
    agent: str = ""
    model: Annotated[str, "The entry of [models] of its last attempt; empty without one."] = ""
    summary: Annotated[str, "What happened, in a sentence or two."] = ""
    question: Annotated[str, "What a person is asked."] = ""
    tried: Annotated[
        tuple[str, ...], "What was tried, oldest first; what ended alike in a row stands in one line."
    ] = ()
    failing: Annotated[Failing | None, "What a gate has found on its newest work; null where no gate failed."] = None
    errors: Annotated[tuple[str, ...], "What went wrong, each thing once, the newest last."] = ()
    unclear: Annotated[tuple[str, ...], "What workers asked or missed."] = ()
    next_steps: Annotated[tuple[str, ...], "What to do first."] = ()
    questions: Annotated[tuple[str, ...], "What workers asked."] = ()
    options: Annotated[tuple[str, ...], "What a person can do."] = ()
    commands: Annotated[tuple[str, ...], "The command for each of `options`."] = ()
    parts_failed: Annotated[str, "What became of its parts that could not be done; may be empty."] = ""
    report: Annotated[GivenUp | None, "What recovery did before it gave up; null where it never began."] = None
    wants: Annotated[
        str, OneOf("noface.model.actions.ApprovalKind", ("",)), "What is to be approved; empty where nothing is."
    ] = ""
    attempt: Annotated[int, "The attempt that is to be approved; 0 where there is none."] = 0
    branch: Annotated[str | None, "The branch with its work."] = None
    paths: Annotated[tuple[str, ...], "The paths that it would be allowed to change as well."] = ()
    changed: Annotated[tuple[str, ...], "The paths that the attempt changed, the first hundred."] = ()
    changed_files: Annotated[int, "How many files it changed."] = 0
    changed_lines: Annotated[int, "How many lines it added and deleted."] = 0


NOTHING_ASKED = PersonRequest()
