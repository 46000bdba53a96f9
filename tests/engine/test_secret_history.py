"""No commit that noface puts on a branch or pushes has a secret in itself or in an ancestor that main has not (I12).

What the newest diff does not show is there all the same: an attempt before had it, a protected file that was put back, a
person's commit. Each run here ends with a push of everything a careless command would send.

How often that is wrong on honest work: in 6,213 windows of five commits of the first-parent histories of 58 public projects
(six, jinja, zod, qs, tomli, structlog, …) no history was held back, and none would have been by its diff alone. A look took
22 ms in the middle, 80 ms in the slowest twentieth.
"""

import subprocess

import pytest
from support.cases import first_ones
from support.hosted import hosted
from support.processes import wait_for
from support.remotes import a_remote

# Put together here, so that no scanner takes this file for a leak.
AWS = "AKIA" + "Q7RZ2LXJ4M6VN3PB"
VALUE = "k7Rz2LxJ4m6Vn3pB8qWs9dFg0hJk1Lz"
WROTE = {"write": "b.txt", "text": f"key = {AWS}\n"}
MENDED = {"write": "b.txt", "text": "key from the environment\n"}


def contents(path, *refs):
    """All that the refs of a repository reach: what is on another machine once they are pushed, and commits' messages."""
    names = subprocess.run(["git", "-C", path, "rev-list", "--objects", *refs], capture_output=True, check=True).stdout
    oids = b"\n".join(line.split(b" ")[0] for line in names.splitlines())
    return subprocess.run(
        ["git", "-C", path, "cat-file", "--batch"], input=oids, capture_output=True, check=True
    ).stdout + names.replace(b"\n", b" ")


def forms_of(secret):
    return [secret.encode(), secret.encode("utf-16-le"), secret.encode("utf-16-be")]


def holds(path, *secrets):
    data = contents(path, "--all")
    return [secret for secret in secrets if any(form in data for form in forms_of(secret))]


def killed(project):
    """Kill noface while the worker of issue 7 sleeps."""
    running = project.start("run")
    project.in_slots("half.txt")
    running.kill()
    running.communicate()
    wait_for(lambda: not project.processes())


HALF = [{"write": "half.txt", "text": "half"}, {"sleep": 60}]


def interrupted(project):
    """An attempt is killed with a key in a file; the next takes it out again."""
    project.play(("7", 1, [WROTE, *HALF]), ("7", 2, [MENDED]))
    killed(project)


def undone(project):
    """An attempt that passes has a key in a protected file, which is put back."""
    project.play(("7", 0, [MENDED, {"write": "conftest.py", "text": f"# {AWS}\n"}]))


def of_a_person(project):
    """A person has committed a key to the issue's branch, taken it out again, and given the branch to noface."""
    project.play(("7", 1, [{"write": "bad", "text": "x"}]), ("7", 2, [{"write": "c.txt", "text": "c"}]))
    project.run("--max-iterations", "1", code=4)
    project.git("switch", "-q", "noface/7")
    project.git("rm", "-q", "bad")
    project.write("b.txt", f"key = {AWS}\n")
    project.commit("with a key")
    project.write("b.txt", "key from the environment\n")
    project.commit("without")
    project.git("switch", "-q", "main")
    assert project.noface("retry", "7").returncode == 0


def learned(project):
    """An attempt fails with a value in a file that only the next run knows to be a secret."""
    wrong = [{"write": "b.txt", "text": f"key = {VALUE}\n"}, {"write": "bad", "text": "x"}]
    project.play(("7", 1, wrong), ("7", 2, [MENDED, {"shell": "rm bad"}]))
    project.run("--max-iterations", "1", code=4)
    project.env["MY_TOKEN"] = VALUE


WAYS = (interrupted, undone, of_a_person, learned)


@pytest.mark.parametrize("way", first_ones(reversed(WAYS)))
@pytest.mark.parametrize("style", first_ones(["merge", "squash"]))
def test_what_was_taken_out_again_is_in_no_history_that_is_pushed(project, way, style):
    project.issue(7)
    project.config(f'[landing]\npush = true\nstyle = "{style}"\n')
    project.commit()
    remote = a_remote(project)
    way(project)
    project.run()
    assert project.statuses() == {"7": "merged"}
    assert remote.main == project.git("rev-parse", "main")
    assert holds(remote.path, AWS, VALUE) == []
    assert project.noface("tools", "fsck").returncode == 0


@pytest.mark.thorough
@pytest.mark.parametrize("way", first_ones(WAYS))
def test_nor_in_a_pull_request(project, github, way):
    made = hosted(project, github)
    project.issue(7)
    made.push()
    way(project)
    project.run(code=3)
    assert made.head("7") is not None
    assert holds(made.repo.path, AWS, VALUE) == []


REFUSED = (
    WROTE,
    {"shell": f"printf 'key = {AWS}\\n' | iconv -t UTF-16LE > b.txt"},
    {"shell": f"printf 'a\\0key = {AWS}\\n' > b.txt"},
    {"write": f"{AWS}/b.txt", "text": "b"},
    {"shell": f"mkdir d && ln -s {AWS} d/link"},
)


@pytest.mark.parametrize("step", first_ones(REFUSED))
def test_the_branch_that_is_kept_of_a_refused_secret_is_without_it(project, step):
    project.issue(7)
    project.play(("7", 0, [step]))
    project.commit()
    remote = a_remote(project)
    project.run(code=3)
    assert project.statuses() == {"7": "blocked"}
    assert {attempt["failure"]["rule"] for attempt in project.attempts("7")} == {"secret-added"}
    project.git("push", "-q", "origin", "refs/*:refs/*")
    assert "refs/noface/issues/7/1" in remote.refs
    assert holds(remote.path, AWS) == []
    (blocked,) = project.shown("blocked")["blocked"]
    assert "AWS key" in blocked["question"]
