"""Several runs of one program at once, runs that are killed, and runs that are ended: none harms another."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from scenario import Scenario, scenario

from noface.model.worker_run import EndedBy

CLIS = ("claude", "codex", "codex-5", "gemini", "opencode", "aider", "mini")
WITH_TOOLS = ("claude", "codex", "gemini", "opencode", "mini")
WORKERS = 4
SHARED = (".claude.json", ".gemini/projects.json", ".aider/installs.json", ".aider/analytics.json")
"""Files in the home that each run may write."""
LADDER_S = 2 + 2
"""How long a program has after SIGINT, and after SIGTERM, before it is killed."""


def runs_its_tool(real):
    """Tell whether the program's shell has started the command of the scenario "busy"."""
    return any(b"sleep\x00974" in command_line(pid) for pid in real.left())


def command_line(pid):
    """Return what a process was started as, b"" where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def wait(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.1)


@pytest.mark.row("two at once")
@pytest.mark.parametrize("cli", CLIS)
def test_four_runs_at_once_that_share_one_home_all_land(real, cli):
    real.play("own_file")
    real.config(cli, workers=WORKERS)
    for number in range(1, WORKERS + 1):
        real.issue(number, f"b{number}.txt")
    done = real.project.noface("run", "--once")
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(real.project.statuses().values()) == {"merged"}
    attempts = [attempt for number in range(1, WORKERS + 1) for attempt in real.project.attempts(str(number))]
    assert [attempt["outcome"] for attempt in attempts] == ["PASSED"] * WORKERS
    latest_start = max(attempt["started_at"] for attempt in attempts)
    assert all(latest_start < attempt["started_at"] + attempt["seconds"] for attempt in attempts), "not at once"
    assert sorted(path.name for path in real.project.path.glob("b*.txt")) == [f"b{n}.txt" for n in range(1, 5)]
    logs = [log.read_text("utf-8", "replace").lower() for log in real.project.state.glob("attempts/*/1/agent.*")]
    assert not [log for log in logs if "database is locked" in log or "lock file" in log or "elocked" in log]
    whole = [json.loads((real.folder / name).read_text()) for name in SHARED if (real.folder / name).exists()]
    assert all(whole)
    # In a sandbox each has a copy of its own, and leaves the person's home as it was.
    assert bool(whole) is (real.sandbox == "none" and cli in ("claude", "gemini", "aider"))
    assert real.left() == []


@pytest.mark.row("kill and resume")
@pytest.mark.parametrize("cli", CLIS)
def test_what_a_killed_noface_was_doing_ends_with_it_and_the_next_run_finishes(real, cli):
    played = real.play("busy" if cli != "aider" else "hang")  # aider's model has no tools
    real.config(cli)
    real.issue(1)
    running = real.project.start("run", "--once")
    wait(lambda: real.model.requests if cli == "aider" else runs_its_tool(real), 60)
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=30)
    wait(lambda: real.left() == [], 10)
    edit, end = scenario("success").answers
    played.scenario = Scenario("goes on", (edit, edit, end))  # the command that was cut off may count as answered
    done = real.project.noface("run", "--once")
    assert done.returncode == 0, done.stdout + done.stderr
    attempts = real.project.attempts("1")
    assert [attempt["outcome"] for attempt in attempts] == ["INTERRUPTED", "PASSED"]
    assert [attempt["charged"] for attempt in attempts] == [False, True]
    assert real.landed() == ["b.txt"]


@pytest.mark.parametrize("cli", WITH_TOOLS)
def test_a_program_that_is_ended_in_the_middle_of_its_work_is_gone_in_time(real, cli):
    real.play("busy")
    ended, _ = real.started(cli, "Do it.", until=lambda: runs_its_tool(real))
    assert ended.ended_by is EndedBy.CANCELLED
    assert real.ending_s < LADDER_S + 3
    assert real.left() == []


@pytest.mark.parametrize(("cli", "lock"), [("claude", ".claude.json.lock"), ("gemini", ".gemini/projects.json.lock")])
def test_a_lock_that_a_killed_run_left_in_the_home_stops_no_other(real, cli, lock):
    """Claude Code writes without it; Gemini CLI waits until it is ten seconds old."""
    real.play("success")
    (real.folder / lock).mkdir(parents=True)
    if cli == "claude":
        an_hour_on = time.time() + 3600
        os.utime(real.folder / lock, (an_hour_on, an_hour_on))
    ended, verdict = real.started(cli, "Write b.txt.")
    assert verdict.error is None
    assert (real.project.path / "b.txt").read_text() == "done\n"
    assert ended.seconds < 60
    if cli == "claude":
        assert (real.folder / lock).exists(), "it never was its own"
        assert json.loads((real.folder / ".claude.json").read_text())["userID"]
