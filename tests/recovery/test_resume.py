"""Which session the next attempt goes on with, and when an agent has refused one."""

import pytest

from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.start import StartPoint, StartReason
from noface.model.taxonomy import INTERRUPTED, FailureKind
from noface.model.worker_run import AgentRun, EndedBy, Resumed, Usage
from noface.recovery.resume import refusal, session_to_resume
from noface.recovery.start import start_of


def attempt(number, outcome=INTERRUPTED, **more):
    kind = FailureKind.__members__.get(outcome)
    charged = kind is not None and not kind.category.external
    failure = Failure(kind, "it failed", rule="r", charged=charged) if kind is not None else None
    left = {"patch_hash": f"p{number}", "candidate": f"c{number}", "charged": charged, "failure": failure}
    return PastAttempt(number, "m", 1, outcome, **{**left, "session": f"s-{number}", **more})


def resumed(*attempts, model="m", think=False, start=None):
    found = session_to_resume(attempts, start or start_of(attempts), model, think=think)
    return found.number if found is not None else None


@pytest.mark.parametrize("outcome", [INTERRUPTED, "RATE_LIMITED", "OVERLOADED", "NETWORK", "AUTH"])
def test_the_session_of_an_attempt_that_was_cut_off_is_gone_on_with(outcome):
    assert resumed(attempt(1, outcome)) == 1
    assert resumed(attempt(1, "TEST_FAILURE"), attempt(2, outcome)) == 2


@pytest.mark.parametrize("outcome", ["TEST_FAILURE", "TIMEOUT", "AGENT_CRASH", "MERGE_CONFLICT", "PASSED"])
def test_each_charged_retry_and_each_other_beginning_has_a_fresh_context(outcome):
    assert resumed(attempt(1, outcome)) is None
    assert resumed(attempt(1), attempt(2, outcome)) is None
    assert resumed() is None


def test_who_is_reminded_of_the_form_is_asked_in_its_session():
    unread = attempt(1, "OUTPUT_FORMAT", charged=False)
    assert resumed(unread) == 1
    assert resumed(attempt(1, "OUTPUT_FORMAT")) is None, "charged: the ladder"
    assert resumed(attempt(1, "OUTPUT_FORMAT", charged=False, candidate=None)) == 1
    best = attempt(1, "TEST_FAILURE", gates_passed=1, failing_tests=1)
    assert resumed(best, attempt(2, "OUTPUT_FORMAT", charged=False)) is None, "the workspace holds attempt 1's work"
    assert resumed(unread, attempt(2, "TEST_FAILURE")) is None


def test_only_the_same_model_that_thinks_as_long_goes_on():
    assert resumed(attempt(1), model="other") is None
    assert resumed(attempt(1), think=True) is None
    assert resumed(attempt(1, think=True), think=True) == 1


def test_a_stand_in_s_work_since_then_is_not_in_the_session():
    first, second = attempt(1, "RATE_LIMITED"), attempt(2, "OVERLOADED", session="other")
    assert resumed(first, second) == 2, "the newest"
    worked = attempt(2, "OVERLOADED", session="")
    assert resumed(first, worked) is None
    never_began = attempt(2, "ENVIRONMENT", session="", candidate=None)
    assert resumed(first, never_began) == 1


def test_a_session_must_find_its_files():
    left, nothing = attempt(1), attempt(1, candidate=None)
    for reason in (StartReason.CONFLICT, StartReason.GONE, StartReason.DIVIDED, StartReason.BY_PERSON):
        assert resumed(left, start=StartPoint(reason, 1)) is None
        assert resumed(nothing, start=StartPoint(reason, 1)) is None
    assert resumed(nothing, start=StartPoint(StartReason.NOTHING_YET)) == 1


@pytest.mark.parametrize("session", ["", "--evil", "-x", "a b", "../../x", "x" * 201])
def test_no_word_of_an_agent_is_taken_for_an_option(session):
    assert resumed(attempt(1, session=session)) is None


def test_a_session_that_was_refused_is_not_tried_again():
    again = attempt(2, "OVERLOADED", session="s-1", resumed=Resumed("s-1", 1, "not found"))
    assert resumed(attempt(1), again) is None
    assert resumed(attempt(1), attempt(2, session="new", resumed=Resumed("s-1", 1, "not found"))) == 2
    assert resumed(attempt(1), attempt(2, session="s-1", resumed=Resumed("s-1", 1))) == 2


def run(kind=FailureKind.MISCONFIGURED, ended_by=EndedBy.ITSELF, tokens=None):
    error = Failure(kind, "no conversation found", rule="r") if kind is not None else None
    return AgentRun(1, None, ended_by, 1.0, Usage(tokens_in=tokens), error=error)


def test_a_run_that_fails_before_its_model_has_said_anything_has_refused_the_session():
    assert refusal(run()) == "no conversation found"
    assert refusal(run(FailureKind.AGENT_CRASH, tokens=0)) == "no conversation found"
    assert refusal(run(FailureKind.RESOURCE_EXHAUSTED)), "the conversation has become too long"
    for no_refusal in (
        run(None),
        run(tokens=1000),
        run(FailureKind.OVERLOADED),
        run(FailureKind.RATE_LIMITED),
        run(FailureKind.AUTH),
        run(ended_by=EndedBy.CANCELLED),
        run(ended_by=EndedBy.IDLE),
    ):
        assert refusal(no_refusal) == ""
