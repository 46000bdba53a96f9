"""Failures that nobody can explain, or that come again and again: known causes, then a diagnosis (rule 13, S1 to S5)."""

from dataclasses import replace

import pytest
from support.policy_story import ISSUE, NOW, K, conflict, decide, failed, fails, policy, rungs, said

from noface.model.actions import Ask, Block, Mode, RunWorker, Skip, WaitUntil
from noface.model.history import AdviceOutcome, History, Topic
from noface.model.taxonomy import Strategy
from noface.recovery.policy_state import excused
from noface.recovery.retry_policy import RoleModels, Rung

DOCTOR = RoleModels(diagnoser="doctor")
ASKING = policy(roles=DOCTOR, attempts_max=9)
DISK_FULL = "OSError: [Errno 28] No space left on device: 'x'"
NO_PROGRAM = "bash: line 1: jqq: command not found"
SLOW = "Error: connect ETIMEDOUT 10.0.0.1:443"


def diagnosis(strategy="alternative_approach", **more):
    return said(Topic.DIAGNOSIS, **{"strategy": strategy, "cause": "it is odd", "text": "try b.py", **more})


def alike(times, model="small", kind=K.TEST_FAILURE):
    """The same failure from different changes."""
    return [failed(kind, model, said="a") for _ in range(times)]


# Who is asked


def test_an_unknown_failure_is_diagnosed():
    asked = decide(failed(K.UNKNOWN), policy=ASKING)
    assert asked == Ask(Topic.DIAGNOSIS, "doctor", "UNKNOWN: nobody knows yet why it failed")


def test_the_same_failure_again_is_diagnosed():
    assert decide(*alike(1), policy=ASKING).name == "RetryWithFeedback"
    assert decide(*alike(2), policy=ASKING) == Ask(Topic.DIAGNOSIS, "doctor", "TEST_FAILURE: the same failure again")
    assert decide(*fails(2), policy=ASKING).name == "Escalate"
    between = [*alike(1), failed(K.RATE_LIMITED), conflict(), *alike(1)]
    assert decide(*between, policy=ASKING).name == "Diagnose"


def test_an_unknown_failure_that_is_to_be_answered_otherwise_is_not_diagnosed():
    incurious = policy(roles=DOCTOR, strategies=((K.UNKNOWN, Strategy.REDUCE),))
    assert decide(failed(K.UNKNOWN), policy=incurious).name == "ReduceScope"


def test_without_a_diagnoser_an_unknown_failure_gets_context_first_and_then_the_ladder():
    assert decide(failed(K.UNKNOWN)) == RunWorker(Mode.CONTEXT, "small", "UNKNOWN: once more, with what noface knows")
    assert decide(*fails(2, kind=K.UNKNOWN)).name == "Escalate"
    patient = rungs(("small", 5))
    assert decide(*fails(2, kind=K.UNKNOWN), policy=patient).name == "RetryWithFeedback"


def test_a_repeated_failure_whose_diagnoser_is_of_no_help_climbs_the_ladder():
    told = decide(*alike(2), diagnosis(outcome=AdviceOutcome.UNUSABLE), policy=ASKING)
    assert told.name == "Escalate"


# Causes that are known


def test_a_known_cause_needs_no_diagnoser():
    told = decide(failed(K.UNKNOWN, message=NO_PROGRAM), policy=ASKING)
    assert told.name == "AddContext"
    assert told.reason.startswith("known cause: ")


def test_a_known_cause_that_no_worker_can_mend_is_told_to_a_person():
    blocked = decide(failed(K.UNKNOWN, message=DISK_FULL), policy=ASKING)
    assert isinstance(blocked, Block)
    assert blocked.kind is K.UNKNOWN
    assert "disk" in blocked.reason


def test_a_known_cause_that_passes_by_itself_is_waited_for():
    told = decide(failed(K.UNKNOWN, message=SLOW, finished_at=NOW), policy=ASKING)
    assert isinstance(told, WaitUntil), told.reason
    assert told.until > NOW
    over = decide(failed(K.UNKNOWN, message=SLOW, finished_at=NOW - 10_000), policy=ASKING)
    assert not isinstance(over, WaitUntil)


def test_a_known_cause_is_followed_once_and_then_diagnosed():
    again = [failed(K.UNKNOWN, message=NO_PROGRAM, said="a", answer="AddContext") for _ in range(2)]
    assert decide(*again, policy=ASKING).name == "Diagnose"


# What becomes of a diagnosis


@pytest.mark.parametrize("strategy", ["alternative_approach", "retry_modified"])
def test_another_approach_is_given_to_the_worker(strategy):
    told = decide(failed(K.UNKNOWN), diagnosis(strategy), policy=ASKING)
    assert told == RunWorker(Mode.FEEDBACK, "small", "diagnosis: try b.py: once more, with feedback")


def test_a_diagnosis_that_it_can_be_skipped_is_followed_only_where_that_is_allowed():
    events = [failed(K.UNKNOWN), diagnosis("skip_and_continue", text="main has it")]
    careful = decide(*events, policy=ASKING)
    assert careful == Block(K.UNKNOWN, "the diagnosis advises to skip it: main has it")
    assert decide(*events, policy=policy(roles=DOCTOR, allow_skip=True)) == Skip("diagnosis: main has it")


def test_a_diagnosis_that_nothing_can_be_recovered_is_told_to_a_person():
    hopeless = decide(failed(K.UNKNOWN), diagnosis(recoverable="no"), policy=ASKING)
    assert hopeless == Block(K.UNKNOWN, "diagnosed as not recoverable: it is odd")
    skip = diagnosis("skip_and_continue", recoverable="no")
    assert isinstance(decide(failed(K.UNKNOWN), skip, policy=policy(roles=DOCTOR, allow_skip=True)), Skip)
    for maybe in ("yes", "maybe", ""):
        assert not isinstance(decide(failed(K.UNKNOWN), diagnosis(recoverable=maybe), policy=ASKING), Block)


