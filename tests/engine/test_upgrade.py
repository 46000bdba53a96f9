"""The first run of a newer noface says once what it refuses and an earlier one did not."""

import json
import sqlite3


def rules(project, **env):
    done = project.noface("run", "--json", **env)
    return [line["what"] for line in map(json.loads, done.stdout.splitlines()) if line.get("event") == "rules_changed"]


def as_an_older_noface_left_it(project):
    with sqlite3.connect(project.state / "state.db") as database:
        database.execute("DELETE FROM facts WHERE name = 'rules'")
    database.close()


def test_a_project_that_an_older_noface_has_worked_on_is_told_once_what_is_refused_now(project):
    project.write("CLAUDE.md", "be brief\n")
    project.commit()
    assert rules(project) == []  # a first run has nothing to compare with
    as_an_older_noface_left_it(project)
    (told,) = rules(project, DATABASE_URL="postgres://x")
    assert any("DATABASE_URL" in line and "env_pass" in line for line in told)
    assert any("CLAUDE.md" in line and "may_change" in line for line in told)
    assert "postgres" not in str(told)
    assert rules(project, DATABASE_URL="postgres://x") == []


def test_a_person_reads_it_in_a_line(project):
    project.noface("run")
    as_an_older_noface_left_it(project)
    shown = project.noface("run", DATABASE_URL="x").stdout
    assert "! new in this version: gates no longer get" in shown
