"""`[landing] push = true`: the remote's main moves first, by compare-and-swap, and main here never goes another way."""

import signal

import pytest
from support.cases import first_ones
from support.processes import wait_for
from support.remotes import a_remote

from noface.remote.lease import LEASE

KILLED = -signal.SIGKILL
PUSH = "[landing]\npush = true\n"
KILLS = ("landing_pushed", "landing_intent", "landing_files_updated")


@pytest.fixture
def remote(project):
    """The remote of a project with one issue, whose landings are pushed."""
    project.issue(7)
    project.config(PUSH)
    project.commit()
    return a_remote(project)


def main(project):
    return project.git("rev-parse", "main")


def landings(project):
    """The issues that main's history names, each as often as it landed."""
    return project.git("log", "--first-parent", "--format=%(trailers:key=Noface-Issue,valueonly)", "main").split()


def test_each_landing_is_pushed_and_nothing_else(project, remote):
    project.issue(8)
    project.play(("7", 0, [{"write": "b.txt", "text": "b"}]), ("8", 0, [{"write": "c.txt", "text": "c"}]))
    project.commit()
    project.git("push", "-q", "origin", "main")
    (remote.path / "pushes").unlink()
    project.run()
    pushed = [ref for ref in remote.pushes if ref != LEASE]
    assert pushed == ["refs/heads/main"] * 2
    assert remote.main == main(project)
    assert remote.refs == ["refs/heads/main"]
    assert project.git("status", "--porcelain") == ""
    assert project.noface("tools", "fsck").returncode == 0


def test_a_push_that_comes_too_late_is_proven_anew_on_what_is_there(project, remote):
    theirs = remote.path.parent / "theirs.sh"
    other = project.folder / "other"
    project.git("clone", "-q", str(remote.path), str(other))
    theirs.write_text(
        f"cd '{other}' && git config user.email a@b && git config user.name Ann && echo t > theirs.txt"
        " && git add -A && git commit -qm theirs && git push -q\n"
    )
    project.play(("7", 0, [{"write": "b.txt", "text": "b"}, {"shell": f"env -u GIT_DIR sh '{theirs}'"}]))
    project.run()
    assert remote.main == main(project)
    assert (project.path / "theirs.txt").exists()
    assert landings(project) == ["7"]
    assert project.noface("tools", "fsck").returncode == 0


@pytest.mark.thorough
def test_work_that_another_machine_has_landed_meanwhile_is_not_landed_twice(project, remote):
    other = project.folder / "other"
    project.git("clone", "-q", str(remote.path), str(other))
    theirs = project.folder / "theirs.sh"
    theirs.write_text(
        f"cd '{other}' && git config user.email a@b && git config user.name Ann && echo t > b.txt && git add -A"
        ' && git commit -q -m theirs -m "Noface-Issue: 7\nNoface-Base: $(git rev-parse HEAD)" && git push -q\n'
    )
    project.play(("7", 0, [{"write": "b.txt", "text": "b"}, {"shell": f"sh '{theirs}'"}]))
    project.run()
    assert project.statuses() == {"7": "merged"}
    assert remote.git("log", "-1", "--format=%s", "main") == "theirs"
    project.run()  # main follows
    assert remote.main == main(project)
    assert landings(project) == ["7"]


def test_commits_of_the_person_are_not_pushed_along(project, remote):
    project.write("mine.txt", "m")
    project.commit()
    before = remote.main
    output = " ".join(project.run(code=3).split())
    assert "main has 1 commit that origin/main lacks: the push of a landing would take them along" in output
    assert "git push origin main" in output
    assert (remote.main, set(remote.pushes)) == (before, {LEASE})
    assert project.shown("show", "7")["attempts"] == []
    project.git("push", "-q", "origin", "main")
    project.run()


@pytest.mark.parametrize("kind", first_ones(["kill", "raise"]))
@pytest.mark.parametrize("name", first_ones(KILLS))
def test_a_run_that_is_killed_or_fails_anywhere_around_the_push_lands_once(project, remote, name, kind):
    ended = project.noface("run", NOFACE_FAILPOINT=f"{name}:1:{kind}")
    assert ended.returncode == (KILLED if kind == "kill" else 0), name
    wait_for(lambda: not project.processes())
    project.run()
    assert landings(project) == ["7"]
    assert remote.main == main(project)
    assert project.git("status", "--porcelain") == ""
    assert project.statuses() == {"7": "merged"}
    assert project.noface("tools", "fsck").returncode == 0
