"""One answer of the persistent git is never taken for another question's."""

import os
import shutil
import signal
from dataclasses import replace

import pytest
from support.git_ground import a_bench

from noface.git.command import Git
from noface.git.objects import ObjectReader


class InterruptedHereError(Exception):
    """What the signal raises in the middle of a question."""


def test_question_that_was_interrupted_leaves_no_answer_to_the_next(tmp_path):
    bench = a_bench(tmp_path, {"a.txt": "a\n"})
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(
        f"""#!/bin/sh
read -r line
[ -e '{tmp_path}/told' ] || {{ touch '{tmp_path}/told'; kill -USR1 $PPID; }}
{{ echo "$line"; cat; }} | {shutil.which("git")} "$@"
"""
    )
    program.chmod(0o755)

    def interrupt(*_):
        raise InterruptedHereError

    before = signal.signal(signal.SIGUSR1, interrupt)
    sealed = Git.sealed(str(bench.path / ".git"))
    environment = (*sealed.environment, ("PATH", f"{program.parent}:{os.environ['PATH']}"))
    lookup = ObjectReader(replace(sealed, environment=environment), bench.path / ".git/objects/pack")
    try:
        with pytest.raises(InterruptedHereError):
            lookup.resolve("HEAD^{tree}")
        assert lookup.resolve("HEAD") == bench.main
    finally:
        lookup.close()
        signal.signal(signal.SIGUSR1, before)
