"""How many git processes a further issue starts: each costs milliseconds, and a new one is seen here and nowhere else."""

import os
import shutil
from collections import Counter

LOGGED = """#!/bin/sh
case " $* " in *" core.hooksPath=/dev/null "*) echo "$*" >> {log} ;; esac
exec {git} "$@"
"""
FURTHER = {
    # Main's files come, into the worker's workspace, the gate's, and the person's checkout.
    "read-tree": 3,
    # The snapshot.
    "add": 1,
    "write-tree": 1,
    "diff-tree": 1,
    # What refs hold is in the repository before: the snapshot, the attempt's last commit, and the landing's.
    "pack-objects": 3,
    # The landing, in the person's checkout.
    "status": 1,
    "checkout-index": 1,
    "update-ref": 1,
    "config": 1,
    # Where main is checked out, before its ref is locked and after.
    "worktree": 2,
    "symbolic-ref": 1,
    # Whether what would stand on a branch, or go to main, holds a secret.
    "log": 4,
}


def command_of(line):
    words = iter(line.split())
    for word in words:
        if word in ("-c", "-C"):
            next(words)
        else:
            return word
    return ""


def test_a_further_issue_starts_the_git_processes_of_the_table_and_no_others(project):
    log, program = project.folder / "git.log", project.folder / "bin" / "git"
    program.parent.mkdir()
    program.write_text(LOGGED.format(log=log, git=shutil.which("git")))
    program.chmod(0o755)
    project.play(("*", 0, [{"shell": f"echo agent >> {log}; echo $NOFACE_ISSUE_ID > made-$NOFACE_ISSUE_ID.txt"}]))
    for number in (1, 2, 3):
        project.issue(number)
    project.commit()
    log.unlink(missing_ok=True)
    project.run(PATH=f"{program.parent}:{os.environ['PATH']}")
    assert len(project.git("log", "--first-parent", "--format=%h", "--grep=Noface-Issue", "main").split()) == 3
    one = log.read_text().split("agent\n")[2]  # from the second agent's work to the third's
    assert Counter(map(command_of, one.splitlines())) == FURTHER