def test_a_diagnosis_that_asks_for_more_power_gets_the_next_rung():
    told = decide(failed(K.UNKNOWN), diagnosis("escalate"), policy=ASKING)
    assert told == RunWorker(Mode.ESCALATE, "big", "diagnosis: it is odd: next step, big")


def test_above_the_last_rung_there_is_only_a_person():
    last = [*fails(2), failed(K.UNKNOWN, "big")]
    assert decide(*last, diagnosis("escalate"), policy=ASKING) == Block(
        K.UNKNOWN, "the diagnosis asks for a person: it is odd"
    )


def test_the_same_again_is_the_same_run_after_the_delay_that_the_diagnosis_names():
    events = [failed(K.UNKNOWN, finished_at=NOW - 20), diagnosis("retry_same", text="", delay_s=60.0)]
    waits = decide(*events, policy=ASKING)
    assert waits == WaitUntil("small", NOW + 40, "diagnosis: wait first (it is odd)", provider=False)
    again = RunWorker(Mode.SAME, "small", "diagnosis: the same again, since it was not the work: it is odd")
    for now in (NOW + 40, NOW + 1000):
        assert decide(*events, policy=ASKING, now=now) == again
    at_once = [failed(K.UNKNOWN, finished_at=NOW), diagnosis("retry_same", text="")]
    assert decide(*at_once, policy=ASKING) == again


def test_the_same_again_climbs_no_ladder_and_keeps_the_thinking():
    thinking = rungs(("small", 1), ("small", 5, "think"), roles=DOCTOR)
    for think in (False, True):
        events = [failed(K.UNKNOWN, finished_at=NOW, think=think), diagnosis("retry_same", text="", delay_s=60.0)]
        for told in (decide(*events, policy=thinking), decide(*events, policy=thinking, now=NOW + 60)):
            assert (told.model, told.think) == ("small", think)


def test_what_a_diagnosis_calls_no_fault_of_the_work_is_not_charged_once():
    first, same = failed(K.UNKNOWN), diagnosis("retry_same", text="", delay_s=60.0)
    excuse = excused(replace(same, after=1), History(ISSUE, (replace(first, number=1),)))
    assert excuse is not None
    assert (excuse.kind, excuse.charged) == (K.UNKNOWN, False)
    uncharged = replace(first, charged=False, failure=excuse, finished_at=NOW)
    assert isinstance(decide(uncharged, same, policy=ASKING), WaitUntil)
    assert decide(uncharged, same, policy=ASKING, now=NOW + 60).name == "RetrySame"
    once = History(ISSUE, (replace(first, number=1), replace(first, number=2)), advice=(replace(same, after=1),))
    assert excused(replace(same, after=2), once) is None
    for other in (diagnosis("escalate"), diagnosis("retry_same", recoverable="no"), said(Topic.REFLECTION)):
        assert excused(replace(other, after=1), History(ISSUE, (replace(first, number=1),))) is None


def test_a_proposal_that_was_tried_before_is_not_followed_again():
    first = [failed(K.UNKNOWN), diagnosis("skip_and_continue", text="try  b.py")]
    told = decide(*first, failed(K.UNKNOWN), diagnosis("skip_and_continue", text="try b.py"), policy=ASKING)
    assert told.name == "Escalate"
    other = decide(*first, failed(K.UNKNOWN), diagnosis("skip_and_continue", text="try c.py"), policy=ASKING)
    assert isinstance(other, Block)


def test_advice_that_comes_again_is_answered_by_the_next_rung_and_nobody_is_asked_again():
    patient = policy(roles=DOCTOR, ladder=(Rung("small", 1, 5), Rung("big", 2, 5)), attempts_max=9)
    unknown = [failed(K.UNKNOWN, said="a") for _ in range(4)]
    first = [unknown[0], diagnosis(text="make strange.sh executable")]
    assert decide(*first, policy=patient).name == "RetryWithFeedback"
    assert decide(*first, unknown[1], policy=patient).name == "Diagnose"
    again = [*first, unknown[1], diagnosis("retry_modified", text="Make strange.sh executable.")]
    told = decide(*again, policy=patient)
    assert (told.name, told.model) == ("Escalate", "big")
    assert "says again" in told.reason
    third = decide(*again, replace(unknown[2], model="big", tier=2), policy=patient)
    assert (third.name, third.model) == ("RetryWithFeedback", "big")


def test_nobody_is_asked_about_what_has_not_changed_since_the_last_diagnosis():
    patient = policy(roles=DOCTOR, ladder=(Rung("small", 1, 5), Rung("big", 2, 5)), attempts_max=9)
    stuck = [failed(K.UNKNOWN, said="a", diff="x") for _ in range(2)]
    assert decide(stuck[0], diagnosis(), stuck[1], policy=patient).name == "Escalate"
    assert decide(*stuck, policy=patient).name == "Diagnose"


def test_failures_without_a_signature_are_not_taken_for_one_another():
    rules = replace(ASKING, ladder=(Rung("small", 1, 9),))
    nameless = [failed(K.RUNTIME_ERROR, said="", message=message) for message in "xxyy"]
    row = [*nameless[:2], diagnosis(), *nameless[2:]]
    assert decide(*row, policy=rules).name == "Diagnose"
    followed = failed(K.UNKNOWN, said="", message=NO_PROGRAM, answer="AddContext")
    other = failed(K.UNKNOWN, said="", message="npm ERR! code ERESOLVE")
    assert decide(followed, other, policy=rules).name == "AddContext"
