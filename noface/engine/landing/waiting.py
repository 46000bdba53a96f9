"""The work that waits to land, by issue: who may be tried now, and who is taken out."""

from collections.abc import Callable
from dataclasses import dataclass

from noface.engine.context import RunContext
from noface.engine.jobs import JobKind, Jobs
from noface.engine.outside import branch_in_the_way, wait_for_person
from noface.engine.prompt_context import history_of
from noface.engine.stations import R, Steps, Tick, call
from noface.git.fast_forward import Blocked, Landed
from noface.model.failure import Failure
from noface.model.gate import Proof
from noface.model.issue import Issue
from noface.process.supervise import Canceller
from noface.recovery.schedule import Contest

_HELD_RETRY_S, _HELD_PAUSE_S = 5.0, 300.0
"""Until what is held up is tried again, and how much later at most while others land."""
_PASSING_RETRY_S = 0.5
PATIENCE_S = 30.0
"""How long a run with nothing else to do waits for another git's lock before it ends with the issue in landing.

An editor's git, or a commit with slow hooks, holds one for seconds; a lock that stays longer usually has no holder.
"""


@dataclass(slots=True)
class QueueEntry:
    """A passed attempt that waits to land; `held` says what of the person's is in the way, until `not_before`.

    `passing_since` is set if such a thing usually goes by itself. `proof` is the attempt's own, for the main it began
    on; `mains` are where main stood when work began. `ready_at` is since when only a last look is missing.
    """

    issue: Issue
    number: int
    candidate: str
    proof: Proof | None = None
    not_before: float = 0.0
    held: str = ""
    cause: tuple[str, bool] = ("", False)
    passing_since: float | None = None
    mains: frozenset[str] = frozenset()
    ready_at: float | None = None
    holds: int = 0

    def due(self, now: float, *, rest: bool) -> bool:
        is_held = self.held and self.passing_since is None and rest
        return self.not_before + (min(_HELD_PAUSE_S, 2.0**self.holds) if is_held else 0.0) <= now

    def hold_up(self, held: Blocked, now: float, until: float | None) -> bool:
        """Note that something is in the way, until it is tried again; tell whether that is news."""
        if not held.passing:
            self.passing_since = None
        elif self.passing_since is None:
            self.passing_since = now
        self.held, self.holds = self.held or held.text, self.holds + 1
        self.not_before = until or now + (_PASSING_RETRY_S if held.passing else _HELD_RETRY_S)
        # The reason names the age of a lock: it is shown when the lock appears, and when it has stayed.
        cause = held.passing or held.text, not self.worth_waiting(now)
        if self.cause == cause:
            return False
        self.cause, self.held = cause, held.text
        return True

    def worth_waiting(self, now: float) -> bool:
        return not self.held or (self.passing_since is not None and now < self.passing_since + PATIENCE_S)


class WaitingWork:
    """The entries of the queue. `tried` were tried in this tick; `at_work` counts what is merged, proven or landed now.

    `withdrawn` is told who leaves it, `rejected` takes what failed on the merge result.
    """

    def __init__(self, context: RunContext, jobs: Jobs) -> None:
        self._context, self._jobs = context, jobs
        self.by_issue: dict[str, QueueEntry] = {}
        self.tried: set[str] = set()
        self.at_work = 0
        self.withdrawn: Callable[[str], None] = lambda _: None
        self.rejected: Callable[[QueueEntry, Failure], None] = lambda _entry, _failure: None

    def take_out(self, issue_id: str) -> None:
        if self.by_issue.pop(issue_id, None) is not None:
            self.withdrawn(issue_id)

    def holds(self, entry: QueueEntry) -> bool:
        return self.by_issue.get(entry.issue.id) is entry

    def able(self) -> frozenset[str]:
        now, entries = self._context.clock.now(), self.by_issue.items()
        rest = any(not entry.held for _, entry in entries)
        due = (name for name, entry in entries if entry.due(now, rest=rest) and name not in self.tried)
        return self.without_rivals(frozenset(due))

    def without_rivals(self, able: frozenset[str]) -> frozenset[str]:
        """Return which of these may land: none beside an issue that works alone, for which it could move main."""
        if not able or not (working := self._jobs.issues(JobKind.ATTEMPT, JobKind.QUESTION)):
            return able
        if working & self._context.suspects:  # which would not be alone: nothing could be told from another death
            return frozenset()
        lost = self._context.reader.lost_to_main()
        alone = tuple(issue for issue in self._context.issues if issue.id in working and issue.id in lost)
        contest = Contest(lost)
        return frozenset(name for name in able if contest.rival(self.by_issue[name].issue, alone) is None)

    def is_free(self, entry: QueueEntry) -> bool:
        """True if no person has committed to the entry's branch; if one has, the issue waits for them."""
        context, issue = self._context, entry.issue
        if (why := branch_in_the_way(context, issue)) is None:
            return True
        self.take_out(issue.id)
        wait_for_person(context, history_of(context, issue, context.reader.state(issue.id)), why)
        return False

    def refuse(self, entry: QueueEntry, why: Failure | Landed) -> None:
        """Take out what cannot land, or has landed elsewhere."""
        if not self.holds(entry):
            return  # it was withdrawn, has landed elsewhere, or a person decides about it
        self.take_out(entry.issue.id)
        if isinstance(why, Landed):
            self._context.journal.merged(self._context.clock.now(), entry.issue.id, why.commit)
        else:
            self.rejected(entry, why)

    def in_thread(self, entry: QueueEntry, run: Callable[[Canceller], R], *, always: bool = False) -> Steps[R]:
        """Have a thread do something for an entry; its error is raised at the next tick: now it would end the run."""
        self.at_work += 1
        try:
            result = yield from call(run, entry.issue.id, kind=JobKind.LANDING, always=always)
        except Exception:
            yield Tick(always=True)
            raise
        else:
            yield Tick(always=True)
        finally:
            self.at_work -= 1
            self.tried.clear()
        return result
