"""No commit that noface lands or pushes brings what a server refuses that checks what is pushed, on any way to main.

What the newest diff does not show is there all the same: a protected file that was put back, an attempt before, a commit
of a person's. Each run here ends with a real push to a server with `receive.fsckObjects`.

How often that is wrong on honest work: see `test_git_is_asked_what_it_has_against_what_a_commit_brings`.
"""

import subprocess

import pytest
from support.cases import first_ones
from support.git_ground import git
from support.processes import wait_for
from support.remotes import a_remote

WRONG = '[submodule "x"]\n\tpath = x\n\turl = -u./payload\n'
WORK = {"write": "shop.py", "text": "x = 1\n"}
HALF = [{"write": "half.txt", "text": "half"}, {"sleep": 60}]


def modules(text=WRONG, path=".gitmodules"):
    return {"write": path, "text": text}


def put_back(project):
    """A protected file is put back from a change that passes."""
    project.play(("7", 0, [WORK, modules()]))


def mended(project):
    """An attempt is told what a server refuses, and the next takes it out."""
    project.play(("7", 1, [WORK, modules(path="lib/.gitmodules")]), ("7", 0, [WORK, {"shell": "rm -rf lib"}]))


def interrupted(project):
    """An attempt is killed with it in its files; the next takes it out again."""
    project.play(("7", 1, [modules(path="lib/.gitmodules"), *HALF]), ("7", 2, [WORK, {"shell": "rm -rf lib"}]))
    running = project.start("run")
    project.in_slots("half.txt")
    running.kill()
    running.communicate()
    wait_for(lambda: not project.processes())


def of_a_person(project, how=None):
    """A person has committed it to the issue's branch, taken it out again, and given the branch to noface."""
    project.play(("7", 1, [{"write": "bad", "text": "x"}]), ("7", 2, [WORK]))
    project.run("--max-iterations", "1", code=4)
    project.git("switch", "-q", "noface/7")
    project.git("rm", "-q", "bad")
    (how or _committed)(project)
    project.git("switch", "-q", "main")
    assert project.noface("retry", "7").returncode == 0


def _committed(project):
    project.write(".gitmodules", WRONG)
    project.commit("with it")
    project.git("rm", "-q", ".gitmodules")
    project.commit("without")


def by_another_program(project):
    """A person's tool has written a commit that git itself would not."""

    def commit(project):
        project.commit("so far")
        text = project.git("cat-file", "commit", "HEAD").replace("> ", " ", 1) + "\n"
        made = git(project.path, "hash-object", "--literally", "-t", "commit", "-w", "--stdin", stdin=text.encode())
        project.git("reset", "-q", "--soft", made)
        project.write("c.txt", "c\n")
        project.commit("on it")

    of_a_person(project, commit)


WAYS = (put_back, by_another_program, interrupted, mended, of_a_person)


@pytest.mark.parametrize(
    ("way", "style"), first_ones([(way, style) for style in ("merge", "squash") for way in WAYS], rows=True)
)
def test_what_a_server_refuses_is_in_no_history_that_lands(project, way, style):
    project.issue(7, max_attempts=4)
    project.config(f'[landing]\npush = true\nstyle = "{style}"\n')
    project.commit()
    remote = a_remote(project)
    git(remote.path, "config", "receive.fsckObjects", "true")
    way(project)
    project.run()
    assert project.statuses() == {"7": "merged"}
    assert remote.main == project.git("rev-parse", "main")


def test_the_branch_of_refused_work_can_be_pushed_and_the_work_is_kept(project):
    project.issue(7, max_attempts=1)
    project.play(("7", 0, [WORK, modules(path="lib/.gitmodules")]))
    project.config()
    project.commit()
    remote = a_remote(project)
    git(remote.path, "config", "receive.fsckObjects", "true")
    project.run(code=3)
    (attempt,) = project.attempts("7")
    assert (attempt["outcome"], attempt["failure"]["rule"]) == ("BOUNDARY_VIOLATION", "git-fsck")
    assert "lib/.gitmodules (gitmodulesUrl: disallowed submodule url: -u./payload" in attempt["failure"]["message"]
    project.git("push", "-q", "origin", "noface/7")
    assert project.git("show", "noface/7:shop.py") == "x = 1"
    assert "-u./payload" in project.git("show", "refs/noface/issues/7/1:lib/.gitmodules")
    assert subprocess.run(["git", "-C", remote.path, "fsck", "--strict"], check=False).returncode == 0
