"""Right before main moves the issue is looked at again: withdrawn work is kept, an edited text is for a worker."""

import sqlite3
from contextlib import closing

import pytest
from support.cases import first_ones
from support.processes import wait_for

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


def test_a_text_that_is_edited_between_two_runs_is_not_landed_on_the_old_one(project):
    project.play(("1", 1, [{"write": "b.txt", "text": "b"}]), ("1", 2, [{"write": "c.txt", "text": "c"}]))
    project.issue(1)
    project.commit()
    project.noface("run", NOFACE_FAILPOINT="attempt_recorded")
    project.issue(1, body="And c.txt.")
    project.run()
    assert project.git("ls-tree", "--name-only", "main", "b.txt", "c.txt").split() == ["b.txt", "c.txt"]


@pytest.mark.thorough
def test_whatever_changes_while_work_waits_for_a_person_is_seen_before_it_lands(project):
    """Its text is faulty now, it depends on another, its label wants a person's yes, somebody has skipped it."""
    project.config('[approval]\nlabels = ["risky"]\n', workers=5)
    names = [f"c{number}.txt" for number in range(1, 6)]
    for name in names:
        project.write(name, "one\n")
    plays = [(str(n), 0, [{"replace": name, "old": "one", "new": str(n)}]) for n, name in enumerate(names, 1)]
    project.play(*plays, ("6", 0, [{"write": "six.txt", "text": "6"}, {"sleep": 25}]))
    files = [project.issue(number) for number in range(1, 7)]
    project.commit()
    for name in names:
        project.write(name, "mine\n")
    running = project.start("run")
    wait_for(lambda: [i["reason"][:13] for i in project.shown("status")["issues"]].count("local changes") == 5)
    files[0].write_text("+++\ntitle = 'no end'\n")
    project.issue(2, depends_on=["6"])
    project.issue(3, labels=["risky"])
    with closing(sqlite3.connect(project.state / "state.db")) as database, database:
        database.execute("UPDATE issues SET status = 'skipped' WHERE id = '4'")
    project.git("checkout", "-q", "--", *names)
    out, _ = running.communicate(timeout=120)
    main = {name: project.git("show", f"main:{name}") for name in names}
    assert [name for name, text in main.items() if text != "one"] == ["c2.txt", "c5.txt"], out
    order = project.git("log", "--format=%s", "--first-parent", "main").splitlines()
    assert order.index("Issue 2") < order.index("Issue 6"), "what it has come to depend on lands first"
    assert {n: project.statuses().get(n) for n in "34"} == {"3": "approval", "4": "skipped"}
    assert "Withdrawn" not in out, "a faulty issue is told as that"
