"""What a person is told of a blocked issue (N13)."""

import json
import shlex

from noface.core.actions import Block
from noface.core.blocking import block_document
from noface.core.model import Failure, Issue, PastAttempt
from noface.core.taxonomy import FailureKind

ISSUE = Issue("7", "Seven", source="issues/7-a b.md")


def attempt(number, message, kind=FailureKind.TEST_FAILURE, questions=()):
    failure = Failure(kind, message, rule="r", questions=questions)
    return PastAttempt(number, "small", 1, kind.value, charged=True, failure=failure)


def document(*attempts, kind=FailureKind.TEST_FAILURE, branch="noface/7"):
    return block_document(ISSUE, Block(kind, "all 2 attempts are used up"), attempts, branch)


def test_it_tells_what_was_tried_what_went_wrong_and_what_to_do():
    told = document(attempt(1, "one red"), attempt(2, "two red"))
    assert told["kind"] == "TEST_FAILURE"
    assert told["summary"] == "TEST_FAILURE after 2 attempts: all 2 attempts are used up. Last: two red"
    assert told["tried"] == [
        "attempt 1 with small: TEST_FAILURE: one red",
        "attempt 2 with small: TEST_FAILURE: two red",
    ]
    assert told["errors"] == ["TEST_FAILURE: one red", "TEST_FAILURE: two red"]
    assert "git diff ...noface/7" in " ".join(told["next_steps"])
    assert 'noface unblock 7 --note "…"' in told["commands"]
    json.dumps(told)


def test_the_last_error_is_always_among_those_shown():
    messages = ["again", "b", "c", "d", "e", "f", "again"]
    told = document(*(attempt(number, message) for number, message in enumerate(messages, 1)))
    assert told["errors"] == [f"TEST_FAILURE: {m}" for m in ("c", "d", "e", "f", "again")]


def test_what_the_agents_asked_is_passed_on_once():
    confused = FailureKind.AGENT_CONFUSION
    told = document(attempt(1, "?", confused, ("Which file?",)), attempt(2, "?", confused, ("Which file?", "Why?")))
    assert told["unclear"] == told["questions"] == ["Which file?", "Why?"]


def test_every_kind_of_failure_has_a_next_step():
    for kind in FailureKind:
        steps = document(kind=kind)["next_steps"]
        assert steps[0].endswith((".", "note."))
        assert steps[1] == "See the evidence: noface show 7"


def test_without_work_no_branch_is_named():
    assert "git diff" not in " ".join(document(branch="")["next_steps"])


def test_the_edit_command_can_be_pasted_into_a_shell():
    command = document()["commands"][-1]
    assert shlex.split(command) == ["$EDITOR", "issues/7-a b.md"]
