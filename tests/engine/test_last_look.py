"""Right before main moves the issue is looked at again: withdrawn work is kept, an edited text is for a worker."""

import pytest
from support.cases import first_ones

SLOW = [{"write": "b.txt", "text": "b"}, {"sleep": 2}]


def issue_file(project):
    return next((project.path / "issues").glob("1-*.md"))


def deleted(project):
    issue_file(project).unlink()


def moved_away(project):
    (project.path / "done").mkdir()
    issue_file(project).rename(project.path / "done" / "1-x.md")


def deleted_in_a_commit(project):
    project.git("rm", "-q", "issues/1-x.md")
    project.git("commit", "-q", "-m", "not wanted")


@pytest.mark.parametrize("way", first_ones([moved_away, deleted, deleted_in_a_commit]))
def test_work_on_an_issue_that_a_person_takes_away_ends_and_is_kept(project, way):
    project.play(("1", 0, [*SLOW, {"sleep": 60}]), ("2", 0, [{"write": "c.txt", "text": "c"}]))
    project.issue(1)
    project.issue(2)
    project.commit()
    running = project.start("run")
    project.in_slots("b.txt")
    way(project)
    out, _ = running.communicate(timeout=90)
    assert running.returncode == 0, out
    assert "1 was deleted, moved or closed" in out
    assert project.git("ls-tree", "--name-only", "main", "b.txt", "c.txt") == "c.txt"
    assert project.git("show", "noface/1:b.txt") == "b"


@pytest.mark.thorough
def test_files_that_went_with_another_branch_may_come_back_so_the_work_goes_on(project):
    project.git("branch", "old")
    project.play(("1", 0, SLOW))
    project.issue(1)
    project.commit()
    running = project.start("run")
    project.in_slots("b.txt")
    project.git("switch", "-q", "old")
    out, _ = running.communicate(timeout=90)
    assert running.returncode == 0, out
    assert project.git("show", "main:b.txt") == "b"


SLOW_GATE = "sleep 3 && test ! -e bad && test -e a.txt"


@pytest.mark.thorough
def test_a_text_that_is_edited_while_its_work_is_proven_again_goes_to_a_worker(project):
    """The gates of the second landing run some seconds; meanwhile the text of its issue changes."""
    project.config(gate=SLOW_GATE, workers=2)
    project.play(
        ("1", 0, [{"write": "one.txt", "text": "1"}]),
        ("2", 1, [{"write": "two.txt", "text": "2"}]),
        ("2", 2, [{"write": "three.txt", "text": "3"}]),
    )
    project.issue(1)
    project.issue(2)
    project.commit()
    running = project.start("run")
    while "one.txt" not in project.git("ls-tree", "--name-only", "main").split():
        assert running.poll() is None
    project.issue(2, body="Write three.txt as well.")
    out, _ = running.communicate(timeout=90)
    assert running.returncode == 0, out
    assert project.git("ls-tree", "--name-only", "main", "two.txt", "three.txt").split() == ["three.txt", "two.txt"]
    assert project.attempts("2")[0]["charged"] is False


def test_a_text_that_is_edited_between_two_runs_is_not_landed_on_the_old_one(project):
    project.play(("1", 1, [{"write": "b.txt", "text": "b"}]), ("1", 2, [{"write": "c.txt", "text": "c"}]))
    project.issue(1)
    project.commit()
    project.noface("run", NOFACE_FAILPOINT="attempt_recorded")
    project.issue(1, body="And c.txt.")
    project.run()
    assert project.git("ls-tree", "--name-only", "main", "b.txt", "c.txt").split() == ["b.txt", "c.txt"]
