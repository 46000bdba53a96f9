"""A Ctrl-C that reaches a git command before it has a session of its own."""

import os
import shutil
from dataclasses import replace

import pytest

from noface.git.command import Git

ENDED = """#!/bin/bash
echo >> {calls}
[ $(wc -l < {calls}) -lt {works_at} ] && kill -INT $$
exec {git} "$@"
"""


@pytest.mark.parametrize(("works_at", "code"), [(1, 0), (2, 0), (9, -2)])
def test_a_command_that_ctrl_c_ends_before_it_has_begun_is_begun_again(tmp_path, works_at, code):
    calls, program = tmp_path / "calls", tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(ENDED.format(calls=calls, works_at=works_at, git=shutil.which("git")))
    program.chmod(0o755)
    git = Git.sealed(str(tmp_path))
    git = replace(git, environment=(*git.environment, ("PATH", f"{program.parent}:{os.environ['PATH']}")))
    assert git.run("hash-object", "--stdin", stdin="a\n").code == code
    assert len(calls.read_text()) == min(works_at, 3)
