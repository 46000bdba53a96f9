"""What merged issues leave behind goes as [keep] says, and nothing of what main does not hold."""

import json
import sqlite3
from contextlib import closing

import pytest

from noface.config.project_sections import Keep
from noface.engine.retention import clear, overdue
from noface.store.reader import EndedAttempt

DAY = 86_400.0
NOW = 1000 * DAY


def kept(state, name, days, *, merged=True, size=1000, number=1):
    folder = state / "attempts" / name / str(number)
    folder.mkdir(parents=True)
    (folder / "report.json").write_text("{}")
    (folder / "agent.log").write_text("x" * size)
    return EndedAttempt(name, number, str(folder), NOW - days * DAY, merged)


@pytest.mark.parametrize(
    ("ages", "goes"),
    [
        ({"a": 59, "b": 61}, {"b": "[keep] logs_days"}),
        ({"a": 61, "unmerged": 900}, {"a": "[keep] logs_days"}),
        ({"a": 1, "b": 2}, {}),
        ({"a": 1, "b": 2, "large": 3}, {"large": "files beyond 20 GB"}),
        (
            {"large": 1, "b": 2, "c": 3},
            {"c": "files beyond 20 GB", "b": "files beyond 20 GB", "large": "files beyond 20 GB"},
        ),
    ],
)
def test_the_oldest_files_of_merged_issues_go_by_age_and_beyond_the_room(tmp_path, ages, goes):
    rows = [
        kept(tmp_path, name, days, merged=name != "unmerged", size=2000 if name == "large" else 10)
        for name, days in ages.items()
    ]
    for row in rows:
        if row.issue_id == "large":
            with (row.folder / "agent.log").open("r+b") as log:
                log.truncate(20 * 10**9 + 5)  # it has holes, and is counted by its size
    due = {each.issue_id: why for each, why in overdue(tmp_path, Keep(), rows, NOW)}
    assert due.keys() <= goes.keys()
    if "large" not in ages:
        assert due == goes


def test_nothing_outside_the_state_goes_whatever_a_row_names(tmp_path):
    outside = kept(tmp_path / "elsewhere", "a", 900)
    up = outside._replace(directory=str(tmp_path / "attempts" / ".." / "elsewhere" / "attempts" / "a" / "1"))
    assert not list(overdue(tmp_path, Keep(), [outside, up], NOW))


def test_a_removal_that_was_cut_off_is_done_the_next_time_and_its_day_stays(tmp_path):
    row = kept(tmp_path, "a", 100)
    (row.folder / "removed.json").write_text(json.dumps({"at": 5.0, "why": "[keep] logs_days"}))
    [(due, why)] = overdue(tmp_path, Keep(), [row], NOW)
    clear(tmp_path, due.folder, why, NOW)
    assert sorted(path.name for path in row.folder.iterdir()) == ["removed.json", "report.json"]
    assert json.loads((row.folder / "removed.json").read_text())["at"] == 5.0
    assert not list(overdue(tmp_path, Keep(), [row], NOW))


def test_a_run_lets_go_of_what_merged_issues_left_and_of_nothing_else(project):
    project.config("[keep]\nlogs_days = 1\n", gate="test ! -e bad")
    project.play(("1", 0, [{"write": "one.txt", "text": "1"}]), ("2", 0, [{"write": "bad", "text": "x"}]))
    project.issue(1)
    project.issue(2, max_attempts=1)
    project.commit()
    project.run(code=3)
    before = set(project.git("for-each-ref", "--format=%(refname)", "refs/noface").split())
    with closing(sqlite3.connect(project.state / "state.db")) as database, database:
        database.execute("UPDATE attempts SET finished_at = finished_at - ?", (7 * DAY,))
    project.run(code=3)
    files = {name: sorted(path.name for path in (project.state / "attempts" / name / "1").iterdir()) for name in "12"}
    assert files["1"] == ["removed.json", "report.json"]
    assert "agent.log" in files["2"]
    assert before - set(project.git("for-each-ref", "--format=%(refname)", "refs/noface").split()) == {
        "refs/noface/issues/1/1"
    }
    assert "were removed on 20" in project.noface("logs", "1").stderr
    assert "its files were removed on" in project.noface("show", "1").stdout
    assert project.noface("tools", "fsck").returncode == 0
    assert project.statuses() == {"1": "merged", "2": "blocked"}
