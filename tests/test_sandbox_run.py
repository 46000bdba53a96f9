"""noface run in the sandbox: what workers, gates and setup can reach, with the real bubblewrap."""

import os
import shutil

import pytest

from noface.system.sandbox import find_bubblewrap

BUBBLEWRAP = find_bubblewrap(shutil.which("bwrap"))
pytestmark = pytest.mark.skipif(not BUBBLEWRAP.works, reason=f"no sandbox here: {BUBBLEWRAP.problem}")

BOXED = '\n[sandbox]\nkind = "bubblewrap"\n'


def test_an_issue_lands_from_the_sandbox(project):
    project.config(BOXED)
    project.issue(1)
    project.commit()
    project.run()
    assert project.git("show", "main:b.txt") == "done"
