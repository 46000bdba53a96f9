"""`noface blocked`: an overview of what a person has to do, and the page of an issue."""

from support.cli_story import Story, red_test, write_issue

from noface.model.failure import Failure
from noface.model.history import Topic
from noface.model.taxonomy import FailureKind


def test_the_json_tells_what_a_person_needs(project, night):
    document = project.shown("blocked")
    assert {"blocked", "tasks", "schema"} <= set(document)
    block, held = document["blocked"]
    assert held["status"] == "held"
    assert (block["id"], block["status"], block["kind"]) == ("002", "blocked", "TEST_FAILURE")
    assert "tests/test_login.py::test_login" in block["question"]
    assert (len(block["options"]), len(block["tried"])) == (len(block["commands"]), 3)
    assert sorted(block["errors"]) == ["TEST_FAILURE: assert 401 == 200", "TEST_FAILURE: assert 403 == 200"]
    assert block["unclear"] == ["Should a comma end the name, as the old site did?"]
    assert 'noface retry 002 --note "…"' in block["commands"]
    assert document["tasks"][1] == {"task": "Help with tests that fail", "ids": ["002"], "kinds": ["TEST_FAILURE"]}
    assert project.shown("blocked", "2")["blocked"] == [block]


def test_ten_issues_that_need_ten_different_things_take_one_screen(project):
    kinds = [kind for kind in FailureKind if kind.name not in ("OVERLOADED", "NO_PROGRESS")][:10]
    for number in range(1, 11):
        write_issue(project.path, f"{number:03}-x", f"The title of issue {number}, which is rather long for a line")
    story = Story(project.path).sync().run()
    for number, kind in enumerate(kinds, 1):
        said = "a message of a failure that is too long for a line of a terminal of 80 columns"
        story.attempt(f"{number:03}", 1, Failure(kind, said, "r", signature="s")).block(f"{number:03}", kind)
    story.close()
    lines = project.noface("blocked").stdout.splitlines()
    assert len(lines) <= 23
    assert max(map(len, lines)) <= 80
    assert lines[0] == "10 issues need you: 10 blocked"
    assert all(any(line.startswith(f"  {number:03}  The title of") for line in lines) for number in range(1, 11))


def test_many_issues_with_one_cause_are_told_by_their_ids(project):
    for number in range(100, 140):
        write_issue(project.path, f"{number}-x", f"Title {number}")
    story = Story(project.path).sync().run()
    for number in range(100, 140):
        failed = Failure(FailureKind.NETWORK, "ENOTFOUND", "r", signature="n")
        story.attempt(str(number), 1, failed, model="small", charged=False).block(str(number), FailureKind.NETWORK)
    story.close()
    page = project.noface("blocked").stdout
    assert "Repair the network, then run again: 40 issues\n  ENOTFOUND\n  100, 101, 102," in page
    assert len(page.splitlines()) < 12


def test_nothing_blocked_is_one_friendly_line(project):
    assert project.noface("blocked").stdout == "Nothing is blocked.\n"
    assert project.shown("blocked")["blocked"] == []


def test_what_was_blocked_and_is_edited_since_is_told_where_it_is_looked_for(project):
    write_issue(project.path, "1-x", "One")
    Story(project.path).sync().run().attempt("1", 1, red_test()).block("1").close()
    path = project.path / "issues/1-x.md"
    path.write_text(path.read_text() + "\nA comma ends the name.\n")
    told = "  1  edited since it was blocked; the next run goes on with it"
    assert project.noface("blocked").stdout == f"Nothing is blocked.\n{told}\n\nNext: noface run\n"
    assert project.shown("blocked")["blocked"] == []


def test_an_issue_that_needs_nobody_is_refused_by_its_status(project, night):
    done = project.noface("blocked", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "issue 001 is merged and needs nothing of you" in done.stderr
    assert "noface show 001" in done.stderr


def test_a_single_issue_has_its_page_at_once(project):
    write_issue(project.path, "1-x", "One")
    Story(project.path).sync().run().attempt("1", 1, changed=("a.py",)).request_approval("1").close()
    assert project.noface("blocked").stdout.startswith("1  One\n  attempt 1 waits for your approval: ")


def test_what_became_of_the_parts_is_told_of_a_blocked_epic(project, night):
    night.attempt("005", 1, red_test()).ask("005", Topic.BREAKDOWN, text="divided into 005.1")
    night.questions.parts_failed(night.tick(), "005", 'What could not be done:\n[{"id": "005.1"}]')
    night.block("005")
    page = project.noface("blocked", "5").stdout
    assert '  What became of its parts\n    │ What could not be done:\n    │ [{"id": "005.1"}]\n' in page
