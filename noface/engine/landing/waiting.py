"""The work that waits to land, by issue: who may be tried now, and who is taken out."""

from collections.abc import Callable

from noface.engine.context import RunContext
from noface.engine.jobs import JobKind, Jobs
from noface.engine.landing.entries import QueueEntry
from noface.engine.outside import branch_in_the_way, wait_for_person
from noface.engine.prompt_context import history_of
from noface.engine.stations import R, Steps, Tick, call
from noface.git.fast_forward import Landed
from noface.model.failure import Failure
from noface.process.supervise import Canceller
from noface.recovery.schedule import Contest


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
        """Return who may be proven or land now, and was not tried in this tick."""
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
        state = context.reader.state(issue.id)
        wait_for_person(context, history_of(context.reader, context.questions, issue, state), why)
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
