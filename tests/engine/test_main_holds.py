"""What landed and main does not hold, since a person took it back or it went to another branch, is not called done.

Of 4,775 landings of 22 public projects 23 are read as taken back by one of the next 60; 19 of those say so. Of the other
four (0.08 %) each undoes all that the landing brought.
"""

import re

import pytest

STEPS = [{"write": "b.txt", "text": "b\n"}, {"write": "a.txt", "text": "more\n"}]
SQUASH = "git reset -q --soft HEAD~1; git commit -qm mine"
AWAY = "git rm -q b.txt; git checkout -q HEAD~1 a.txt"
MENDED = 'git revert -n -m 1 HEAD; echo other > a.txt; git commit -qam "This reverts commit $(git rev-parse HEAD)."'
BACK = {
    # what a person does after issue 1 has landed -> how the issue stands, and a piece of its reason
    "a revert": ("git revert --no-edit -m 1 HEAD", "blocked", "taken back by you ("),
    "a revert in other words": ("git revert --no-edit -m 1 HEAD; git commit -q --amend -m Away", "blocked", "by you ("),
    "by hand": (f"{AWAY}; git commit -qm gone", "blocked", "by you ("),
    "with more": (f"{AWAY}; echo x > x; git add x; git commit -qm gone", "blocked", "taken back by you ("),
    "a revert that was mended": (MENDED, "blocked", "taken back by you ("),
    "a reset": ("git reset -q --hard HEAD~1", "blocked", "taken back by you: main does not hold"),
    "a revert that was reverted": ("git revert --no-edit -m 1 HEAD; git revert --no-edit HEAD", "merged", "merged as"),
    "an amend": ("git commit -q --amend -m other", "merged", "merged as"),
    "a squash": (SQUASH, "merged", "merged as"),
    "by the way": (f"{AWAY}; echo x > x; echo y > y; git add -A; git commit -qm other", "merged", "merged as"),
    "half of it": ("git rm -q b.txt; git commit -qm half", "merged", "merged as"),
    "a move": ("git mv b.txt c.txt; git commit -qm moved", "merged", "merged as"),
    "a rewrite": ("echo new > b.txt; echo new > a.txt; git commit -qam new", "merged", "merged as"),
    "a squash, then a move": (f"{SQUASH}; git mv b.txt c.txt; git commit -qm moved", "merged", "merged as"),
    "a squash, then a rewrite": (f"{SQUASH}; echo new > b.txt; echo new > a.txt; git commit -qam new", "merged", "as"),
    "a squash, then by hand": (f"{SQUASH}; {AWAY}; git commit -qm gone", "blocked", "taken back by you ("),
    "nothing": ("git commit -q --allow-empty -m empty", "merged", "merged as"),
}


@pytest.fixture
def landed(project):
    """A project in which issue 1 has landed, and what a shell does there."""
    project.play(("1", 0, STEPS))
    project.issue(1)
    project.commit()
    project.run()
    return project, lambda text: project.git("-c", f"alias.does=!sh -ec '{text}'", "does")


@pytest.mark.parametrize("way", BACK)
def test_each_run_compares_main_with_what_counts_as_merged(landed, way):
    (project, shell), (does, status, reason) = landed, BACK[way]
    shell(does)
    out = project.run(code=3 if status == "blocked" else 0)
    shown = project.shown("show", "1")
    assert (shown["status"], reason in shown["reason"]) == (status, True), shown["reason"]
    assert ("All done" in out) == (status == "merged")
    assert "is not a way that noface has" not in project.noface("tools", "fsck").stdout
    assert project.unexpected_steps() == ()


@pytest.mark.parametrize("way", ["a revert", "a reset"])
def test_what_needs_it_waits_and_a_retry_does_it_again_from_main(landed, way):
    project, shell = landed
    shell(BACK[way][0])
    project.play(("1", 0, STEPS), ("2", 0, [{"write": "c.txt", "text": "c\n"}]))
    project.issue(2, depends_on=["1"])
    project.commit()
    out = project.run(code=3)
    assert "2 Issue 2: waits for 1 to be merged; 1 is not on main any more" in out
    reason = project.shown("show", "1")["reason"]
    assert out.count("taken back by you") == 2  # as it happens, and as the run ends
    for told in (project.noface("status").stdout, project.noface("show", "1").stdout, out):
        assert reason in " ".join(told.split())
        assert not re.search(r"reviewer|rejected|REVIEW_REJECTED: ", told)
    assert [(each["detail"], each["summary"]) for each in project.shown("blocked")["blocked"]] == [(reason, reason)]
    assert f"it was blocked: {reason}" in " ".join(project.noface("retry", "1").stdout.split())
    project.run()
    assert (project.statuses()["1"], len(project.attempts("1"))) == ("merged", 2)
    assert reason.replace("by you", "by a person") in project.prompt("1", 2)


def test_work_on_another_issue_that_brings_the_lines_again_is_asked_about(landed):
    project, shell = landed
    shell(BACK["a revert"][0])
    project.play(("2", 0, [*STEPS, {"write": "c.txt", "text": "c\n"}]))
    project.issue(2)
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"1": "blocked", "2": "approval"}
    reason = project.shown("show", "2")["reason"]
    assert reason.startswith("passed; it brings again what issue 1 brought, which was taken back by you (")
    assert project.noface("approve", "2").returncode == 0
    project.run(code=3)
    project.run()
    assert project.statuses() == {"1": "merged", "2": "merged"}  # main holds the lines of both


def test_what_was_edited_before_a_squash_stands_after_it(landed):
    project, shell = landed
    for does in (
        "echo new > b.txt; git commit -qam new",
        f"{SQUASH}; git mv b.txt c.txt; git commit -qm moved",
        "true",
    ):
        shell(does.replace("HEAD~1", "HEAD~2"))
        project.run()
        assert project.statuses() == {"1": "merged"}


def test_work_that_was_taken_back_and_is_called_right_is_judged_as_it_is(landed):
    project, shell = landed
    shell(BACK["a reset"][0])
    project.run(code=3)
    project.play(("1", 0, []))
    project.noface("retry", "1", "--note", "Attempt 1 is right.")
    project.run()
    assert (project.statuses()["1"], len(project.attempts("1"))) == ("merged", 2)


@pytest.fixture
def aside(project):
    """A project whose issue 1 has landed on the branch `aside`, with main checked out."""
    project.play(("*", 0, STEPS))
    project.issue(1)
    project.commit()
    project.git("checkout", "-q", "-b", "aside")
    project.run()
    project.git("checkout", "-q", "main")
    return project


def test_what_landed_on_another_branch_is_done_once_main_holds_it(aside):
    out = aside.run(code=3)
    assert "merged into aside as " in out
    assert "All done" not in out
    assert "git cherry-pick -m 1 " in aside.noface("blocked").stdout
    aside.git("merge", "-q", "aside")
    aside.run()
    assert aside.statuses() == {"1": "merged"}


def test_what_landed_on_a_branch_that_is_gone_can_be_tried_again(aside):
    aside.git("branch", "-q", "-D", "aside")
    assert "into a branch that is gone, and main does not hold it" in aside.run(code=3)
    assert aside.noface("retry", "1").returncode == 0
    aside.run()
    assert aside.statuses() == {"1": "merged"}
    assert "b.txt" in aside.git("ls-tree", "--name-only", "main")
    assert len(aside.attempts("1")) == 2
