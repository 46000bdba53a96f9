"""What a person took back from main (amend, rebase, reset, filter) stays away from it, though work began on it."""

import pytest
from support.cases import first_ones

WHOLE = [{"write": "b.txt", "text": "b"}]
SLOW = [*WHOLE, {"sleep": 2}]
FILTER = ("filter-branch", "-f", "--index-filter", "git rm -q --cached --ignore-unmatch oops.txt", "main")
WAYS = {
    "amended": [("rm", "-q", "oops.txt"), ("commit", "-q", "--amend", "--allow-empty", "-m", "without it")],
    "rebased": [("commit", "-q", "--allow-empty", "-m", "later"), ("rebase", "-q", "--onto", "HEAD~2", "HEAD~1")],
    "reset": [("reset", "-q", "--hard", "HEAD~1")],
    "filtered from the root": [FILTER, ("reset", "-q", "--hard")],
}


def published_by_mistake(project, *plays):
    """Main's newest commit adds oops.txt; return its id."""
    project.play(*plays or (("*", 0, SLOW),))
    project.issue(1)
    project.commit()
    project.write("oops.txt", "a password\n")
    return project.commit("oops")


def take_back(project, way):
    for command in WAYS[way]:
        project.env["FILTER_BRANCH_SQUELCH_WARNING"] = "1"
        project.git(*command)


def landed_without(project, oops, file="b.txt"):
    files = project.git("ls-tree", "-r", "--name-only", "main").split()
    return (file in files, "oops.txt" in files, oops in project.git("rev-list", "main").split()) == (True, False, False)


@pytest.mark.parametrize("way", first_ones(WAYS))
def test_work_that_began_on_what_was_taken_back_lands_alone(project, way):
    oops = published_by_mistake(project)
    running = project.start("run")
    project.in_slots("b.txt")
    take_back(project, way)
    out, _ = running.communicate(timeout=90)
    assert running.returncode == 0, out
    assert landed_without(project, oops)
    assert len(project.attempts("1")) == 1
    assert "began on commits that were taken back from main" in out


def test_a_landing_that_a_person_took_back_before_it_was_recorded_does_not_come_again(project):
    published_by_mistake(project, ("*", 0, WHOLE))
    before = project.git("rev-parse", "main")
    project.noface("run", NOFACE_FAILPOINT="landing_ref_moved")
    assert project.git("rev-parse", "main") != before
    (project.path / ".git" / "index.lock").unlink()
    project.git("reset", "-q", "--hard", before)
    assert "taken back by you: main does not hold" in project.run(code=3)
    assert project.git("rev-parse", "main") == before
    assert project.statuses() == {"1": "blocked"}
