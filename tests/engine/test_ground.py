"""Every run begins with the remote's main: real bare repositories, real runs (laws 1, 3 and 7)."""

import json
import signal
from pathlib import Path

import pytest
from support.cases import first_ones
from support.processes import wait_for
from support.remotes import a_remote

KILLED = -signal.SIGKILL
FOLLOWING = ("follow_recorded", "landing_files_updated", "followed")


def a_project(project, landing=""):
    """A project with one issue and a remote that has all of its main."""
    project.issue(7)
    project.config(landing)
    project.commit()
    return a_remote(project)


def told(output):
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def of(lines, event):
    return [line for line in lines if line.get("event") == event]


# Nothing is sent anywhere without being asked


def test_without_the_keys_nothing_is_pushed_ever(project):
    remote = a_project(project)
    before = remote.refs, remote.main
    assert "lacks" not in project.run()
    assert project.statuses() == {"7": "merged"}
    project.issue(8)
    project.play(("8", 0, [{"write": "c.txt", "text": "c"}]))
    project.commit()
    output = project.run()
    assert "main has 3 commits that origin/main lacks; noface pushes nothing" in " ".join(output.split())
    assert (remote.refs, remote.main, remote.pushes) == (*before, [])


# Behind


def test_a_main_that_is_behind_follows_after_its_gates_have_run_there(project):
    remote = a_project(project)
    remote.git("tag", "v1")
    theirs = remote.commit(new_txt="n")
    project.write("a.txt", "one\nmine\n")
    tracking, config = project.git("for-each-ref", "refs/remotes", "refs/tags"), project.path / ".git" / "config"
    before = config.read_bytes()
    lines = told(project.run("--json"))
    (followed,) = of(lines, "main_followed")
    assert (followed["remote"], followed["commit"]) == ("origin/main", theirs)
    assert [line["state"] for line in of(lines, "remote_main")] == ["behind"]
    assert project.git("merge-base", "main", theirs) == theirs
    assert (project.path / "new.txt").read_text() == "n"
    assert project.git("status", "--porcelain") == "M a.txt"
    assert remote.pushes == []
    assert (project.git("for-each-ref", "refs/remotes", "refs/tags"), config.read_bytes()) == (tracking, before)


def test_local_changes_in_the_way_of_what_was_fetched_are_named_and_kept(project):
    remote = a_project(project)
    remote.commit(a_txt="two\n")
    project.write("a.txt", "mine\n")
    before = project.git("rev-parse", "main")
    output = " ".join(project.run(code=3).split())
    assert "main cannot follow origin/main" in output
    assert "a.txt" in output
    assert (project.path / "a.txt").read_text() == "mine\n"
    assert project.git("rev-parse", "main") == before


@pytest.mark.thorough
@pytest.mark.parametrize("kind", first_ones(["kill", "raise"]))
@pytest.mark.parametrize("name", first_ones(FOLLOWING[::-1]))
def test_a_run_killed_or_failing_while_main_follows_is_brought_to_an_end(project, name, kind):
    remote = a_project(project)
    theirs = remote.commit(new_txt="n")
    ended = project.noface("run", NOFACE_FAILPOINT=f"{name}:1:{kind}")
    assert ended.returncode == (KILLED if kind == "kill" else 0)
    wait_for(lambda: not project.processes())
    if kind == "kill":
        newer = remote.commit(newer_txt="n")
        project.run()
        assert project.git("rev-list", "--count", f"main..{newer}") == "0"
        assert (project.path / "newer.txt").exists()
    assert project.statuses() == {"7": "merged"}
    assert project.git("merge-base", "main", theirs) == theirs
    assert project.git("status", "--porcelain") == ""


def test_what_another_machine_has_landed_is_merged_here_too(project):
    remote = a_project(project)
    base = project.git("rev-parse", "main")
    remote.commit(f"Issue 7\n\nNoface-Issue: 7\nNoface-Attempt: 1\nNoface-Base: {base}\n", b_txt="b")
    lines = told(project.run("--json"))
    assert project.statuses() == {"7": "merged"}
    assert not of(lines, "attempt_started")


# Diverged, unreachable, missing


def test_mains_that_went_different_ways_stop_the_run_before_any_worker(project):
    remote = a_project(project)
    remote.commit(new_txt="n")
    project.write("mine.txt", "m")
    project.commit()
    output = " ".join(project.run(code=3).split())
    assert "main and origin/main went different ways: main has 1 commit that origin/main lacks" in output
    assert "git pull --rebase origin main" in output
    assert project.shown("show", "7")["attempts"] == []


def test_a_remote_that_cannot_be_reached_is_told_and_the_run_goes_on(project):
    a_project(project)
    project.git("config", "remote.origin.url", "http://pat:hunter2@127.0.0.1:9/x.git")
    lines = told(project.run("--json"))
    (line,) = of(lines, "remote_main")
    assert line["state"] == "unreachable"
    assert "hunter2" not in json.dumps(lines)
    assert project.statuses() == {"7": "merged"}


def test_a_person_can_end_a_run_whose_remote_hangs(project):
    a_project(project)
    pid = project.folder / "pid"
    program = project.folder / "upload-pack"
    program.write_text(f"#!/bin/sh\necho $$ > '{pid}'\nexec sleep 1000\n")
    program.chmod(0o755)
    project.git("config", "remote.origin.uploadpack", str(program))
    process = project.start("run")
    wait_for(lambda: pid.exists() and pid.read_text().strip())
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    wait_for(lambda: not alive(pid.read_text().strip()))
    assert project.shown("show", "7")["attempts"] == []


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
