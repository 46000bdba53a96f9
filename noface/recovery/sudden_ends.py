"""Attempts that end at once with an error that is not understood, or with nothing done, or have no answer. Pure.

Where several issues end so with the same words, no work is to blame, but the program or what it speaks to: nobody is
charged (law 8). Another model works meanwhile, or one that has worked here is waited for; of one that never has a
person is asked.
"""

from collections.abc import Iterable
from dataclasses import replace

from noface.diagnosis.text import signature_of
from noface.model.failure import UNANSWERED, UNCHANGED, Failure
from noface.model.taxonomy import INTERRUPTED, FailureKind
from noface.model.worker_run import AgentRun, EndedBy

SUDDEN_S = 120.0
"""The programs themselves try a provider again for so long (docs/facts.md, Agents' settings)."""
ISSUES_MIN = 2
IDLE_ISSUES_MIN = 3
"""The same for ends without an error: that there is nothing to do may be true of two issues, in the same words."""
ENDS_AT_ONCE = "ends-at-once"
"""The rule of an attempt that ended as those of other issues did."""
NEVER_WORKED = "never-worked"
"""The rule of the same by a model that has never done anything here."""

SEVERAL_ISSUES = (ENDS_AT_ONCE, NEVER_WORKED)

_TRY_IT = (
    "this model has never worked here: try its command by hand; what it misses in the sandbox alone, `show` or `write`"
    " of [sandbox] opens"
)

SuddenEnd = tuple[str, str]
"""An attempt that ended at once: of which issue, and in which words, without what changes by itself."""


def sudden_end(issue_id: str, run: AgentRun, failure: Failure | None, *, worked: bool) -> SuddenEnd | None:
    """Return the end of a run that changed nothing, if it came at once; `worked`: the model has worked here."""
    words = words_of(failure) if failure is not None and failure.charged else ""
    if failure is None or not words or run.usage.tokens or (worked and failure.kind is FailureKind.NO_DIFF):
        return None
    if words == UNANSWERED:
        return issue_id, words
    if run.seconds > SUDDEN_S or run.ended_by is not EndedBy.ITSELF or run.signal is not None:
        return None
    return issue_id, words


def words_of(failure: Failure) -> str:
    """Return in which words an attempt ended that nobody understands, or that did nothing; "" for any other."""
    if failure.rule == UNANSWERED:
        return UNANSWERED
    if failure.kind is FailureKind.AGENT_CRASH or failure.rule == UNCHANGED:
        crashed = failure.kind is FailureKind.AGENT_CRASH and failure.evidence
        last_line = failure.evidence[-1] if crashed else failure.message
        return f"{failure.rule}:{signature_of(failure.kind, last_line, ())}"
    return ""


def row_with(row: tuple[SuddenEnd, ...], end: SuddenEnd | None) -> tuple[SuddenEnd, ...]:
    """Return a model's row of sudden ends after one more attempt: any other end, or other words, begin it anew."""
    if end is None:
        return ()
    return (*row, end) if all(words == end[1] for _, words in row) else (end,)


def not_the_work(row: tuple[SuddenEnd, ...]) -> bool:
    """True if a row is of so many issues that no work explains it."""
    idle = bool(row) and row[-1][1].startswith(f"{UNCHANGED}:")
    return len(dict(row)) >= (IDLE_ISSUES_MIN if idle else ISSUES_MIN)


def to_be_compared(row: tuple[SuddenEnd, ...]) -> frozenset[str]:
    """Return the issues that come after the others: how another one ends will tell what their end says."""
    return frozenset(dict(row)) if not not_the_work(row) else frozenset()


def has_worked(outcomes: Iterable[str]) -> bool:
    """True if one of a model's attempts was finished, and failed of its work at most."""
    nothing = {FailureKind.AGENT_CRASH, FailureKind.NO_DIFF, INTERRUPTED}
    nothing |= {kind for kind in FailureKind if kind.category.external}
    return any(outcome not in nothing for outcome in outcomes)


def as_of_the_model(failure: Failure, row: tuple[SuddenEnd, ...], other: str | None, *, worked: bool) -> Failure:
    """Return the failure of one of a row as that of its model; `other` is a model that can take its place."""
    message = f"{len(row)} attempts at {len(dict(row))} issues ended alike, with nothing done: {failure.message}"
    kind, rule = FailureKind.MISCONFIGURED, ENDS_AT_ONCE
    if not worked:
        rule, message = NEVER_WORKED, f"{message}; {_TRY_IT}"
    elif other is None:
        kind = FailureKind.NETWORK
    return replace(failure, kind=kind, rule=rule, message=message, charged=False)
