"""What goes away, or is ended, under a worker or a gate by somebody else is charged to nobody and tells nothing."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.cases import first_ones

GOES = {"shell": "while test -e b.txt; do sleep 0.05; done"}
"""The worker waits until its workspace has been removed."""


def test_a_workspace_that_was_removed_is_no_deletion_of_the_workers(project):
    project.play(("1", 1, [{"write": "b.txt", "text": "b"}, GOES]), ("1", 2, [{"write": "c.txt", "text": "c"}]))
    project.issue(1)
    project.commit()
    running = project.start("run")
    project.in_slots("b.txt")
    shutil.rmtree(project.folder / "slots", ignore_errors=True)
    out, _ = running.communicate(timeout=90)
    assert running.returncode == 0, out
    first, second = project.attempts("1")
    assert (first["outcome"], first["charged"], second["outcome"]) == ("AGENT_CRASH", False, "PASSED")
    assert "its workspace was removed while it was at work" in first["failure"]["message"]
    assert project.git("ls-tree", "--name-only", "main", "a.txt", "c.txt").split() == ["a.txt", "c.txt"]


def workspace(project):
    return next((project.folder / "slots").glob("*/agent-*/*/.git")).parent


def make_again(project):
    """Remove the folder, and put another in its place in which the worker goes on."""
    folder = workspace(project)
    folder.rename(project.folder / "old")
    folder.mkdir()


def all_files(project):
    """Remove every file and leave the folders, as cleaners of caches by size do."""
    for folder, _, names in os.walk(workspace(project)):
        for name in names:
            Path(folder, name).unlink()


def half_way(project):
    """Remove the folder's git and most files: what clears it was ended, or is still at it."""
    folder = workspace(project)
    for name in (".git", "issues", "a.txt"):
        subprocess.run(["rm", "-rf", str(folder / name)], check=True)


@pytest.mark.parametrize("lose", first_ones([half_way, make_again, all_files]))
def test_what_is_left_of_a_workspace_that_somebody_cleared_is_not_judged(project, lose):
    """The worker writes its last file after that: by itself it would pass every gate."""
    go_on = project.folder / "go-on"
    last = f"until test -e {go_on}; do sleep 0.05; done; cd {project.folder}/slots/*/agent-*/*/ && echo c > c.txt"
    project.play(
        ("1", 1, [{"write": "b.txt", "text": "b"}, {"shell": last}]),
        ("1", 2, [{"write": "b.txt", "text": "b"}, {"write": "c.txt", "text": "c"}]),
    )
    project.config(gate="test ! -e bad")
    project.issue(1)
    project.commit()
    running = project.start("run")
    project.in_slots("b.txt")
    lose(project)
    go_on.touch()
    out, _ = running.communicate(timeout=90)
    assert running.returncode == 0, out
    first, second = project.attempts("1")
    assert (first["outcome"], first["charged"], second["outcome"]) == ("AGENT_CRASH", False, "PASSED"), out
    assert project.git("ls-tree", "--name-only", "main", "a.txt", "b.txt", "c.txt").split() == [
        "a.txt",
        "b.txt",
        "c.txt",
    ]


@pytest.mark.thorough
def test_a_workspace_that_was_cleared_between_two_runs_is_set_up_anew(project):
    setup = '[project]\nsetup = "mkdir -p deps && echo lib > deps/lib"\nkeep = ["deps"]\n'
    project.write(".gitignore", "deps/\n")
    project.play(("*", 0, [{"shell": "test -e deps/lib && cp issues/$(ls issues | tail -1) b.txt"}]))
    project.config(setup, gate="test ! -e bad && test -e deps/lib")
    project.issue(1)
    project.commit()
    project.run()
    shutil.rmtree(project.folder / "slots")
    project.issue(2)
    project.commit()
    project.run()
    assert [attempt["outcome"] for attempt in project.attempts("2")] == ["PASSED"]


@pytest.mark.parametrize("kind", first_ones(["test", "build"]))
def test_a_gate_that_somebody_kills_once_is_run_again_for_nothing(project, kind):
    once = project.folder / "once"
    gate = f"test ! -e b.txt || test -e {once} || {{ touch {once}; kill -9 $$; }}"
    project.config(f'[[gates]]\\nname = "second"\\nkind = "{kind}"\\ncommand = "{gate}"\\n'.replace("\\n", "\n"))
    project.issue(1)
    project.commit()
    out = project.run()
    assert project.statuses() == {"1": "merged"}
    (attempt,) = project.attempts("1")
    assert attempt["outcome"] == "PASSED", out
    assert "SIGKILL" in out


@pytest.mark.parametrize("ends", first_ones(["exit 0", "exit 1", "test -e a.txt"]))
@pytest.mark.parametrize("what", first_ones(["*/*", "*/gate-*/*/.git", "*/gate-*/*/*", "*/gate-*/*/deps"]))
def test_a_gate_whose_folder_was_cleared_away_is_run_again_in_a_new_one(project, ends, what):
    once = project.folder / "once"
    clears = f"rm -rf {project.folder}/slots/{what}"
    setup = '[project]\nsetup = "mkdir -p deps && echo lib > deps/lib"\nkeep = ["deps"]\n'
    project.write(".gitignore", "deps/\n")
    project.config(setup, gate=f"test ! -e b.txt || test -e {once} || {{ touch {once}; {clears}; {ends}; }}")
    project.issue(1)
    project.commit()
    out = project.run()
    assert project.statuses() == {"1": "merged"}, out
    assert [attempt["outcome"] for attempt in project.attempts("1")] == ["PASSED"]


@pytest.mark.thorough
def test_an_accept_that_a_failed_build_kept_from_running_is_not_taken_for_green(project):
    once = project.folder / "once"
    build = f"test -e {once} || {{ touch {once}; exit 0; }}; test $(wc -l < {once}) -ge 1 || {{ echo x >> {once}; exit 1; }}"
    project.config(f'[[gates]]\nname = "make"\nkind = "build"\ncommand = "{build}"\n')
    project.issue(1, accept=["test -e b.txt"])
    project.commit()
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert project.git("ls-tree", "--name-only", "main", "b.txt") == "b.txt"


@pytest.mark.thorough
def test_a_worker_that_removes_the_file_that_was_too_big_is_judged_by_the_gates(project):
    big = [
        {"write": "b.txt", "text": "b"},
        {"shell": "truncate -s 60M dump.bin && head -c 60000000 /dev/urandom > dump.bin"},
    ]
    project.play(("1", 1, big), ("1", 2, [{"shell": "rm -f dump.bin"}]))
    project.issue(1)
    project.commit()
    project.run()
    assert [attempt["outcome"] for attempt in project.attempts("1")] == ["LINT_FAILURE", "PASSED"]
