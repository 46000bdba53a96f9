"""`noface show` and `noface blocked`: the story of an issue, and what a person is told to do."""

import pytest
from cli_story import Story, red_test, usual_night, write_issue


@pytest.fixture
def night(project):
    story = usual_night(project.path, project.git("rev-parse", "HEAD"))
    yield story
    story.close()


def test_the_json_of_an_issue_holds_every_attempt(project, night):
    document = project.shown("show", "002")
    assert (document["schema"], document["id"], document["status"]) == (1, "002", "blocked")
    assert (document["branch"], document["merged_commit"]) == ("noface/002", None)
    first, second, third = document["attempts"]
    assert first == {
        "number": 1,
        "model": "claude-sonnet",
        "outcome": "TEST_FAILURE",
        "failure": {
            "kind": "TEST_FAILURE",
            "category": "correctable",
            "message": "assert 401 == 200",
            "location": "tests/test_login.py:41",
            "rule": "pytest.assertion",
            "evidence": ["    def test_login():", ">       assert reply.status == 200", "E       assert 401 == 200"],
            "failing_tests": ["tests/test_login.py::test_login"],
            "gate": "unit",
        },
        "commit": night.commit,
        "started_at": first["started_at"],
        "seconds": 192.0,
        "cost_usd": 0.21,
        "action": {
            "kind": "RetryWithFeedback",
            "reason": "attempt 1 of 2 with claude-sonnet failed; it is told why",
        },
        "charged": True,
        "gates": [
            {"name": "lint", "passed": True, "hard": True, "seconds": 1.5, "kind": None, "memo": False, "flaky": False},
            {
                "name": "unit",
                "passed": False,
                "hard": True,
                "seconds": 11.0,
                "kind": "TEST_FAILURE",
                "memo": False,
                "flaky": False,
            },
        ],
        "notes": [],
    }
    assert second["notes"] == ["protected files put back: conftest.py"]
    assert third["action"] == {"kind": "Block", "reason": "all 5 attempts are used up"}


def test_a_passed_attempt_has_no_failure_and_one_under_way_no_outcome(project, night):
    assert project.shown("show", "1")["attempts"][0]["failure"] is None
    under_way = project.shown("show", "7")["attempts"][1]
    assert (under_way["outcome"], under_way["seconds"], under_way["cost_usd"]) == (None, None, None)


def test_the_story_names_rule_lines_action_and_branch_at_80_columns(project, night):
    (night.directory("002", 3) / "agent.log").write_text("thinking\n\x1b[1mI am sure\x1b[0m it works\n")
    done = project.noface("show", "2")
    page = done.stdout
    for expected in (
        "Attempt 2  TEST_FAILURE  claude-sonnet · ",
        "  at tests/test_login.py:41",
        "  correctable, by the rule pytest.assertion in gate unit",
        "  │ >       assert reply.status == 200",
        "  gates: lint passed (1.5s), unit TEST_FAILURE (11s)",
        "  → Escalate: 2 attempts with claude-sonnet failed",
        "  note: protected files put back: conftest.py",
        "git diff ...noface/002",
        "    • Should a comma end the name, as the old site did?",
        'noface unblock 002 --note "…"',
        "  │ I am sure it works",
    ):
        assert expected in page
    assert max(map(len, page.splitlines())) <= 80


def test_an_issue_without_attempts_is_shown_before_the_first_run(project):
    write_issue(project.path, "1-x", "First")
    assert "No attempt yet." in project.noface("show", "1").stdout
    assert project.shown("show", "1")["attempts"] == []
    assert not project.state.exists()


def test_an_unknown_id_is_refused_with_the_nearest_ones(project, night):
    done = project.noface("show", "0002")
    assert done.returncode == 0, "leading zeros do not matter"
    done = project.noface("show", "42")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no issue 42" in done.stderr
    assert "007" in done.stderr


def test_a_name_with_a_slip_is_met_with_the_name_meant(project):
    write_issue(project.path, "login-page", "Login")
    assert "login-page" in project.noface("show", "login-pgae").stderr


def test_a_faulty_issue_is_refused_with_its_fault(project, night):
    done = project.noface("show", "8")
    assert done.returncode == 2
    assert "issues/008-broken.md" in done.stderr


def test_a_very_long_message_is_cut_on_the_page_and_whole_in_json(project):
    write_issue(project.path, "1-x", "One")
    long = "expected " + "x" * 5000
    Story(project.path).sync().run().attempt("1", 1, red_test(long)).close()
    lines = project.noface("show", "1").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("xxxx" in line for line in lines) <= 6
    assert project.shown("show", "1")["attempts"][0]["failure"]["message"] == long


def test_blocked_json_tells_what_a_person_needs(project, night):
    document = project.shown("blocked")
    assert sorted(document) == ["blocked", "schema"]
    (block,) = document["blocked"]
    assert sorted(block) == sorted(
        [
            "id",
            "title",
            "kind",
            "summary",
            "tried",
            "errors",
            "unclear",
            "next_steps",
            "questions",
            "options",
            "commands",
        ]
    )
    assert (block["id"], block["kind"]) == ("002", "TEST_FAILURE")
    assert len(block["tried"]) == 3
    assert sorted(block["errors"]) == ["TEST_FAILURE: assert 401 == 200", "TEST_FAILURE: assert 403 == 200"]
    assert block["unclear"] == ["Should a comma end the name, as the old site did?"]
    assert 'noface unblock 002 --note "…"' in block["commands"]


def test_the_blocked_page_fits_80_columns_and_repeats_nothing(project, night):
    page = project.noface("blocked").stdout
    assert page.startswith("1 issue needs you.\n")
    assert "attempt 3 with claude-opus: TEST_FAILURE: assert 401 == 200" in page
    assert "\n  Errors\n" not in page, "all of them stand under Tried"
    assert "Should a comma end the name" in page
    assert max(map(len, page.splitlines())) <= 80


def test_nothing_blocked_is_one_friendly_line(project):
    assert project.noface("blocked").stdout == "Nothing is blocked.\n"
    assert project.shown("blocked")["blocked"] == []


def test_a_block_without_a_document_still_has_every_key(project):
    write_issue(project.path, "1-x", "One")
    Story(project.path).sync().status("1", "blocked", "stopped by hand").close()
    (block,) = project.shown("blocked")["blocked"]
    assert (block["kind"], block["summary"], block["commands"]) == ("UNKNOWN", "stopped by hand", [])
