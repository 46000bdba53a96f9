"""What the tests rest on: whatever shell starts them, their children find ordinary surroundings."""

import os
import signal
import subprocess

import pytest

# noface forked from a process that has imported it


@pytest.mark.parametrize("args", [("show", "1"), ("run", "--no-such-flag")])
def test_a_forked_noface_says_and_returns_what_a_started_one_does(project, args):
    project.issue(1)
    started = project.cold(*args)
    forked = project.warm.run([*args], str(project.path), project.environment(), timeout=60)
    assert (forked.returncode, forked.stdout, forked.stderr) == (started.returncode, started.stdout, started.stderr)


def test_a_forked_noface_has_the_folder_the_variables_and_the_death_of_its_own(project):
    project.issue(1)
    project.commit()
    env = project.environment(NOFACE_FAILPOINT="attempt_recorded")
    assert project.warm.run(["run"], str(project.path), env, timeout=60).returncode == -signal.SIGKILL
    project.run()
    assert project.statuses() == {"1": "merged"}
    outside = project.warm.run(["status"], str(project.folder), project.environment(), timeout=60)
    assert outside.returncode == 2


def test_a_project_whose_processes_end_by_themselves_meanwhile_can_be_ended(project):
    mark = {"NOFACE_STATE": str(project.state)}
    child = subprocess.Popen(["sleep", "1000"], env={**os.environ, **mark})

    class GoneOnceListed(type(project)):
        def processes(self):
            pids = super().processes()
            child.kill()
            child.wait()
            return pids

    GoneOnceListed(project.path, project.folder).end()
    assert child.returncode == -signal.SIGKILL
