"""What goes away, or is ended, under a worker or a gate by somebody else is charged to nobody and tells nothing."""

import shutil

import pytest


def test_a_workspace_that_was_removed_is_no_deletion_of_the_workers(project):
    project.play(("1", 1, [{"write": "b.txt", "text": "b"}, {"sleep": 3}]), ("1", 2, [{"write": "c.txt", "text": "c"}]))
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


def test_nor_is_one_that_went_with_a_killed_noface(project):
    running = project.half_done()
    running.kill()
    running.communicate()
    shutil.rmtree(project.folder / "slots", ignore_errors=True)
    project.run()
    assert project.statuses() == {"1": "merged"}


@pytest.mark.parametrize("kind", ["build", "test"])
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


@pytest.mark.parametrize("ends", ["exit 0", "test -e a.txt"])
def test_a_gate_whose_folder_was_cleared_away_is_run_again_in_a_new_one(project, ends):
    once = project.folder / "once"
    clears = f"rm -rf {project.folder}/slots/*/*"
    project.config(gate=f"test ! -e b.txt || test -e {once} || {{ touch {once}; {clears}; {ends}; }}")
    project.issue(1)
    project.commit()
    out = project.run()
    assert project.statuses() == {"1": "merged"}, out
    assert [attempt["outcome"] for attempt in project.attempts("1")] == ["PASSED"]


def test_an_accept_that_a_failed_build_kept_from_running_is_not_taken_for_green(project):
    once = project.folder / "once"
    build = f"test -e {once} || {{ touch {once}; exit 0; }}; test $(wc -l < {once}) -ge 1 || {{ echo x >> {once}; exit 1; }}"
    project.config(f'[[gates]]\nname = "make"\nkind = "build"\ncommand = "{build}"\n')
    project.issue(1, accept=["test -e b.txt"])
    project.commit()
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert project.git("ls-tree", "--name-only", "main", "b.txt") == "b.txt"


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
