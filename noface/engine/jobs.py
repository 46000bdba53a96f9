"""All that runs beside the loop: attempts, checks, questions, epics' gates, landings, calls to a host: a thread each.

Only the loop's thread calls `Jobs`. Work on an issue holds one of the workers' slots.
"""

import queue
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, Generic, TypeVar

from noface.attempt.run import LocalExecutor
from noface.model.budget import EndedFor, Overrun
from noface.process.apart import run_apart
from noface.process.command import Canceller
from noface.recovery.schedule import Breaker

R = TypeVar("R")
_ENDED_AT_ONCE = ("workspace", "agent")
"""In these phases a stop ends an attempt; in the others it is being judged, which does not take long."""


class JobKind(Enum):
    """What a job is for. LANDING proves a merge, REMOTE waits for another machine: no work on an issue, no slot."""

    ATTEMPT = "an attempt"
    CHECK = "a check on main"
    QUESTION = "a question to a role"
    EPIC = "the gates of a divided issue"
    LANDING = "a merge or its proof"
    REMOTE = "a call to another machine"


_LANDING_MAX = 66
"""So many threads at most merge and prove what lands."""
_BESIDE = (JobKind.LANDING, JobKind.REMOTE)
_LASTING = (JobKind.ATTEMPT, JobKind.QUESTION)


@dataclass(slots=True, eq=False)
class Job(Generic[R]):
    """Work for a thread: `run` does it. `number` is an attempt's, or that of a question's row.

    `model` is at work since `began_at` (epoch seconds). `due`: a review, which runs whatever its issue has cost. `over`
    is why it was ended for money. `always`: it begins though the run is stopped.
    """

    kind: JobKind
    issue_id: str
    run: Callable[[Canceller], R]
    slot: int | None = None
    model: str = ""
    think: bool = False
    due: bool = False
    always: bool = False
    began_at: float = 0.0
    number: int = 0
    phase: str = _ENDED_AT_ONCE[0]
    over: Overrun | None = None
    cancel: Canceller = field(default_factory=Canceller)
    future: "Future[R]" = field(default_factory=Future)

    @property
    def function(self) -> str:
        run = self.run.func if isinstance(self.run, partial) else self.run
        return f"{self.kind.name} {getattr(run, '__qualname__', '')}"

    @property
    def repeatable(self) -> bool:
        return self.kind not in _LASTING and not self.cancel.cancelled

    @property
    def error(self) -> BaseException | None:
        return self.future.exception()

    @property
    def result(self) -> R | None:
        return None if self.error is not None else self.future.result()

    @property
    def calls_model(self) -> bool:
        return self.kind is JobKind.QUESTION or (self.kind is JobKind.ATTEMPT and self.phase in _ENDED_AT_ONCE)

    @property
    def endable(self) -> bool:
        return self.calls_model and not self.cancel.cancelled


class Jobs:
    """The jobs under way. Slots are numbers; the end of a job frees its slot."""

    def __init__(self, inbox: "queue.SimpleQueue[object]", executor: LocalExecutor) -> None:
        self._inbox, self._executor = inbox, executor
        self._pool = ThreadPoolExecutor(executor.slots + _LANDING_MAX, thread_name_prefix="job")
        self._jobs: list[Job[Any]] = []
        self._free = list(range(executor.slots))

    def start(self, job: Job[R]) -> Job[R]:
        """Start a job, in its slot where it has one. If there can be no thread it has ended, with that error."""
        if job.slot in self._free:
            self._free.remove(job.slot)
        self._jobs.append(job)
        try:
            run = partial(job.run, job.cancel)
            job.future = run_apart(run, "remote") if job.kind is JobKind.REMOTE else self._pool.submit(run)
        except RuntimeError as error:
            job.future = Future()
            job.future.set_exception(error)
        job.future.add_done_callback(lambda _: self._inbox.put(job))
        return job

    def ended(self, job: Job[Any]) -> bool:
        """Take a job that has ended off the list; its slot is free. False if it is none of these any more."""
        if job not in self._jobs:
            return False
        self._jobs.remove(job)
        if job.slot is not None and job.slot < self._executor.slots:  # there were more when it was ordered
            self._free.append(job.slot)
        return True

    @property
    def lasting(self) -> tuple[Job[Any], ...]:
        return tuple(job for job in self._jobs if job.kind in _LASTING)

    def end_others_than_lasting(self) -> bool:
        for job in self._jobs:
            if job.repeatable:
                job.cancel.cancel(urgent=True)
        return all(job.kind in (*_LASTING, JobKind.REMOTE) for job in self._jobs)

    def forget(self) -> None:
        self._jobs = list(self.lasting)
        taken = {job.slot for job in self._jobs}
        self._free = [slot for slot in range(self._executor.slots) if slot not in taken]

    @property
    def free(self) -> int:
        return len(self._open())

    def _open(self) -> list[int]:
        return [slot for slot in self._free if self._executor.is_open(slot)]

    def take_slot(self, best: int | None = None) -> int:
        free = self._open()
        places = Counter(map(self._executor.place, free))
        slot = best if best in free else max(free, key=lambda each: places[self._executor.place(each)])
        self._free.remove(slot)
        return slot

    def issues(self, *kinds: JobKind) -> frozenset[str]:
        wanted = kinds or tuple(kind for kind in JobKind if kind not in _BESIDE)
        return frozenset(job.issue_id for job in self._jobs if job.kind in wanted)

    def probed(self, waits: Mapping[str, Breaker]) -> frozenset[str]:
        calling = (job for job in self._jobs if job.model in waits and job.calls_model)
        return frozenset(job.model for job in calling if job.began_at >= waits[job.model].since)

    def attempt(self, issue_id: str, number: int) -> Job[Any] | None:
        return next((job for job in self.attempts(issue_id) if job.number == number), None)

    def attempts(self, issue_id: str) -> list[Job[Any]]:
        return [job for job in self._jobs if job.kind is JobKind.ATTEMPT and job.issue_id == issue_id]

    @property
    def paid(self) -> tuple[Job[Any], ...]:
        return tuple(job for job in self._jobs if job.endable)

    def end(self, issue_id: str, over: Overrun) -> None:
        for job in self.paid:
            if job.issue_id == issue_id and not (job.due and over.ended_for is EndedFor.ISSUE):
                job.over = over
                job.cancel.cancel()

    def withdraw(self, issue_id: str) -> None:
        for job in self._jobs:
            if job.issue_id == issue_id and job.kind is not JobKind.REMOTE:
                job.cancel.cancel()

    def stop(self, *, everything: bool, urgent: bool) -> None:
        for job in self._jobs:
            finishing = job.kind in _BESIDE or (job.kind is JobKind.ATTEMPT and job.phase not in _ENDED_AT_ONCE)
            if everything or urgent or not finishing:
                job.cancel.cancel(urgent=urgent)

    def close(self) -> None:
        self.stop(everything=True, urgent=True)
        self._pool.shutdown(wait=True)
