"""What the tests rest on: a noface that is forked is like one that is started."""

import pytest


@pytest.mark.parametrize("args", [("show", "1"), ("run", "--no-such-flag")])
def test_a_forked_noface_says_and_returns_what_a_started_one_does(project, args):
    project.issue(1)
    started = project.cold(*args)
    forked = project.warm.run([*args], str(project.path), project.environment(), timeout=60)
    assert (forked.returncode, forked.stdout, forked.stderr) == (started.returncode, started.stdout, started.stderr)
