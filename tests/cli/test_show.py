"""`noface show` and `noface blocked`: the story of an issue, and what a person is told to do."""

import json
from dataclasses import replace

import pytest
from support.cli_story import Story, red_test, write_issue

from noface.model.failure import Failure
from noface.model.history import AdviceOutcome, Decided, Topic, Verdict
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import BlockedReason, Question, ReportStatus, Usage, WorkerReport


def test_the_json_of_an_issue_holds_every_attempt(project, night):
    document = project.shown("show", "002")
    assert (document["schema"], document["id"], document["status"]) == (1, "002", "blocked")
    assert (document["branch"], document["merged_commit"]) == ("noface/002", None)
    first, second, third = document["attempts"]
    whole = first.pop("task_failure")
    assert (whole["type"], whole["message"]) == ("TASK_FAILURE", "assert 401 == 200")
    assert whole["details"]["metrics"] == {"cost_usd": 0.21, "seconds": 192.0}
    failure = first.pop("failure")
    said = {"kind": "TEST_FAILURE", "category": "correctable", "message": "assert 401 == 200", "gate": "unit"}
    said |= {"location": "tests/test_login.py:41", "rule": "pytest.assertion", "ran_out": ""}
    assert failure | said == failure
    assert failure["evidence"][1:] == [">       assert reply.status == 200", "E       assert 401 == 200"]
    assert failure["failing_tests"] == ["tests/test_login.py::test_login"]
    told = {
        "number": 1,
        "model": "claude-sonnet",
        "outcome": "TEST_FAILURE",
        "commit_id": night.commit,
        "charged": True,
    }
    told |= {"seconds": 192.0, "cost_usd": 0.21, "tokens_in": None, "notes": [], "report": None}
    assert first | told == first
    why = "attempt 1 of 2 with claude-sonnet failed; it is told why"
    assert first["action"] == {"kind": "RetryWithFeedback", "reason": why}
    gates = [(gate["name"], gate["passed"], gate["seconds"], gate["kind"]) for gate in first["gates"]]
    assert gates == [("lint", True, 1.5, None), ("unit", False, 11.0, "TEST_FAILURE")]
    assert second["notes"] == ["protected files put back: conftest.py"]
    assert third["action"] == {"kind": "Block", "reason": "all 5 attempts are used up"}


def test_a_passed_attempt_has_no_failure_and_one_under_way_no_outcome(project, night):
    assert project.shown("show", "1")["attempts"][0]["failure"] is None
    under_way = project.shown("show", "7")["attempts"][1]
    assert (under_way["outcome"], under_way["seconds"], under_way["cost_usd"]) == (None, None, None)


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
    assert "Nearest: 007" in project.noface("show", "0077").stderr


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


REPORT = WorkerReport(
    ReportStatus.BLOCKED,
    "Which rates are meant is not said.",
    blocked_reason=BlockedReason.UNCLEAR,
    risks=("Rounding differs for JPY.",),
    gaps=("No rates for CHF were given.", "No sample order."),
    questions=(Question("Which rates?"),),
    needs=("003",),
)


@pytest.fixture
def recovered(project, night):
    """Issue 005: an attempt with a report, a diagnosis, an attempt that thought, an answer nobody could use."""
    night.attempt("005", 1, red_test(), worker=REPORT, changed=("src/export.py",))
    said = {"cause": "The table has no CHF.", "recoverable": "yes", "strategy": "alternative_approach"}
    night.ask("005", Topic.DIAGNOSIS, **said, text="Another approach: read the rates.\nFail where one is missing.")
    night.attempt("005", 2, red_test(), model="claude-opus", think=True, worker=REPORT)
    return night.ask("005", Topic.CLARIFICATION, outcome=AdviceOutcome.UNUSABLE, cause="it is no JSON")


def test_the_json_tells_what_workers_reported_and_what_was_asked(project, recovered):
    document = project.shown("show", "5")
    first, second = document["attempts"]
    assert (first["think"], second["think"]) == (False, True)
    assert (first["changed"], first["lines"]) == (["src/export.py"], 4)
    assert first["report"] == {
        "status": "blocked",
        "summary": "Which rates are meant is not said.",
        "unverified": [],
        "blocked_reason": "unclear",
        "risks": ["Rounding differs for JPY."],
        "gaps": ["No rates for CHF were given.", "No sample order."],
        "made_up": [],
        "questions": [{"text": "Which rates?", "who": "", "place": ""}],
        "evidence": "",
        "parts": [],
        "changed_tests": [],
        "needs": ["003"],
        "left": [],
    }
    assert document["gaps"] == [
        {"id": "005", "attempt": 1, "gap": "No rates for CHF were given."},
        {"id": "005", "attempt": 1, "gap": "No sample order."},
    ]
    diagnosis, clarification = document["asked"]
    assert (diagnosis["after"], diagnosis["topic"], diagnosis["model"]) == (1, "diagnosis", "claude-opus")
    assert (diagnosis["outcome"], diagnosis["answer"]["strategy"]) == ("ADVISED", "alternative_approach")
    assert (diagnosis["answer"]["cause"], diagnosis["answer"]["recoverable"]) == ("The table has no CHF.", "yes")
    assert (clarification["after"], clarification["outcome"]) == (2, "UNUSABLE")


