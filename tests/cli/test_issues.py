"""`noface issues`, `noface issues add` and `noface issues show`."""

import json
import subprocess
import sys

import pytest
from support.cli_story import Story, usual_night, write_issue


def test_the_backlog_comes_in_the_order_it_would_be_worked(project):
    usual_night(project.path).close()
    done = project.noface("issues", "--json")
    assert done.returncode == 3  # one is faulty
    document = json.loads(done.stdout)
    assert [issue["id"] for issue in document["issues"]] == ["004", "002", "003", "005", "006", "007", "001"]
    assert document["issues"][2]["depends_on"] == ["002"]
    assert document["issues"][2]["status"] == "waiting"
    assert document["faults"][0]["source"] == "issues/008-broken.md"
    lines = project.noface("issues").stdout.splitlines()
    assert lines[0].startswith("004  P1  landing   Cache the exchange rates")
    assert max(map(len, lines)) <= 80


def test_an_issue_can_be_added_and_shown(project):
    done = project.noface(
        "issues",
        "add",
        "Fix login",
        "--body",
        "It answers 401.",
        "--label",
        "bug",
        "-p",
        "0",
        "--accept",
        "pytest -k login",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Added issue 001: issues/001-fix-login.md\nNext: noface run\n"
    shown = project.shown("issues", "show", "1")["issue"]
    assert (shown["title"], shown["priority"], shown["labels"]) == ("Fix login", 0, ["bug"])
    assert (shown["accept"], shown["body"].strip()) == (["pytest -k login"], "It answers 401.")
    page = project.noface("issues", "show", "1").stdout
    assert page.startswith("001  Fix login\n")
    assert "accept: pytest -k login" in page
    assert page.endswith("It answers 401.\n")


def test_the_text_can_come_from_standard_input(project):
    subprocess.run(
        [sys.executable, "-m", "noface", "issues", "add", "Fix login", "--body", "-"],
        cwd=project.path,
        env=project.environment(),
        input="# Why\n\nIt fails.\n",
        text=True,
        capture_output=True,
        check=True,
    )
    assert project.shown("issues", "show", "1")["issue"]["body"].strip() == "# Why\n\nIt fails."


@pytest.mark.parametrize("args", [["two\nlines"], ["x", "--depends-on", "9"]])
def test_a_faulty_draft_is_refused_and_nothing_written(project, args):
    done = project.noface("issues", "add", *args)
    assert done.returncode == 2
    assert not (project.path / "issues").exists()


def test_the_number_of_a_merged_issue_is_not_used_again(project):
    path = write_issue(project.path, "1-x", "One")
    story = Story(project.path).sync().run()
    story.merge("1").close()
    path.unlink()
    assert project.shown("issues", "add", "Two")["issue"]["id"] == "2"


def test_an_issue_whose_file_is_gone_points_to_its_story(project):
    path = write_issue(project.path, "1-x", "One")
    Story(project.path).sync().close()
    path.unlink()
    done = project.noface("issues", "show", "1")
    assert done.returncode == 2
    assert "noface show 1" in done.stderr


def test_a_new_issue_takes_no_id_that_has_landed_in_another_clone(project):
    base = project.git("rev-parse", "HEAD")
    project.git("commit", "-q", "--allow-empty", "-m", f"One\n\nNoface-Issue: 001\nNoface-Base: {base}")
    assert "Added issue 002" in project.noface("issues", "add", "Other work").stdout


def test_what_accept_names_in_the_checkout_only_is_told_before_a_run(project):
    project.config(gate="true")
    project.write("tests/test_a.py", "def test_a():\n    assert 1\n")
    project.commit()
    project.git("switch", "-q", "-c", "topic")
    project.config(gate="true", extra='\n[project]\nmain = "main"\n')
    project.write("tests/test_a.py", "def test_a():\n    assert 1\n\n\ndef test_fee():\n    assert 0\n")
    project.write(".venv/bin/pytest", "")
    project.issue(7, accept=["pytest tests/test_a.py::test_fee", ".venv/bin/pytest tests/test_refund.py"])
    project.issue(8, accept=["pytest tests/test_refund.py::test_fee"])  # for the worker to write
    said = "accept names test_fee of tests/test_a.py: it is in your checkout, not on main"
    planned = json.loads(project.noface("run", "--dry-run", "--json").stdout)
    assert [(wait["id"], wait["reason"]) for wait in planned["waiting"]] == [("7", said)]
    assert [start["id"] for start in planned["start"]] == ["8"]
    (way,) = [each["fix"].removeprefix("Commit it: ") for each in planned["findings"] if each["what"] == said]
    subprocess.run(way, shell=True, cwd=project.path, env=project.environment(), check=True, capture_output=True)
    assert project.git("branch", "--show-current").strip() == "main"
    assert json.loads(project.noface("run", "--dry-run", "--json").stdout)["waiting"] == []


def test_an_edited_issue_is_no_longer_shown_as_blocked(project):
    usual_night(project.path).close()
    (project.path / "issues/008-broken.md").unlink()
    (blocked,) = [each for each in project.shown("issues")["issues"] if each["status"] == "blocked"]
    path = project.path / blocked["source"]
    path.write_text(path.read_text() + "\nIt may change src/**, too.\n")
    for document in (project.shown("issues"), project.shown("status")):
        assert next(each["status"] for each in document["issues"] if each["id"] == blocked["id"]) == "ready"
    assert blocked["id"] not in [each["id"] for each in project.shown("blocked")["blocked"]]
    words = "edited since it was blocked; the next run goes on with it"
    assert words in project.noface("status").stdout
    named = project.noface("blocked", blocked["id"])
    assert (named.returncode, named.stdout) == (2, "")
    assert f"issue {blocked['id']} was {words}" in named.stderr
    assert "To have it go on: noface run" in named.stderr


def test_a_dry_run_of_a_blocked_issue_says_why_and_what_has_it_tried_again(project):
    project.config(gate="true")
    usual_night(project.path).close()
    (project.path / "issues/008-broken.md").unlink()
    (blocked,) = [each["id"] for each in project.shown("issues")["issues"] if each["status"] == "blocked"]
    (wait,) = json.loads(project.noface("run", "--dry-run", "--json", "-i", blocked).stdout)["waiting"]
    assert wait["reason"].startswith("blocked: ")
    assert wait["reason"].endswith(f"noface retry {blocked}")
    assert "0 wait, 0 faulty" in project.noface("run", "--dry-run", "-i", "1").stdout
    assert ", 1 wait for you: noface blocked" in project.noface("run", "--dry-run").stdout
