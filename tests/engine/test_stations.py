"""The driver of stories: what waits for threads and times, resumed in the loop's thread."""

import queue
import threading

import pytest

from noface.attempt.run import LocalExecutor
from noface.engine.jobs import Job, JobKind, Jobs
from noface.engine.stations import Station, Stations, Tick, call
from noface.errors import RemoteError


class Hand:
    """A clock that a test turns."""

    time = 1000.0

    def now(self):
        return self.time


class Loop:
    """The loop of a run, but for all that it does."""

    def __init__(self):
        self.clock, self.inbox, self.broken, self.heard = Hand(), queue.SimpleQueue(), [], []
        self.faults, self.again = [], False
        self.jobs = Jobs(self.inbox, LocalExecutor(1))
        self.stations = Stations(self.clock, self.inbox, self.jobs, self.met, self.story_broke)

    def met(self, _job, error):
        self.faults.append(str(error))
        return self.again

    def story_broke(self, error, job, _issue_id):
        if job is None:
            raise error
        self.broken.append(error)

    def heed(self, message):
        self.heard.append(message)
        if isinstance(message, Job):
            self.jobs.ended(message)
            self.stations.ended(message)
        return message == "stop"

    def receive(self):
        self.heed(self.inbox.get(timeout=10))


class Plain(Station):
    """A station with the stories of a test."""

    def __init__(self, *stories, first_s=0.0, last_s=0.0, last=None):
        self.all, self.first_s, self.last_s, self.last = stories, first_s, last_s, last

    def stories(self):
        return self.all

    def ending(self):
        if self.last is not None:
            self.last()


@pytest.fixture
def loop():
    made = Loop()
    yield made
    made.jobs.close()


def test_a_story_gets_what_a_thread_returns_and_goes_on_in_the_loops_thread(loop):
    seen = []

    def story():
        there = yield from call(lambda _: threading.current_thread())
        seen.append((there, threading.current_thread()))

    loop.stations.begin(story())
    assert seen == []
    loop.receive()
    ((there, here),) = seen
    assert there is not here
    assert here is threading.current_thread()


def test_what_a_thread_raises_is_raised_in_the_story(loop):
    seen = []

    def fail(_):
        raise ValueError("away")

    def story():
        for _ in range(2):
            try:
                yield from call(fail)
            except ValueError as error:
                seen.append(str(error))

    loop.stations.begin(story())
    loop.receive()
    loop.receive()
    assert seen == ["away", "away"]
    assert loop.broken == []


def test_what_a_story_does_not_expect_ends_the_run_and_no_other_story(loop):
    seen = []

    def fail(_):
        raise OSError("disk")

    def broken():
        yield from call(fail)

    def sound():
        while True:
            yield Tick()
            seen.append("tick")

    loop.stations.open((Plain(broken(), sound()),), loop.heed)
    loop.stations.tick()
    loop.receive()
    loop.stations.tick()
    loop.stations.tick()
    assert [str(error) for error in loop.broken] == ["disk"]
    assert seen == ["tick", "tick"]


def test_a_mistake_of_the_loops_own_thread_is_raised_there(loop):
    def story():
        yield from call(lambda _: None)
        raise KeyError("mistake")

    loop.stations.begin(story())
    with pytest.raises(KeyError, match="mistake"):
        loop.receive()


def test_a_story_waits_until_the_clock_shows_its_time(loop):
    seen = []

    def story():
        yield Tick(until=1060.0)
        seen.append(loop.clock.now())

    loop.stations.begin(story())
    for loop.clock.time in (1000.0, 1059.0, 1060.0, 1061.0):
        loop.stations.tick()
    assert seen == [1060.0]


def test_while_a_run_is_stopped_nothing_begins_but_what_always_does(loop):
    seen = []

    def story(name, *, always):
        seen.append(f"{name} called {(yield from call(lambda _: 1, always=always))}")
        yield Tick(always=always)
        seen.append(f"{name} went on")

    loop.stations.begin(story("push", always=False))  # under way: what comes of it is recorded
    loop.stations.stopping = True
    loop.receive()
    loop.stations.begin(story("open", always=False))
    loop.stations.begin(story("claim", always=True))
    loop.stations.tick()
    loop.receive()
    loop.stations.tick()
    loop.stations.tick()
    assert seen == ["push called 1", "claim called 1", "claim went on"]


