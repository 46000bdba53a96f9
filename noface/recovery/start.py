"""Decides where the next attempt starts. Pure: `engine/start_commits` makes the commit, the prompt says what and why.

The rules, in order; the first that applies wins.

0. The attempt that a person has named since the last one.
1. Attempts from before a breakdown do not count: their work was divided, and its parts land by themselves. Neither do
   those from before the commits that a person gave to noface, and up to what a person took back from main.
2. The newest attempts were cut off by something other than their worker (noface was stopped, a limit or an outage of
   the provider, a broken machine or main): the newest of them that left a change, as it was left.
3. The newest attempt that was judged conflicts with main: that attempt, but for the files in conflict.
4. A file of the newest attempt does not parse: that attempt, with the file there to mend. Not twice in a row where
   better work is there.
5. The best attempt so far that is a base: its files parse, it kept to its limits and weakened no test, and, where the
   issue's `accept` says how main does, no more tests fail with it than on main. If the newest has all its files and was
   ended at a limit, or crashed, before anybody judged it, that one: what it wrote is not thrown away.
   But main, begun anew, once two attempts in a row have gone on from it and found nothing to change.
6. Otherwise the newest attempt, with what is wrong in it named: files that do not parse and tests that fail are there
   to mend, and what weakened a check or lay out of bounds is as on main. Work with which more tests fail than on main
   is gone on with once; the second time in a row its cause is not where the worker looks.
7. Commits that a person gave to noface.
8. Main. After a breakdown it has what the parts that failed had done, and the first attempt at a part begins with what
   the whole issue's best attempt did in its paths (`engine/start_commits`).

What turns out to conflict with main loses the files in conflict; what is gone from the repository is no base.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from noface.integrity.prose import ONLY_PROSE
from noface.model.attempt import PastAttempt, failure_of
from noface.model.failure import CHANGED_FILES, TAKEN_BACK, UNCHANGED
from noface.model.patterns import matches_any
from noface.model.start import NOTHING_YET, StartPoint, StartReason
from noface.model.taxonomy import INTERRUPTED, PASSED, Category, FailureKind

_NOTHING_OF_ITS_OWN = (FailureKind.NO_DIFF, INTERRUPTED)
_WRONG_IN_PLACES = {
    FailureKind.GATE_TAMPERING.value: StartReason.TAMPERED,
    FailureKind.BOUNDARY_VIOLATION.value: StartReason.OUT_OF_BOUNDS,
}
_ALONE_MIN = 2
_SAID_BY_WORKER = "report-"
_LIFTED_BY_PATHS = ("outside-paths", "submodule")
"""The rules of what may land once the issue names its path."""
_ALL_PARSE: Mapping[int, int] = MappingProxyType({})


def start_of(
    attempts: tuple[PastAttempt, ...],
    *,
    accept_failing: int | None = None,
    divided: int = 0,
    by_person: tuple[int, str] | None = None,
    broken: Mapping[int, int] = _ALL_PARSE,
    allowed: tuple[str, ...] = (),
    anew: bool = False,
    chosen: PastAttempt | None = None,
) -> StartPoint:
    """Return where the attempt after `attempts` starts; `anew`: it may begin again on main, and lose nothing of others.

    `accept_failing` tests of `accept` fail on main, None without one. `divided` is the last attempt before a breakdown,
    `by_person` the last before a person's commits, with the newest of these. `broken` counts files that do not parse.
    `chosen` is the one that a person named.
    """
    if chosen is not None:
        return StartPoint(StartReason.CHOSEN, chosen.number, chosen.candidate)
    back = max((each.number for each in attempts if failure_of(each).rule == TAKEN_BACK), default=0)
    after = max(divided, back, by_person[0] if by_person is not None else 0)
    recent = tuple(attempt for attempt in attempts if attempt.number > after)
    left_off = next((attempt for attempt in cut_off(recent) if left_work(attempt)), None)
    if left_off is not None:
        return StartPoint(StartReason.CUT_OFF, left_off.number, left_off.candidate)
    left = tuple(filter(_worked, recent))
    if left and _conflicts(left[-1]):
        return StartPoint(StartReason.CONFLICT, left[-1].number, left[-1].candidate, conflicts_of(left[-1]))
    if left and _does_not_parse(left[-1]) and not any(map(_does_not_parse, left[-2:-1])):
        return StartPoint(StartReason.UNPARSED, left[-1].number, left[-1].candidate)
    best = best_attempt(left, accept_failing=accept_failing, broken=broken)
    if best is not None:
        best = left[-1] if _goes_on_from(best, left, broken) else best
        if anew and _left_alone(recent, best):
            return StartPoint(StartReason.LEFT_ALONE, best.number)
        return StartPoint(StartReason.BEST_SO_FAR, best.number, best.candidate)
    other = _to_mend(left, accept_failing, broken, allowed) if left else None
    if other is not None and other.commit is not None:
        return other
    if by_person is not None and by_person[0] >= max(divided, back):
        return StartPoint(StartReason.BY_PERSON, by_person[0], by_person[1])
    if other is not None:
        return other
    return StartPoint(StartReason.DIVIDED, divided) if divided else NOTHING_YET


def _left_alone(recent: tuple[PastAttempt, ...], best: PastAttempt) -> bool:
    newest = tuple(attempt for attempt in recent if attempt.number > best.number)[-_ALONE_MIN:]
    idle = [each for each in newest if each.charged and each.failure is not None and each.failure.rule == UNCHANGED]
    return len(idle) == _ALONE_MIN


def _goes_on_from(best: PastAttempt, left: tuple[PastAttempt, ...], broken: Mapping[int, int]) -> bool:
    """True if the newest attempt holds all of the best, and more that a limit or a crash left unjudged."""
    newest, failure = left[-1], failure_of(left[-1])
    ended = failure.category is Category.COMPLEXITY or failure.kind is FailureKind.AGENT_CRASH
    at_limit = ended and failure.gate is None
    unparsed = all(_broken(attempt, broken) for attempt in left[-2:])
    held = bool(newest.changed) and set(best.changed) <= set(newest.changed)
    return at_limit and newest.failing_tests is None and held and not unparsed


def from_main(start: StartPoint, why: StartReason) -> StartPoint:
    return replace(start, reason=why, commit=None, without=())


def best_attempt(
    attempts: tuple[PastAttempt, ...], *, accept_failing: int | None = None, broken: Mapping[int, int] = _ALL_PARSE
) -> PastAttempt | None:
    bases = (attempt for attempt in filter(_worked, attempts) if _objection(attempt, accept_failing, broken) is None)
    return max(bases, key=lambda base: _score(base, broken), default=None)


def best_left(attempts: tuple[PastAttempt, ...], broken: Mapping[int, int] = _ALL_PARSE) -> PastAttempt | None:
    """Return what a person is shown as the best work: like `best_attempt`, but with flaws rather than nothing."""

    def merit(attempt: PastAttempt) -> tuple[int, ...]:
        sound = attempt.outcome != INTERRUPTED and _objection(attempt, None, broken) is None
        return sound, *_score(attempt, broken)

    return max(filter(left_work, attempts), key=merit, default=None)


def _score(attempt: PastAttempt, broken: Mapping[int, int]) -> tuple[int, ...]:
    judged = attempt.failing_tests is not None
    parsed, tests = -_broken(attempt, broken), -(attempt.failing_tests or 0)
    return attempt.outcome == PASSED, judged, parsed, attempt.gates_passed, tests, attempt.number


def left_work(attempt: PastAttempt) -> bool:
    return attempt.candidate is not None and bool(attempt.patch_hash)


def _worked(attempt: PastAttempt) -> bool:
    notes = failure_of(attempt).rule == ONLY_PROSE
    return left_work(attempt) and attempt.outcome not in _NOTHING_OF_ITS_OWN and not notes


def cut_off(attempts: tuple[PastAttempt, ...]) -> Iterator[PastAttempt]:
    """Yield the attempts at the end that something other than their worker ended, the newest first."""
    for attempt in reversed(attempts):
        external = attempt.failure is not None and attempt.failure.category.external and not attempt.charged
        if attempt.outcome != INTERRUPTED and not external:
            return
        yield attempt


def _conflicts(attempt: PastAttempt) -> bool:
    return attempt.outcome == FailureKind.MERGE_CONFLICT and failure_of(attempt).rule != CHANGED_FILES


def _does_not_parse(attempt: PastAttempt) -> bool:
    return attempt.outcome == FailureKind.SYNTAX_ERROR and attempt.failure is not None and attempt.failure.gate is None


def _broken(attempt: PastAttempt, broken: Mapping[int, int]) -> int:
    return broken.get(attempt.number, 0) or _does_not_parse(attempt)


def _objection(attempt: PastAttempt, accept_failing: int | None, broken: Mapping[int, int]) -> StartReason | None:
    """Return why an attempt that left work is no base, None if it is one."""
    if _conflicts(attempt):
        return StartReason.CONFLICT
    if (refused := refused_in_places(attempt)) is not None:
        return refused
    if _broken(attempt, broken):
        return StartReason.UNPARSED
    worse = accept_failing is not None and (attempt.failing_tests or 0) > accept_failing
    return StartReason.WORSE_THAN_MAIN if worse else None


def refused_in_places(attempt: PastAttempt) -> StartReason | None:
    """Return why an attempt may not land because of what it changed; a worker's own report is of what it did not."""
    by_worker = failure_of(attempt).rule.startswith(_SAID_BY_WORKER)
    return None if by_worker else _WRONG_IN_PLACES.get(attempt.outcome)


