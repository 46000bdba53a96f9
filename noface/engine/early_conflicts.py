"""Sees early what will not merge: what is judged or waits to land, with main each time that moves, and with each other.

git merges in memory, in a thread, so that the loop goes on: each work once with each main, and once with each other one
made beside it that changes one of its files. Work that conflicts with main cannot land, whatever its gates say: it is
rejected at once, charged to nobody, and begun anew on that main. How often works conflict where they meet tells which
issues need not start apart, and which must not start together (`recovery/schedule`).

Nothing of it is recorded: after a kill the next run merges again, and what nobody has seen the landing meets.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from noface.attempt.judge import conflict
from noface.engine.context import RunContext
from noface.engine.jobs import JobKind, Jobs
from noface.engine.landing.queue import MergeQueue
from noface.engine.stations import Steps, Tick, call
from noface.errors import GitError
from noface.git.taken_back import began_on, merge_onto
from noface.model.failure import Failure
from noface.process.command import Canceller

_MERGES_MAX = 64
"""So many merges at most are made in one look; the next makes the rest."""
_WORKS_MAX = 64
"""So many works are remembered, the newest."""


@dataclass(slots=True, eq=False)
class _Work:
    """An attempt's commit that is judged or waits to land; its worker `began` then, and it was last `there` then.

    `main` is the one that it was merged with last, `met` are the works that it was merged with.
    """

    issue_id: str
    number: int
    commit: str
    files: frozenset[str]
    began: float
    there: float
    main: str = ""
    met: "set[_Work]" = field(default_factory=set)


_Pair = tuple[_Work, _Work]


class EarlyConflicts:
    """Knows what is under way, and what of it conflicts. For the loop's thread, but for `_look`.

    `met` counts by file how often works changed it beside each other, `conflicted` how often they conflicted there.
    """

    def __init__(self, context: RunContext, jobs: Jobs, queue: MergeQueue) -> None:
        self._context, self._jobs, self._queue = context, jobs, queue
        self._works: dict[tuple[str, int], _Work] = {}
        self.met: Counter[str] = Counter()
        self.conflicted: Counter[str] = Counter()

    def watch(self) -> Steps[None]:
        """Have merged what has not been merged yet, tick by tick."""
        while True:
            yield Tick()
            main, works = self._context.env.plumbing.main(), self._under_way()
            due = tuple(islice((work for work in works if work.main != main), _MERGES_MAX))
            pairs = tuple(islice(self._pairs(works), _MERGES_MAX - len(due)))
            if not due and not pairs:
                continue
            look = partial(self._look, main, self._context.reader.mains(), due, pairs)
            failures = yield from call(look, kind=JobKind.LANDING)
            for work in due:
                work.main = main
            if main == self._context.env.plumbing.main():
                self._reject(failures)

    def _under_way(self) -> list[_Work]:
        """Return the works that are judged or wait to land; they are remembered for those made beside them."""
        now, works, keys = self._context.clock.now(), self._works, list[tuple[str, int]]()
        for job in self._jobs.judged:
            if (judged := job.judged) is not None and not job.cancel.cancelled:
                keys.append((job.issue_id, judged.number))
                works.setdefault(keys[-1], _Work(*keys[-1], judged.work, judged.changed, job.began_at, now))
        for entry in self._queue.entries:
            keys.append((entry.issue.id, entry.number))
            work = works.setdefault(keys[-1], _Work(*keys[-1], "", frozenset(), now, now))
            work.commit = entry.candidate
        for key in keys:
            works[key].there = now
        for old in [key for key in works if key not in keys][: max(len(works) - _WORKS_MAX, 0)]:
            del works[old]
        return [works[key] for key in keys]

    def _pairs(self, works: list[_Work]) -> Iterator[_Pair]:
        """Yield what was made at the same time, changes a file in common, and was not merged with each other yet."""
        for one in works:
            for other in self._works.values():
                beside = one.issue_id != other.issue_id and one.there >= other.began and other.there >= one.began
                if beside and other not in one.met and one.files & other.files:
                    one.met.add(other)
                    other.met.add(one)
                    yield one, other

    def _look(
        self, main: str, mains: frozenset[str], works: tuple[_Work, ...], pairs: tuple[_Pair, ...], _: Canceller
    ) -> list[tuple[_Work, Failure]]:
        """Merge works with main, and pairs; return how works fail. What git cannot read has nothing to say."""
        plumbing, failures = self._context.env.plumbing, []
        for work in works:
            if plumbing.is_near(main, work.commit):
                continue  # what stands on main is merged with it
            try:
                merge = merge_onto(plumbing, main, work.commit, began_on(plumbing, mains, work.commit, main))
            except GitError:
                continue
            if merge.tree is None:
                by = plumbing.brought(work.commit, main, merge.conflicts)
                failures.append((work, conflict(merge.conflicts, by)))
        for one, other in pairs:
            try:
                conflicts = plumbing.merge(one.commit, other.commit).conflicts
            except GitError:
                continue
            self.met.update(one.files & other.files)
            self.conflicted.update(one.files & other.files & frozenset(conflicts))
        return failures

    def _reject(self, failures: list[tuple[_Work, Failure]]) -> None:
        for work, why in failures:
            job = self._jobs.attempt(work.issue_id, work.number)
            if job is not None and job.judged is not None:
                job.cancel.cancel(why=why)
            else:
                self._queue.refuse(work.issue_id, work.number, why)
