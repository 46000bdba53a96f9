"""Decides where the next attempt starts. Pure: `engine/orders` makes the commit, the prompt says what was decided.

The rules, in order; the first that applies wins.

1. Attempts from before a breakdown do not count: their work was divided, and its parts land by themselves. Neither do
   those from before the commits that a person gave to noface.
2. The newest attempts were cut off by something other than their worker (noface was stopped, a limit or an outage of
   the provider, a broken machine or main): the newest of them that left a change, as it was left.
3. The newest attempt that was judged conflicts with main: main.
4. The best attempt so far that is a base: its files parse, it kept to its limits and weakened no test, and, where the
   issue's `accept` says how main does, no more tests fail with it than on main. Work that nobody could judge is a base
   only where nothing better is there and nothing is known of main.
5. Commits that a person gave to noface.
6. Main.

What turns out to conflict with main, or to be gone from the repository, is no base: then it is main.
"""

from collections.abc import Iterator
from dataclasses import replace

from noface.model.attempt import PastAttempt
from noface.model.start import StartPoint, StartReason
from noface.model.taxonomy import INTERRUPTED, FailureKind

_NOTHING_OF_ITS_OWN = (FailureKind.NO_DIFF, INTERRUPTED)
_NO_BASE = {
    FailureKind.GATE_TAMPERING.value: StartReason.TAMPERED,
    FailureKind.BOUNDARY_VIOLATION.value: StartReason.OUT_OF_BOUNDS,
}


def start_of(
    attempts: tuple[PastAttempt, ...],
    *,
    accept_failing: int | None = None,
    divided: int = 0,
    by_person: tuple[int, str] | None = None,
) -> StartPoint:
    """Return where the attempt after `attempts` starts.

    `accept_failing` is how many tests of the issue's `accept` commands fail on main, None where it has none. `divided`
    is the last attempt before a breakdown, `by_person` the last before a person's commits, with the newest of these.
    """
    after = max(divided, by_person[0] if by_person is not None else 0)
    recent = tuple(attempt for attempt in attempts if attempt.number > after)
    left_off = next((attempt for attempt in cut_off(recent) if left_work(attempt)), None)
    if left_off is not None:
        return StartPoint(StartReason.CUT_OFF, left_off.number, left_off.candidate)
    left = tuple(a for a in recent if left_work(a) and a.outcome not in _NOTHING_OF_ITS_OWN)
    if left and _conflicts(left[-1]):
        return StartPoint(StartReason.CONFLICT, left[-1].number)
    best = best_attempt(left, accept_failing=accept_failing)
    if best is not None:
        return StartPoint(StartReason.BEST_SO_FAR, best.number, best.candidate)
    if by_person is not None and by_person[0] >= divided:
        return StartPoint(StartReason.BY_PERSON, by_person[0], by_person[1])
    why_not = _objection(left[-1], accept_failing) if left else None
    if why_not is not None:
        return StartPoint(why_not, left[-1].number)
    return StartPoint(StartReason.DIVIDED, divided) if divided else StartPoint(StartReason.NOTHING_YET)


def from_main(start: StartPoint, why: StartReason) -> StartPoint:
    """Return the start where the base turns out to conflict with main (CONFLICT) or to be gone (GONE)."""
    return replace(start, reason=why, commit=None)


def best_attempt(attempts: tuple[PastAttempt, ...], *, accept_failing: int | None) -> PastAttempt | None:
    """Return the best of the attempts that are a base, the newest of equally good ones; None where none is one."""
    left = (a for a in attempts if left_work(a) and a.outcome not in _NOTHING_OF_ITS_OWN)
    bases = (attempt for attempt in left if _objection(attempt, accept_failing) is None)
    return max(bases, key=_score, default=None)


def _score(attempt: PastAttempt) -> tuple[bool, int, int, int]:
    judged = attempt.failing_tests is not None
    return judged, attempt.gates_passed, -(attempt.failing_tests or 0), attempt.number


def left_work(attempt: PastAttempt) -> bool:
    """Tell whether an attempt left a change."""
    return attempt.candidate is not None and bool(attempt.patch_hash)


def cut_off(attempts: tuple[PastAttempt, ...]) -> Iterator[PastAttempt]:
    """Yield the attempts at the end that something other than their worker ended, the newest first."""
    for attempt in reversed(attempts):
        external = attempt.failure is not None and attempt.failure.category.external and not attempt.charged
        if attempt.outcome != INTERRUPTED and not external:
            return
        yield attempt


def _conflicts(attempt: PastAttempt) -> bool:
    """Tell whether git could not merge an attempt with main. What only a gate changed after the merge is merged."""
    rule = attempt.failure.rule if attempt.failure is not None else ""
    return attempt.outcome == FailureKind.MERGE_CONFLICT and rule != "gate-changed-files"


def _objection(attempt: PastAttempt, accept_failing: int | None) -> StartReason | None:
    """Return why an attempt that left work is no base, None where it is one."""
    known = StartReason.CONFLICT if _conflicts(attempt) else _NO_BASE.get(attempt.outcome)
    if known is not None:
        return known
    if attempt.outcome == FailureKind.SYNTAX_ERROR and attempt.failure is not None and attempt.failure.gate is None:
        return StartReason.UNPARSED  # what a compiler says of files that parse leaves them a base
    if accept_failing is None:
        return None
    if attempt.failing_tests is None:
        return StartReason.NOT_JUDGED
    return StartReason.WORSE_THAN_MAIN if attempt.failing_tests > accept_failing else None