def test_a_story_that_is_ended_learns_nothing_of_its_call(loop):
    seen, may_end = [], threading.Event()

    def story():
        try:
            yield from call(lambda _: may_end.wait(10))
            seen.append("came")
        finally:
            seen.append("ended")

    begun = loop.stations.begin(story())
    loop.stations.end(begun)
    may_end.set()
    loop.receive()
    assert seen == ["ended"]


def test_a_run_waits_at_its_beginning_for_the_calls_of_a_station_that_is_worth_it(loop):
    seen = []

    def story(name):
        for number in range(2):
            yield from call(lambda _: None)
            seen.append(f"{name} {number}")
        while True:
            yield Tick()
            seen.append(f"{name} ticks")

    loop.stations.open((Plain(story("issues"), first_s=10.0), Plain(story("main"))), loop.heed)
    assert seen == ["issues 0", "issues 1", "issues ticks"]


def test_waiting_at_the_beginning_ends_with_its_time_or_when_a_person_wants_the_run_to_stop(loop):
    may_end = threading.Event()

    def story():
        yield from call(lambda _: may_end.wait(10))

    loop.stations.open((Plain(story(), first_s=0.01),), loop.heed)
    assert loop.heard == []
    loop.inbox.put("stop")
    loop.stations.open((Plain(story(), first_s=10.0),), loop.heed)
    assert loop.heard == ["stop"]
    may_end.set()


def test_a_story_whose_call_is_due_while_the_run_is_stopped_ends_where_it_stands(loop):
    ended = []

    def story():
        yield Tick(always=True)
        try:
            yield from call(lambda _: ended.append("called"))
        finally:
            ended.append("ended")

    loop.stations.open((Plain(story()),), loop.heed)
    loop.stations.stopping = True
    loop.stations.tick()
    loop.stations.tick()
    assert ended == ["ended"]


def test_last_words_are_said_though_the_run_is_stopped(loop):
    said, due = [], []

    def story():
        while True:
            for word in due:
                yield from call(lambda _, word=word: said.append(word), always=True)
            due.clear()
            yield Tick(always=True)

    loop.stations.open((Plain(story(), last_s=10.0, last=lambda: due.append("bye")),), loop.heed)
    loop.stations.stopping = True
    loop.stations.close(loop.heed)
    assert said == ["bye"]


def test_a_job_that_noface_itself_broke_begins_once_more_and_its_story_does_not_notice(loop):
    loop.again, came, tries = True, [], []

    def once(_):
        tries.append(1)
        if len(tries) == 1:
            raise KeyError("mistake")
        return "done"

    def story():
        came.append((yield from call(once, "7")))

    loop.stations.begin(story())
    loop.receive()
    loop.receive()
    assert (loop.faults, came, loop.broken) == (["'mistake'"], ["done"], [])


def test_what_another_machine_says_is_the_storys_to_answer_and_no_fault(loop):
    def away(_):
        raise RemoteError("away")

    def story():
        with pytest.raises(RemoteError):
            yield from call(away)

    loop.stations.begin(story())
    loop.receive()
    assert loop.faults == []


def test_a_loop_that_begins_anew_keeps_those_who_work_and_forgets_all_other_stories(loop):
    go_on, came = threading.Event(), []

    def work(_):
        assert go_on.wait(10)
        return "work"

    def attempt():
        came.append((yield Job(JobKind.ATTEMPT, "1", work, 0, always=True)))

    def other():
        yield Tick()
        came.append("other")

    loop.stations.begin(attempt())
    loop.stations.begin(other())
    loop.stations.begin(call(work, "2", kind=JobKind.CHECK, slot=1))
    loop.stations.forget()
    loop.jobs.forget()
    loop.stations.tick()
    assert loop.jobs.issues() == {"1"}
    go_on.set()
    loop.receive()
    loop.receive()
    assert came == ["work"]
    assert loop.jobs.issues() == frozenset()


def test_a_job_for_which_there_is_no_thread_has_ended_with_that_error(loop):
    def story():
        with pytest.raises(RuntimeError):
            yield from call(lambda _: None, kind=JobKind.LANDING)

    loop.jobs.close()
    loop.stations.begin(story())
    loop.receive()
    assert len(loop.faults) == 1
