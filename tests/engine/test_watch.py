"""`noface run --watch` waits for new issues, and `--awake` keeps the machine from sleeping meanwhile."""

import signal
import time

import psutil
import pytest
from support.processes import wait_for


def test_a_run_that_watches_goes_on_with_issues_that_come_and_ends_by_a_limit(project):
    project.play(*((name, 0, [{"write": f"{name}.txt", "text": "b"}]) for name in "12"))
    project.issue(1)
    project.commit("one")
    run = project.start("run", "--watch", "--max-iterations", "2")
    wait_for(lambda: project.statuses().get("1") == "merged", 60)
    time.sleep(1.5)  # longer than a tick: a run that does not watch has ended
    project.issue(2)
    project.commit("two")
    out = run.communicate(timeout=60)[0]
    assert project.statuses() == {"1": "merged", "2": "merged"}, out
    assert out.count("everything waits: for new issues (--watch)") == 1
    assert "All done. 2 issues" in out


def test_a_watch_whose_time_is_over_says_so_whatever_it_has_left(project):
    project.noface("config", "set", "run.max_hours", "0.0005")
    project.commit("short")
    done = project.noface("run", "--watch")
    assert "Stopped at the limit max_hours: 0.0005 h." in done.stdout
    assert done.returncode == 4


@pytest.mark.thorough
def test_the_machine_is_kept_awake_while_a_run_is_at_work_and_sleeps_when_it_is_killed(project):
    bin_ = project.folder / "bin"
    bin_.mkdir()
    (bin_ / "systemd-inhibit").write_text(f'#!/bin/sh\necho $$ > {bin_}/pid\nshift 3\nexec "$@"\n')
    (bin_ / "systemd-inhibit").chmod(0o755)
    run = project.start("run", "--watch", "--awake", PATH=f"{bin_}:/usr/bin:/bin")
    pid = int(wait_for(lambda: (bin_ / "pid").exists() and (bin_ / "pid").read_text(), 30))
    assert psutil.Process(pid).cmdline()[0].endswith("cat")
    run.send_signal(signal.SIGKILL)
    run.wait(30)
    wait_for(lambda: not psutil.pid_exists(pid), 30)


def test_watch_and_once_are_refused_together(project):
    assert project.noface("run", "--watch", "--once").returncode == 2
