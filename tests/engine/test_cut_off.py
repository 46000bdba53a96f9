"""What a worker had done when it was cut off is gone on from: its files by anybody, its session by the same agent."""

import json
import os
import shutil
import signal

import pytest
from support.claude_program import claude
from support.processes import wait_for

from noface.process.sandbox import find_bubblewrap

BOX = "bubblewrap" if find_bubblewrap(shutil.which("bwrap")).works else "none"
BROKEN = "def half(:\n"


def killed_half_way(project):
    """Kill noface while the worker of issue 1 sleeps with half.txt written."""
    running = project.start("run")
    project.in_slots("half.txt")
    running.kill()
    running.communicate()
    wait_for(lambda: not project.processes())


@pytest.mark.thorough
def test_a_resumed_worker_is_told_what_conflicts_with_its_work_and_whose_landing_it_was(project):
    """What lies in its files in conflict is main's: its conversation knows them otherwise."""
    claude(project, ("1", 1, [{"write": "other.txt", "text": "half"}, *HALF]), ("1", 2, REST))
    killed_half_way(project)
    project.write("half.txt", "theirs\n")
    commit = project.commit("Write half differently")
    project.run()
    now = asked(project, 2)[-1]
    assert "but for half.txt: main has changed there in the same places since" in now
    assert f"{commit[:7]}: Write half differently" in now
    assert "+theirs" in now


def asked(project, number, log="agent.log"):
    """Return the conversation that an attempt's agent has sent to its model, a text for each message."""
    lines = (project.state / f"attempts/1/{number}/{log}").read_text().splitlines()
    sent = [entry for entry in map(json.loads, lines) if entry["type"] == "asked"]
    return [message["content"] for message in sent[-1]["messages"]] if sent else []


HALF = [{"write": "half.txt", "text": "half"}, {"sleep": 60}]
REST = [{"write": "b.txt", "text": "b"}]


def test_a_killed_worker_goes_on_in_its_session_with_its_files(project):
    claude(project, ("1", 1, HALF), ("1", 2, REST), sandbox=BOX)
    killed_half_way(project)
    project.issue(1, "Write two files", "Write half.txt and b.txt, in English.")
    project.write("more.txt", "meanwhile\n")
    project.commit("main moves on")
    out = project.run()
    first, second = project.attempts("1")
    assert (first["outcome"], first["charged"], second["outcome"]) == ("INTERRUPTED", False, "PASSED")
    assert first["session_id"] == second["session_id"]
    assert second["resumed"] == {"session": first["session_id"], "attempt": 1, "refused": ""}
    assert "attempt 2 with small, in its session of attempt 1" in out
    assert "went on with its session of attempt 1" in project.noface("show", "1").stdout
    before, did, now = asked(project, 2)[:2] + asked(project, 2)[-1:]
    assert "Write half.txt and b.txt." in before
    assert "half.txt" in did
    assert now.strip() == project.prompt("1", 2).strip()
    assert "because the run was stopped" in now
    assert "merged with main, which has changed since" in now
    assert "Write half.txt and b.txt, in English." in now
    assert project.git("show", "main:half.txt") == "half"


def test_an_agent_that_does_not_find_its_session_begins_afresh_in_the_same_attempt(project):
    claude(project, ("1", 1, HALF), ("1", 2, REST))
    killed_half_way(project)
    shutil.rmtree(project.folder / ".claude")
    out = project.run()
    first, second = project.attempts("1")
    assert [second["outcome"], project.statuses()["1"]] == ["PASSED", "merged"]
    assert second["session_id"] != first["session_id"]
    assert "No conversation found" in second["resumed"]["refused"]
    assert "1 small could not go on with its session of attempt 1, and began afresh: No conversation found" in out
    assert "No conversation found" in (project.state / "attempts/1/2/refused.log").read_text()
    (told,) = asked(project, 2)
    assert "Write half.txt and b.txt." in told
    assert "Attempt 1 was cut off, through no fault of the work." in told
    assert "It was cut off because the run was stopped." in told
    assert project.git("show", "main:half.txt") == "half"


@pytest.mark.thorough
def test_what_was_done_when_the_limit_came_counts_even_if_nothing_is_left_to_do(project):
    claude(project, ("1", 1, [*HALF[:1], *REST, {"limit": 1}]), ("1", 2, []))
    project.run()
    first, second = project.attempts("1")
    assert (first["outcome"], first["charged"], second["outcome"]) == ("RATE_LIMITED", False, "PASSED")
    assert first["session_id"] == second["session_id"]
    assert "because the provider's limit was reached" in asked(project, 2)[-1]
    assert project.git("show", "main:half.txt") == "half"


def test_what_is_half_written_or_not_allowed_is_named_to_the_worker_who_goes_on(project):
    steps = [{"write": "half.py", "text": BROKEN}, {"write": "conftest.py", "text": "x = 1\n"}, *HALF]
    running = project.half_done(("1", 1, steps), ("1", 2, [{"write": "half.py", "text": "def half(): ...\n"}]))
    running.send_signal(signal.SIGINT)
    running.communicate()
    project.run()
    told = project.prompt("1", 2)
    assert "These files do not parse, they may be half written: `half.py:1`" in told
    assert project.git("ls-tree", "--name-only", "main").split() == [
        "a.txt",
        "half.py",
        "half.txt",
        "issues",
        "noface.toml",
    ]


@pytest.mark.thorough
def test_a_worker_that_is_stopped_together_with_noface_is_interrupted(project):
    running = project.half_done()
    for pid in project.processes():  # as the end of a service or a container stops each process of it
        os.kill(pid, signal.SIGTERM)
    running.send_signal(signal.SIGTERM)
    running.communicate()
    assert [(each["outcome"], each["charged"]) for each in project.attempts("1")] == [("INTERRUPTED", False)]
    project.run()
    assert project.git("show", "main:half.txt") == "half"


@pytest.mark.thorough
def test_work_that_noface_itself_could_not_take_in_is_kept_for_the_next_run(project):
    project.play(("1", 1, [*HALF[:1], *REST]), ("1", 2, []))
    project.issue(1)
    project.commit()
    done = project.noface("run", NOFACE_FAILPOINT="snapshot_taken:1:enospc")
    assert done.returncode == 1
    project.run()
    assert project.git("show", "main:half.txt") == "half"