def _to_mend(
    left: tuple[PastAttempt, ...], accept_failing: int | None, broken: Mapping[int, int], allowed: tuple[str, ...]
) -> StartPoint | None:
    """Return the start with work that is no base as it is; without a commit if nothing of it can be kept."""
    newest = left[-1]
    match _objection(newest, accept_failing, broken):
        case None:
            return None
        case StartReason.UNPARSED:
            tried = [a for a in left if _objection(a, accept_failing, broken) is StartReason.UNPARSED]
            best = max(tried, key=lambda a: _score(a, broken))
            return StartPoint(StartReason.UNPARSED, best.number, best.candidate)
        case StartReason.WORSE_THAN_MAIN as why:
            again = any(_objection(a, accept_failing, broken) is why for a in left[-2:-1])
            return StartPoint(why, newest.number, None if again else newest.candidate)
        case why:
            named = wrong_files(newest)
            late = allowed if failure_of(newest).rule in _LIFTED_BY_PATHS else ()
            wrong = tuple(path for path in named if not matches_any(path, late))
            if named and not wrong:
                return StartPoint(StartReason.BEST_SO_FAR, newest.number, newest.candidate)
            kept = newest.candidate if wrong and set(wrong) < set(newest.changed) else None
            return StartPoint(why, newest.number, kept, wrong if kept else ())


def conflicts_of(attempt: PastAttempt) -> tuple[str, ...]:
    return attempt.failure.evidence if attempt.failure is not None and _conflicts(attempt) else ()


def wrong_files(attempt: PastAttempt) -> tuple[str, ...]:
    """Return the files of an attempt that its failure speaks of, and those in a folder that its evidence names."""
    failure = attempt.failure
    if failure is None:
        return ()
    text = "\n".join((*failure.evidence, failure.location or "", failure.signature))
    folders = tuple(f"{name}/" for name in failure.evidence)
    named = {path: rf"(?<![\w./-]){re.escape(path)}(?![\w/-]|\.\w)" for path in attempt.changed}
    return tuple(path for path in attempt.changed if re.search(named[path], text) or path.startswith(folders))
