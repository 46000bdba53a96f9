"""What the tests rest on: a noface that is forked is like one that is started, and what is left of one is ended."""

import os
import signal
import subprocess

import pytest


@pytest.mark.parametrize("args", [("show", "1"), ("run", "--no-such-flag")])
def test_a_forked_noface_says_and_returns_what_a_started_one_does(project, args):
    project.issue(1)
    started = project.cold(*args)
    forked = project.warm.run([*args], str(project.path), project.environment(), timeout=60)
    assert (forked.returncode, forked.stdout, forked.stderr) == (started.returncode, started.stdout, started.stderr)


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
