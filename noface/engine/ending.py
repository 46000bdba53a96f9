"""Why a run is to end, and what is said of it once it has."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from noface.attempt.disk import disk_full_error, why_ended
from noface.engine.context import RunContext
from noface.engine.stations import Patience
from noface.errors import EXIT_ATTENTION, EXIT_DONE, EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_LIMIT
from noface.model.failure import DISK_FULL, DISK_SEEMS_FULL, Failure
from noface.model.issue import Issue
from noface.model.quoting import some
from noface.model.taxonomy import IssueStatus
from noface.recovery.policy_state import OUTSIDE_REPEATS_MAX, outside_failures
from noface.store.reader import Reader
from noface.store.records import IssueRow

_NAMED_MAX = 10


@dataclass(frozen=True, slots=True)
class RunResult:
    """The exit code of a run, and why it ended."""

    exit_code: int
    why: str


@dataclass(slots=True, eq=False)
class Ending:
    """Why a run is to end, if it is: a person wants it (`drain_until`: what is judged may end), a limit, a fault."""

    drain_until: float | None = None
    limit: str = ""
    broken: BaseException | None = None

    @property
    def stopping(self) -> bool:
        return self.drain_until is not None

    def reached(self, limit: str) -> None:
        self.limit = self.limit or limit


def run_result(
    context: RunContext,
    ending: Ending,
    *,
    work_left: bool,
    faulty: bool,
    once: str = "",
    withdrawn: Collection[str] = (),
    refused: str = "",
    unread: Patience | None = None,
) -> RunResult:
    """Say how the run ended. `withdrawn` are issues that people have deleted, moved or closed meanwhile."""
    if ending.broken is not None:
        return RunResult(EXIT_FAILURE, why_ended(ending.broken))
    if ending.stopping:
        return RunResult(EXIT_INTERRUPTED, "interrupted; `noface run` goes on where it was")
    if refused:
        return RunResult(EXIT_ATTENTION, f"stopped: {refused}")
    if ending.limit and work_left:
        return RunResult(EXIT_ATTENTION if context.unreachable else EXIT_LIMIT, ending.limit)
    if unread is not None:
        why = f"what is new at GitHub was not looked at: {unread.reason}; `noface run` tries again"
        return RunResult(EXIT_LIMIT, why)
    only = context.settings.only_issues
    rows = [row for row in context.reader.issues() if not only or row.id in only]
    left = [row for row in rows if row.present and not _settled(row)]
    if only and left and not (faulty or once) and all(row.status == IssueStatus.BLOCKED for row in left):
        why = some(tuple(f"{row.id} is blocked: {row.reason}" for row in left), _NAMED_MAX)
        again = f"noface retry {' '.join(row.id for row in left)}"
        return RunResult(EXIT_ATTENTION, f"finished; {why}; to have it tried again: {again}")
    if faulty or left:
        return RunResult(EXIT_ATTENTION, once or _left_over(left, faulty=faulty))
    vanished = (context.at_first or frozenset()) - set(withdrawn)
    gone = tuple(row.id for row in rows if row.id in vanished and not row.present and not _settled(row))
    if gone and not context.issues_elsewhere:
        why = f"issues went away while it ran: {some(gone, _NAMED_MAX)}; was a branch switched, or work stashed?"
        return RunResult(EXIT_ATTENTION, f"finished, but {why}")
    return RunResult(EXIT_DONE, "all done")


def _left_over(rows: list[IssueRow], *, faulty: bool) -> str:
    """Say what a finished run has left; what waits for issues in review needs nothing else."""
    statuses = Counter(row.status for row in rows)
    reviewed = statuses[IssueStatus.REVIEW]
    others = statuses.keys() - {IssueStatus.REVIEW, IssueStatus.READY, IssueStatus.WAITING}
    if reviewed and not others and not faulty:
        return f"finished; {reviewed} pull request{'s are' if reviewed > 1 else ' is'} in review"
    if others == {IssueStatus.LANDING} and not faulty:
        return "finished; work that passed could not land yet"
    return "finished; some issues need a person"


def _settled(row: IssueRow) -> bool:
    """True if an issue is done with. A part that its parent has taken back belongs to the parent's work."""
    skipped = row.status == IssueStatus.SKIPPED and (row.satisfied or row.parent is not None)
    return bool(row.status == IssueStatus.MERGED or skipped)


def disk_error(reader: Reader, issue: Issue, failure: Failure | None) -> BaseException | None:
    """Return why a run ends where the disk is full, or where a worker says so after it was run again."""
    if failure is None or failure.rule not in (DISK_FULL, DISK_SEEMS_FULL):
        return None
    epoch = reader.state(issue.id).epoch
    past = [attempt for attempt in reader.past(issue.id) if attempt.epoch == epoch]
    if failure.rule == DISK_FULL or outside_failures(past) > OUTSIDE_REPEATS_MAX:
        return disk_full_error(failure)
    return None
