"""State that a person or a backup has changed: main's trailers tell what has landed, and no number comes twice."""

import shutil

import pytest
from support.cases import first_ones

BAD = [{"write": "bad", "text": "x"}, {"write": "first.txt", "text": "first"}]


def back_up(project):
    """Take a copy of the database as it is, closed."""
    shutil.copy(project.state / "state.db", project.folder / "backup.db")


def restore(project):
    """Put the copy back as backups do: the file alone, without what a write-ahead log says."""
    for file in project.state.glob("state.db*"):
        file.unlink()
    shutil.copy(project.folder / "backup.db", project.state / "state.db")


def landed(project):
    """The issues that main's first parents name, the newest first."""
    return project.git("log", "--first-parent", "--format=%(trailers:key=Noface-Issue,valueonly)", "main").split()


def refs(project):
    return project.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/noface/issues").splitlines()


@pytest.fixture
def restored(project):
    """Two issues have landed, each after a failed attempt, and the database knows of the first only."""
    for number in (1, 2):
        project.issue(number)
    project.play(
        ("1", 1, BAD),
        ("1", 0, [{"shell": "rm -f bad"}, {"write": "one.txt", "text": "1"}]),
        ("2", 1, BAD),
        ("2", 0, [{"shell": "rm -f bad"}, {"write": "two.txt", "text": "2"}]),
    )
    project.base = project.commit()
    project.run("--issue", "1")
    back_up(project)
    project.run()
    assert landed(project) == ["2", "1"]
    restore(project)
    return project


def test_an_old_database_lands_nothing_again(restored):
    before = refs(restored)
    out = restored.run()
    assert restored.statuses() == {"1": "merged", "2": "merged"}
    assert landed(restored) == ["2", "1"]
    assert refs(restored) == before
    assert "state.db is older than main" in out
    assert restored.noface("tools", "fsck").returncode == 0, restored.noface("tools", "fsck").stdout


@pytest.mark.thorough
@pytest.mark.parametrize("known", first_ones([True, False]))
def test_what_a_person_has_reverted_does_not_land_again(restored, known):
    if known:
        restored.run()
    restored.git("revert", "--no-edit", "-m", "1", "HEAD")
    restored.run(code=3)
    assert restored.statuses() == {"1": "merged", "2": "blocked"}
    assert landed(restored) == ["2", "1"]


@pytest.mark.thorough
def test_a_landing_that_a_person_amended_has_landed(restored):
    restored.git("commit", "-q", "--amend", "--no-edit", "--author", "Other <o@example.org>")
    restored.run()
    assert restored.statuses() == {"1": "merged", "2": "merged"}
    assert landed(restored) == ["2", "1"]


@pytest.mark.thorough
def test_nothing_is_taken_from_a_workspace_that_others_have_had_since(project):
    """The database of a killed run comes back, after one that went on from there with another issue."""
    running = project.half_done(
        ("1", 1, [{"write": "half.txt", "text": "half"}, {"sleep": 60}]), ("2", 0, [{"write": "two.txt", "text": "2"}])
    )
    running.kill()
    running.communicate()
    names = ("state.db", "state.db-wal")
    for name in names:
        shutil.copy(project.state / name, project.folder / name)
    issue = project.path / "issues" / "1-x.md"
    text = issue.read_text()
    issue.unlink()
    project.issue(2)
    project.commit()
    project.run()
    before = project.git("rev-parse", "refs/noface/issues/1/1")
    for file in project.state.glob("state.db*"):
        file.unlink()
    for name in names:
        shutil.copy(project.folder / name, project.state / name)
    issue.write_text(text)
    project.commit()
    project.play(("1", 0, [{"write": "one.txt", "text": "1"}]))
    project.run()
    assert project.git("rev-parse", "refs/noface/issues/1/1") == before
    assert project.statuses() == {"1": "merged", "2": "merged"}


@pytest.mark.thorough
@pytest.mark.parametrize("passed", first_ones([True, False]))
def test_work_that_the_repository_does_not_hold_any_more_is_done_again(project, passed):
    """Refs of noface's were removed, or the state came into another clone."""
    project.config('[approval]\npaths = ["**"]\n' if passed else "")
    good = [{"shell": "rm -f bad"}, {"write": "b.txt", "text": "b"}]
    project.play(("1", 1, good if passed else BAD), ("1", 0, good))
    project.issue(1, max_attempts=2 if passed else 1)
    project.commit()
    project.run(code=3)
    for line in project.git("for-each-ref", "--format=%(refname)", "refs/noface", "refs/heads/noface").splitlines():
        project.git("update-ref", "-d", line)
    project.git("gc", "-q", "--prune=now")
    if passed:
        project.noface("approve", "1")  # of the same work done again nobody is asked
    else:
        project.noface("retry", "1")
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert [attempt["charged"] for attempt in project.attempts("1")] == [not passed, True]


@pytest.mark.thorough
def test_a_database_that_is_replaced_during_a_run_ends_it_and_nothing_lands_again(project):
    project.issue(1)
    project.play(
        ("2", 1, [{"write": "half.txt", "text": "h"}, {"sleep": 2}]), ("*", 0, [{"write": "b.txt", "text": "b"}])
    )
    project.commit()
    project.run()
    back_up(project)
    project.issue(2)
    project.commit()
    running = project.start("run")
    project.in_slots("half.txt")
    restore(project)
    out, _ = running.communicate(timeout=60)
    assert (running.returncode, "state.db was removed or replaced" in " ".join(out.split())) == (1, True), out
    project.play(("2", 0, [{"write": "two.txt", "text": "2"}]))
    project.run()
    assert project.statuses() == {"1": "merged", "2": "merged"}
    assert landed(project) == ["2", "1"]
    assert [attempt["number"] for attempt in project.attempts("2")] == [2]
