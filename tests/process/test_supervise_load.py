"""Many talkative programs at once: their streams are read, their limits watched, and noface stays small beside them."""

import os
from contextlib import closing
from dataclasses import replace

import pytest

from noface.agents.base import AgentEvent, EventKind, Lines
from noface.attempt.worker.agent_watch import BEHIND_BYTES_MAX, LogFollower
from noface.model.worker_run import EndedBy
from noface.process.supervise import Canceller, Command, Ladder, Launcher


class Collector:
    """A reader that keeps what it was given; a line "retry" is no sign of life."""

    any_output_is_life = False

    def __init__(self):
        self.lines = []
        self._lines = Lines()

    def feed(self, data):
        new = [line for line in self._lines.feed(data) if line]
        self.lines += new
        return [AgentEvent(EventKind.RETRY if line == "retry" else EventKind.TOOL, line) for line in new]


@pytest.fixture
def log(tmp_path):
    return tmp_path / "agent.log"


@pytest.fixture
def follow(tmp_path, log):
    reader, told = Collector(), []
    follower = LogFollower(log, tmp_path / "agent.err", reader, lambda event, alive: told.append((event.text, alive)))
    with closing(follower):
        yield follower, reader, told


def test_only_what_is_new_is_read_and_only_the_newest_is_told(follow, log):
    follower, reader, told = follow
    assert follower.poll() is None
    log.write_text("one\ntwo\nthr")
    first = follower.poll()
    with log.open("a") as file:
        file.write("ee\n")
    assert first is not None
    assert follower.poll() >= first
    assert reader.lines == ["one", "two", "three"]
    assert told == [("two", True), ("three", True)]


def test_retries_are_told_and_are_no_sign_of_life(follow, log):
    follower, _, told = follow
    log.write_text("retry\nretry\n")
    assert follower.poll() is None
    assert told == [("retry", False)]


def test_a_log_that_was_moved_or_deleted_is_followed_and_one_that_was_cut_off_goes_on(follow, log):
    follower, reader, _ = follow
    with log.open("a") as file:
        file.write("one\n")
        file.flush()
        follower.poll()
        log.rename(log.with_name("moved"))
        file.write("two\n")
        file.flush()
        follower.poll()
        os.truncate(log.with_name("moved"), 0)
        follower.poll()
        file.write("three\n")
        file.flush()
        follower.poll()
    assert reader.lines == ["one", "two", "three"]


@pytest.mark.parametrize("what", ["fifo", "folder", "link", "nothing"])
def test_what_is_put_in_the_logs_place_holds_nobody_up(follow, log, tmp_path, what):
    follower, reader, _ = follow
    match what:
        case "fifo":
            os.mkfifo(log)
        case "folder":
            log.mkdir()
        case "link":
            (tmp_path / "other").write_text("other\n")
            log.symlink_to(tmp_path / "other")
    assert follower.poll() is None
    assert reader.lines == []


def test_a_reader_far_behind_passes_over_the_middle_and_still_sees_the_end(follow, log):
    follower, reader, _ = follow
    log.write_text("begin")
    follower.poll()
    with log.open("ab") as file:
        file.write((b"y" * 1023 + b"\n") * (2 * BEHIND_BYTES_MAX // 1024))
        file.write(b"the end\n")
    follower.poll()
    assert reader.lines[0] == "begin"
    assert reader.lines[-1] == "the end"
    assert len(reader.lines) < BEHIND_BYTES_MAX // 1024


def test_a_flood_is_watched_all_the_same_and_its_log_is_cut_to_the_limit(tmp_path):
    stop, log = Canceller(), tmp_path / "out"
    looked = []

    def look():
        looked.append(log.stat().st_size if log.exists() else 0)
        if looked[-1] > 1_000_000:
            stop.cancel()

    command = Command(
        ("yes",), "/", (("PATH", os.environ["PATH"]),), None, str(log), str(tmp_path / "err"), 60.0, None, 1 << 40
    )
    with Launcher(Ladder(0.2, 0.2)) as launcher:
        assert launcher.run(command, stop, on_output=look).ended_by is EndedBy.CANCELLED
        log.unlink()
        limited = replace(command, log_max_bytes=1_000_000)
        assert launcher.run(limited).output_limit
    assert log.stat().st_size == 1_000_000
