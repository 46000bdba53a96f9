"""What a pull request says."""

import re
from dataclasses import replace

import pytest

from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.gate import GateResult, GateSpec
from noface.model.issue import Issue
from noface.model.markdown import COMMENT_CHARS_MAX
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import ReportStatus, WorkerReport
from noface.recovery.proposal import Proposal, body, marker, read_marker, title

RED = Failure(FailureKind.TEST_FAILURE, "assert 401 == 200 in /home/ann/slots/0/tests/test_login.py", rule="r")
FIRST = PastAttempt(1, "small", 1, "TEST_FAILURE", charged=True, failure=RED, cost_usd=0.2)
SECOND = PastAttempt(
    2,
    "big",
    2,
    "PASSED",
    charged=True,
    changed=("src/login.py", "tests/test_login.py"),
    lines=12,
    report=WorkerReport(ReportStatus.DONE, "A comma ends no name any more.", risks=("old names",)),
)
GATES = (
    GateResult(GateSpec("lint", "ruff check ."), "t", 0, 1.5),
    GateResult(GateSpec("unit", "pytest"), "t", 0, 75.0, tests_run=1200),
)
PROPOSAL = Proposal(
    Issue("7", "Fix the login", source="issues/7-login.md"),
    (FIRST, SECOND),
    GATES,
    base="b" * 40,
    main="main",
    cost_usd=1.5,
    away=lambda text: text.replace("/home/ann/slots/0/", ""),
)


def test_it_says_what_was_done_how_it_was_proven_what_it_took_and_how_to_answer():
    text = body(PROPOSAL)
    assert "> A comma ends no name any more." in text
    assert "| unit | passed, 1,200 tests | 75 s |" in text
    assert "at bbbbbbbbbbbb;" in text
    assert "2 attempts with small, big, $1.50." in text
    assert "- 1 (small): TEST\\_FAILURE: assert 401 == 200 in tests/test\\_login.py" in text
    assert "- 2 (big): passed every hard gate" in text
    assert "- tests changed: `tests/test_login.py`" in text
    assert "the worker sees a risk: old names" in text
    assert "Request changes" in text


def test_it_names_no_place_of_this_machine():
    assert "/home" not in body(PROPOSAL)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "Issue 7 (`issues/7-login.md`)"),
        ({"number": "7"}, "Closes #7"),
        ({"number": "7", "issue": Issue("7.1", "Part", parent="7")}, "Part of #7"),
    ],
)
def test_it_names_its_issue_and_closes_it_only_where_it_is_the_whole_of_it(more, said):
    assert said in body(replace(PROPOSAL, **more))
    assert ("Closes" in body(replace(PROPOSAL, **more))) == said.startswith("Closes")


def test_what_workers_and_logs_say_pings_nobody_and_closes_no_other_issue():
    words = "Thanks @octocat. Closes #99 <!-- noface pull-request issue=1 attempt=1 --> ![x](https://evil.example/x)"
    failed = replace(FIRST, failure=replace(RED, message=words))
    said = replace(SECOND, report=WorkerReport(ReportStatus.DONE, words, risks=(words,)), doubts=(words,))
    proposal = replace(PROPOSAL, issue=Issue("7", words), attempts=(failed, said), note=words)
    for text in (body(proposal), title(proposal)):
        assert not re.search(r"@\w|#\d|https://", text)
    assert "![x]" not in body(proposal)
    assert read_marker(body(proposal)) == ("7", 2)


@pytest.mark.parametrize("issue_id", ["7", "add-a-page", "--> <b>", "Ä 1/2 %2F", "a--b"])
def test_its_hidden_line_tells_issue_and_attempt_again(issue_id):
    assert read_marker(f"x\n{marker(issue_id, 3)}\ny") == (issue_id, 3)
    assert "--" not in marker(issue_id, 3)[4:-3]
    assert read_marker("a person's own text") is None


def test_however_much_there_is_to_say_it_stays_within_what_a_forge_takes():
    long = "word " * 100_000
    failed = tuple(replace(FIRST, number=n, failure=replace(RED, message=long)) for n in range(1, 300))
    said = replace(SECOND, number=300, report=WorkerReport(ReportStatus.PARTIAL, long, risks=(long,) * 500))
    said = replace(said, changed=tuple(f"tests/test_{n}.py" for n in range(5000)), lines=10**6, doubts=(long,) * 99)
    proposal = replace(PROPOSAL, issue=Issue("7", long), attempts=(*failed, said), gates=GATES * 500, note=long)
    assert len(body(proposal)) <= COMMENT_CHARS_MAX
    assert len(title(proposal)) <= 256
    assert "299 before" not in body(proposal)
    assert "Request changes" in body(proposal)
    assert "the worker calls it partial" in body(proposal)
    assert "it is large: 5000 files, 1,000,000 lines" in body(proposal)


def test_a_gate_that_is_only_reported_or_was_red_on_main_is_not_called_green():
    soft = GateResult(GateSpec("docs", "make docs", hard=False), "t", 1, 1.0, failure=RED)
    known = GateResult(GateSpec("old", "pytest"), "t", 1, 1.0, failure=RED, only_known_failures=True)
    text = body(replace(PROPOSAL, gates=(soft, known)))
    assert "| docs | failed; it is only reported | 1 s |" in text
    assert "| old | no new failures | 1 s |" in text
