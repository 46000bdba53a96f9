"""Stations: whatever waits for another machine, written as a story that reads from top to bottom.

A story is a generator. It yields a `Job`, which a thread carries out, or the next tick, and the loop's thread resumes
it with the result or throws the exception in. Its intent is recorded before the job that has the effect (law 7).
"""

import queue
import time
from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from noface.engine.faults import is_unexpected
from noface.engine.jobs import Job, JobKind, Jobs
from noface.process.clock import Clock
from noface.process.command import Canceller

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Tick:
    """The next tick of the loop; the first one that `until` is past. `always`: also while a run is stopped."""

    until: float = float("-inf")
    always: bool = False


Steps = Generator[Job[Any] | Tick, Any, R]
"""A story, or a part of one, which comes to an R. What it yields is what it waits for."""


def call(
    run: Callable[[Canceller], R],
    issue_id: str = "",
    *,
    kind: JobKind = JobKind.REMOTE,
    slot: int | None = None,
    always: bool = False,
) -> Steps[R]:
    result: R = yield Job(kind, issue_id, run, slot=slot, always=always)
    return result


@dataclass(frozen=True, slots=True)
class Patience:
    """Until when a run with nothing else to do goes on (epoch seconds), and why, "" if that is not worth a word."""

    until: float
    reason: str = ""


class Station:
    """A part of a run that deals with another machine; it is waited for `first_s` and `last_s` at both ends."""

    first_s = 0.0
    last_s = 0.0

    def stories(self) -> Iterable[Steps[None]]:
        return ()

    def at_work(self, *, stopping: bool) -> bool:
        del stopping
        return False

    def admitted(self, issue_ids: Collection[str]) -> Collection[str]:
        """Return which issues may start now, and see to it that the others may later."""
        return issue_ids

    @property
    def refused(self) -> str:
        return ""

    def patience(self, *, once: bool) -> Patience | None:
        """Return why a run with nothing else to do goes on, None if it may end; with `once` it waits for little."""
        del once
        return None

    def next_try(self) -> Patience | None:
        """Return when something that failed is tried again, and why it failed, None if nothing is worth that."""
        return None

    def unread(self) -> Patience | None:
        """Return until when, and why, what is new there cannot be read; None if this run has read it, or need not."""
        return None

    def has_looked(self, since: float) -> bool:
        del since
        return True

    def ending(self) -> None:
        """Prepare the last calls of a run, for which it waits."""

    def ended(self) -> None:
        """See what the run leaves undone, after its last calls."""


@dataclass(slots=True, eq=False)
class OpenStory:
    """A story that goes on, and what it waits for; `issue_id` is the one that its newest job is about."""

    steps: Steps[None]
    waits: Job[Any] | Tick = field(default_factory=lambda: Tick(always=True))
    job: Job[Any] | None = None
    issue_id: str = ""


@dataclass(slots=True, eq=False)
class Stations:
    """Resumes the stories of a run, in the loop's thread.

    `again` is told what broke noface itself in a job, and says whether to begin it again; `broken` what ended a story.
    """

    clock: Clock
    inbox: "queue.SimpleQueue[object]"
    jobs: Jobs
    again: Callable[[Job[Any], BaseException], bool]
    broken: Callable[[Exception, Job[Any] | None, str], None]
    stopping: bool = False
    _stories: list[OpenStory] = field(default_factory=list)
    _of: dict[Station, list[OpenStory]] = field(default_factory=dict)

    def open(self, stations: Iterable[Station], heed: Callable[[object], bool]) -> None:
        for station in stations:
            stories = self._of[station] = [OpenStory(steps) for steps in station.stories()]
            self._stories += stories
            self._settle(stories, station.first_s, heed)

    def close(self, heed: Callable[[object], bool]) -> None:
        for station, stories in self._of.items():
            station.ending()
            self._settle(stories, station.last_s, heed)
            station.ended()

    def begin(self, steps: Steps[None]) -> OpenStory:
        story = OpenStory(steps)
        self._stories.append(story)
        self._resume(story, partial(next, steps))
        return story

    def end(self, story: OpenStory) -> None:
        if story in self._stories:
            self._stories.remove(story)
            story.steps.close()

    def forget(self) -> None:
        """Leave all stories where they stand but those of what lasts; what is recorded says how they begin again."""
        lasting = [story for story in self._stories if story.job in self.jobs.lasting]
        for story in self._stories:
            if story not in lasting:
                with suppress(Exception):
                    story.steps.close()
        self._stories = lasting
        self._of.clear()

    def tick(self) -> None:
        for story in tuple(self._stories):
            self._tick(story)

    def _tick(self, story: OpenStory) -> None:
        waits = story.waits
        if isinstance(waits, Job) or story not in self._stories or (self.stopping and not waits.always):
            return
        if waits.until <= self.clock.now():
            self._resume(story, partial(story.steps.send, None))

    def _settle(self, stories: list[OpenStory], seconds: float, heed: Callable[[object], bool]) -> None:
        """Wait until stories have nothing more to ask, at most so long; a message that `heed` tells of ends that."""
        deadline = time.monotonic() + seconds
        while seconds:
            for story in stories:
                self._tick(story)
            if all(story.job is None for story in stories):
                return
            try:
                if heed(self.inbox.get(timeout=max(0.0, deadline - time.monotonic()))):
                    return
            except queue.Empty:
                return

    def _resume(self, story: OpenStory, step: Callable[[], Job[Any] | Tick], failed: Job[Any] | None = None) -> None:
        try:
            waits = story.waits = step()
        except Exception as error:  # noqa: BLE001 - it ends this story, and the loop is told
            if story in self._stories:
                self._stories.remove(story)
            if not isinstance(error, StopIteration):
                of_job = failed if failed is not None and error is failed.error else None
                self.broken(error, of_job, story.issue_id)
            return
        if isinstance(waits, Job):
            story.issue_id = waits.issue_id
        if isinstance(waits, Job) and (waits.always or not self.stopping):
            story.job = self.jobs.start(waits)
        elif isinstance(waits, Job):
            # It never begins, and the next run goes on from what is recorded. A story left waiting would count as work.
            self.end(story)

    def ended(self, job: Job[Any]) -> None:
        """Resume the story that waits for a job; what comes of one whose story is over is not looked at."""
        story = next((each for each in self._stories if each.job is job), None)
        if story is None:
            return
        story.job, error = None, job.error
        if error is None:
            self._resume(story, partial(story.steps.send, job.result))
        elif job.repeatable and not self.stopping and is_unexpected(error) and self.again(job, error):
            story.job = self.jobs.start(job)
        else:
            self._resume(story, partial(story.steps.throw, error), job)
