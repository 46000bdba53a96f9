"""Attempts that end at once with an error that is not understood. Pure.

One says nothing. Where the attempts of several issues end so one after the other, with the same words and nothing used
or changed, no prompt and no work is to blame, but the program or what it speaks to, in whatever words it tells that:
nobody is charged (law 8). Another model works meanwhile where there is one; else the model is waited for.
"""

from dataclasses import replace

from noface.diagnosis.text import signature_of
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import AgentRun, EndedBy

SUDDEN_S = 120.0
"""The programs themselves try a provider again for so long (docs/facts.md, Agents' settings)."""
IN_A_ROW = 3
ISSUES_MIN = 2
ENDS_AT_ONCE = "ends-at-once"
"""The rule of an attempt that ended as those of other issues did."""


SuddenEnd = tuple[str, str]
"""An attempt that ended at once: of which issue, and in which words, without what changes by itself."""


def sudden_end(issue_id: str, run: AgentRun, failure: Failure | None) -> SuddenEnd | None:
    """Return the end of a run that changed nothing, if it came at once and its error is not understood."""
    if failure is None or failure.kind is not FailureKind.AGENT_CRASH or not failure.charged or run.usage.tokens:
        return None
    if run.seconds > SUDDEN_S or run.ended_by is not EndedBy.ITSELF or run.signal is not None:
        return None
    last = failure.evidence[-1] if failure.evidence else failure.message
    return issue_id, f"{failure.rule}:{signature_of(failure.kind, last, ())}"


def row_with(row: tuple[SuddenEnd, ...], end: SuddenEnd | None) -> tuple[SuddenEnd, ...]:
    """Return a model's row of sudden ends after one more attempt: any other end, or other words, begin it anew."""
    if end is None:
        return ()
    return (*row, end) if all(words == end[1] for _, words in row) else (end,)


def not_the_work(row: tuple[SuddenEnd, ...]) -> bool:
    """Tell whether a row is so long, and of so many issues, that no work explains it."""
    return len(row) >= IN_A_ROW and len(dict(row)) >= ISSUES_MIN


def as_of_the_model(failure: Failure, row: tuple[SuddenEnd, ...], other: str | None) -> Failure:
    """Return the failure of the newest of a row as that of its model; `other` is a model that can take its place."""
    alike = f"{len(row)} attempts at {len(dict(row))} issues ended alike, with nothing done"
    kind = FailureKind.NETWORK if other is None else FailureKind.MISCONFIGURED
    return replace(failure, kind=kind, rule=ENDS_AT_ONCE, message=f"{alike}: {failure.message}", charged=False)