def test_an_issue_shows_its_parts_and_a_part_its_parent(project, night):
    night.divide("005", "Write the header", "Write the rows").merge("005.1")
    document = project.shown("show", "5")
    assert (document["status"], document["progress"]) == ("epic", "1 of 2 parts merged")
    assert [(part["id"], part["status"]) for part in document["parts"]] == [("005.1", "merged"), ("005.2", "ready")]
    page = project.noface("show", "5").stdout
    assert "  1 of 2 parts merged\n    005.1  merged    Write the header\n" in page
    assert project.shown("show", "005.2")["parent"] == "005"
    assert "  part of 005: noface show 005\n" in project.noface("show", "005.2").stdout


def test_what_a_person_agreed_to_is_shown(project, night):
    said = Decided(0, Verdict.APPROVED, note="Mind the header.", at=night.tick(), paths=("src/db.py",))
    night.questions.decided("005", said)
    night.journal.depends(night.tick(), "005", ("002",))
    night.journal.unblocked(night.tick(), "005", "retried by a person", "claude-opus", 7)
    document = project.shown("show", "5")
    assert (document["granted_paths"], document["needs"]) == (["src/db.py"], ["002"])
    assert (document["wanted_model"], document["wanted_attempts"]) == ("claude-opus", 7)
    page = project.noface("show", "5").stdout
    for line in (
        "your note: Mind the header.",
        "you allowed it to change src/db.py",
        "you want it to begin with claude-opus, up to 7 attempts",
        "found to need 002",
    ):
        assert f"  {line}\n" in page


def test_what_a_person_decided_stands_with_the_attempt(project, night):
    night.attempt("005", 1, changed=("a.py",)).request_approval("005")
    night.questions.decided("005", Decided(1, Verdict.REJECTED, note="Keep the old name.", at=night.tick()))
    (said,) = project.shown("show", "5")["decisions"]
    assert (said["attempt"], said["verdict"], said["note"]) == (1, "rejected", "Keep the old name.")
    page = project.noface("show", "5").stdout
    assert (
        page.index("asked for approval: passed") < page.index("  You rejected it") < page.index("│ Keep the old name.")
    )


def test_the_report_of_an_issue_given_up_is_printed_as_json(project, night):
    done = project.noface("show", "2", "--report")
    report = project.shown("show", "2", "--report")
    assert done.returncode == 0
    assert (report["schema"], report["attempts_made"]) == (1, 3)
    assert {"failure_reason", "recovery_attempted", "recommendation"} <= set(report)


def test_a_workers_words_cannot_drive_the_terminal_nor_pose_as_lines_of_noface(project):
    write_issue(project.path, "1-x", "One")
    evil = "\x1b]0;owned\x07red \u202egnp.exe\r\nBlocked\n  The question\nAttempt 9  PASSED"
    worker = WorkerReport(ReportStatus.BLOCKED, evil, blocked_reason=BlockedReason.UNCLEAR, risks=(evil,), gaps=(evil,))
    worker = replace(worker, questions=(Question(evil),))
    confused = Failure(FailureKind.AGENT_CONFUSION, evil, "r", questions=(evil,))
    story = Story(project.path).sync().run().attempt("1", 1, confused, worker=worker)
    story.ask("1", Topic.DIAGNOSIS, model="m\x1b[2J", cause=evil, text=evil, paths=(evil,)).block("1").close()
    for command in (["show", "1"], ["blocked"]):
        page = project.noface(*command).stdout
        assert not {"\x1b", "\x07", "\u202e", "\r"} & set(page)
        assert "owned" not in page
        assert page.count("\n  The question\n") == 1
        assert "\nAttempt 9" not in page


def test_tokens_and_session_of_an_attempt_are_shown(project):
    write_issue(project.path, "1-x", "One")
    story = (
        Story(project.path).sync().run().attempt("1", 1, usage=Usage(0.1, 12_345, 678, "5e55-10n\x1b[2J" + "x" * 999))
    )
    story.close()
    attempt = project.shown("show", "1")["attempts"][0]
    assert (attempt["tokens_in"], attempt["tokens_out"], len(attempt["session_id"])) == (12_345, 678, 200)
    page = project.noface("show", "1").stdout
    assert "  tokens: 12,345 read, 678 written · session 5e55-10nx" in page
    assert max(map(len, page.splitlines())) <= 80


def test_the_last_lines_of_a_stream_of_json_are_told_as_words(project):
    write_issue(project.path, "1-x", "One")
    story = Story(project.path).sync().run().attempt("1", 1)
    entries = [
        {"type": "text", "text": "I look around."},
        {"type": "tool_use", "name": "Read", "input": {"file_path": "a.py"}},
    ]
    line = json.dumps({"type": "assistant", "message": {"content": entries}})
    folder = story.directory("1", 1)
    (folder / "order.json").write_text(json.dumps({"model": {"agent": "claude"}}))
    (folder / "agent.log").write_text(f"{'x' * 70_000}{line}\n{line}\n")
    story.close()
    page = project.noface("show", "1").stdout
    assert page.endswith("noface logs 1\n  │ I look around.\n  │   · Read a.py\n")
