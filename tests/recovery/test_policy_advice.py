"""Who is asked before the next attempt, and what becomes of the answer: boundaries and open questions (rules 11, 12)."""

from dataclasses import replace

import pytest
from support.policy_story import LADDER, ROLES, K, blocked_by, decide, failed, fails, interrupted, policy, said

from noface.model.actions import Ask, Block, Land, Mode, RequestApproval, RunWorker
from noface.model.failure import TOO_LARGE
from noface.model.history import AdviceOutcome, Topic, Verdict
from noface.model.issue import Issue
from noface.model.taxonomy import Strategy
from noface.model.worker_run import Asked, BlockedReason, Question, ReportStatus, WorkerReport
from noface.recovery.partly_done import PARTLY_DONE
from noface.recovery.retry_policy import RoleModels

ASKING = policy(roles=ROLES, attempts_max=9)
BOUNDARY = [K.BOUNDARY_VIOLATION, K.GATE_TAMPERING]
GAPS = [K.AGENT_CONFUSION, K.AGENT_REFUSED]
NO_HELP = [AdviceOutcome.UNUSABLE, AdviceOutcome.UNAVAILABLE]
EXPAND = said(Topic.BOUNDARY, strategy="expand", paths=("db/a.sql", "db/b.sql"))
REDESIGN = said(Topic.BOUNDARY, strategy="redesign", text="Do it in a.py alone.")
CONTRACT = blocked_by(BlockedReason.CONTRACT_CHANGE)

# Rule 11: boundaries


@pytest.mark.parametrize("kind", BOUNDARY)
def test_crossing_a_boundary_has_the_resolver_asked(kind):
    asked = decide(failed(kind), policy=ASKING)
    assert asked == Ask(Topic.BOUNDARY, "judge", f"{kind}: how can it be done inside the boundary?")


@pytest.mark.parametrize("kind", BOUNDARY)
def test_without_a_resolver_the_worker_is_told_itself(kind):
    assert decide(failed(kind)) == RunWorker(Mode.FEEDBACK, "small", f"{kind}: once more, with feedback")


@pytest.mark.parametrize("rules", [policy(), ASKING], ids=["nobody to ask", "a resolver"])
@pytest.mark.parametrize("kind", BOUNDARY)
def test_crossing_a_boundary_twice_in_a_row_is_told_to_a_person(kind, rules):
    first = [failed(kind), REDESIGN] if rules is ASKING else [failed(kind)]
    told = decide(*first, failed(kind), policy=rules)
    assert isinstance(told, RequestApproval if kind is K.GATE_TAMPERING else Block)  # which a word lets land
    assert told.reason.startswith("the worker was told and did it again")
    assert decide(*first, interrupted(), failed(kind), policy=rules).kind is kind


def test_a_resolver_s_redesign_goes_to_the_worker():
    told = decide(failed(K.BOUNDARY_VIOLATION), REDESIGN, policy=ASKING)
    assert told == RunWorker(Mode.FEEDBACK, "small", "BOUNDARY_VIOLATION: once more, with feedback")


@pytest.mark.parametrize("kind", [K.BOUNDARY_VIOLATION, K.TEST_FAILURE])
def test_a_resolver_s_word_counts_whatever_he_was_asked_about(kind):
    asking = policy(roles=ROLES, strategies=((kind, Strategy.RESOLVER),))
    person = said(Topic.BOUNDARY, strategy="person", text="not yours")
    assert decide(failed(kind), person, policy=asking) == Block(kind, "the resolver asks for a person: not yours")
    wider = decide(failed(kind), EXPAND, policy=asking)
    assert isinstance(wider, RequestApproval)
    assert wider.paths == EXPAND.paths
    for verdict in (Verdict.APPROVED, Verdict.REJECTED):
        assert decide(failed(kind), EXPAND, verdict, policy=asking).name in ("AddContext", "RetryWithFeedback")


@pytest.mark.parametrize("outcome", NO_HELP)
def test_a_resolver_without_an_answer_is_not_asked_again_about_the_same_attempt(outcome):
    answer = said(Topic.BOUNDARY, outcome=outcome, strategy="person")
    assert decide(failed(K.GATE_TAMPERING), answer, policy=ASKING).name == "RetryWithFeedback"


@pytest.mark.parametrize(
    ("verdict", "words"), [(Verdict.APPROVED, "a person approved"), (Verdict.REJECTED, "a person refused")]
)
def test_the_worker_is_told_what_a_person_decided_about_wider_paths(verdict, words):
    told = decide(failed(K.BOUNDARY_VIOLATION), EXPAND, verdict, policy=ASKING)
    assert told == RunWorker(Mode.CONTEXT, "small", f"{words}: once more, with what noface knows")


@pytest.mark.parametrize("kind", BOUNDARY)
def test_a_worker_that_argues_that_a_test_is_wrong_gets_the_resolver_s_word_and_then_a_person_s(kind):
    person = RequestApproval(kind, "the worker argues that a test or a contract is wrong: look at it")
    argues = failed(kind, report=CONTRACT)
    assert decide(argues) == person  # nobody else is named
    asked = decide(argues, policy=ASKING)
    assert isinstance(asked, Ask)
    assert (asked.topic, asked.model) == (Topic.BOUNDARY, "judge")
    for useless in (AdviceOutcome.UNUSABLE, AdviceOutcome.UNAVAILABLE):
        assert decide(argues, said(Topic.BOUNDARY, outcome=useless), policy=ASKING) == person
    passed_on = decide(argues, said(Topic.BOUNDARY, strategy="person", text="is 4 right?"), policy=ASKING)
    assert passed_on == RequestApproval(kind, "the resolver asks for a person: is 4 right?")
    guided = said(Topic.BOUNDARY, strategy="redesign", text="keep the test")
    told = decide(argues, guided, policy=ASKING)
    assert (told.name, "keep the test" in told.reason) == ("RetryWithFeedback", True)
    assert decide(argues, guided, argues, policy=ASKING) == person
    assert decide(argues, EXPAND, policy=ASKING).paths == ("db/a.sql", "db/b.sql")
    assert decide(argues, Verdict.REJECTED, policy=ASKING).name == "AddContext"


def test_a_change_of_the_tests_that_a_person_approved_may_land():
    tampering = failed(K.GATE_TAMPERING, report=CONTRACT, candidate="c0ffee")
    landed = decide(tampering, Verdict.APPROVED, policy=ASKING)
    assert landed == Land("a person approved the change of the tests; it lands if the gates pass")
    assert decide(tampering, Verdict.REJECTED, policy=ASKING).name == "AddContext"


def test_nothing_else_lands_because_a_person_approved_it():
    for kind, commit in ((K.GATE_TAMPERING, None), (K.BOUNDARY_VIOLATION, "c0ffee")):
        told = decide(failed(kind, report=CONTRACT, candidate=commit), Verdict.APPROVED, policy=ASKING)
        assert told.name == "AddContext"


def test_to_allow_further_paths_is_not_to_approve_a_change_of_the_tests():
    tampering = failed(K.GATE_TAMPERING, candidate="c0ffee")
    asked = decide(tampering, EXPAND, policy=ASKING)
    assert asked.paths == ("db/a.sql", "db/b.sql")
    assert not isinstance(decide(tampering, EXPAND, Verdict.APPROVED, policy=ASKING), Land)


def test_it_gets_a_person_s_word_also_where_it_argues_again():
    row = [failed(K.GATE_TAMPERING, report=CONTRACT), Verdict.REJECTED, failed(K.GATE_TAMPERING, report=CONTRACT)]
    assert isinstance(decide(*row), RequestApproval)


def test_a_report_without_such_an_argument_changes_nothing():
    unclear = blocked_by(BlockedReason.UNCLEAR)
    assert decide(failed(K.GATE_TAMPERING, report=unclear)).name == "RetryWithFeedback"
    assert decide(failed(K.TEST_FAILURE, report=CONTRACT)).name == "RetryWithFeedback"


def test_boundaries_that_are_to_be_answered_with_feedback_are_never_taken_to_a_resolver():
    plain = policy(roles=ROLES, strategies=((K.GATE_TAMPERING, Strategy.FEEDBACK),))
    assert decide(failed(K.GATE_TAMPERING), policy=plain).name == "RetryWithFeedback"
    assert decide(*fails(2, kind=K.GATE_TAMPERING), policy=plain).name == "Escalate"


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("kind", [K.GATE_TAMPERING, K.TEST_FAILURE, K.TIMEOUT])
def test_where_a_person_is_to_approve_a_failure_the_verdict_is_final(kind, verdict):
    asking = policy(strategies=((kind, Strategy.APPROVAL),))
    assert decide(failed(kind), policy=asking) == RequestApproval(kind, f"[retry.strategies] {kind} = approval")
    told = decide(failed(kind), verdict, policy=asking)
    assert not isinstance(told, RequestApproval), "a person was asked and has answered"


# Rule 12: the worker does not know what to do


@pytest.mark.parametrize("kind", GAPS)
def test_a_worker_that_is_unsure_has_the_planner_asked(kind):
    asked = decide(failed(kind), policy=ASKING)
    assert asked == Ask(Topic.CLARIFICATION, "planner", f"{kind}: ask the planner what is meant")


@pytest.mark.parametrize("outcome", AdviceOutcome)
@pytest.mark.parametrize("kind", GAPS)
def test_whatever_the_planner_answers_the_worker_gets_context(kind, outcome):
    told = decide(failed(kind), said(Topic.CLARIFICATION, outcome=outcome), policy=ASKING)
    assert told == RunWorker(Mode.CONTEXT, "small", f"{kind}: once more, with what noface knows")


@pytest.mark.parametrize("kind", GAPS)
def test_without_a_planner_a_worker_that_is_unsure_gets_context_at_once(kind):
    assert decide(failed(kind)).name == "AddContext"


@pytest.mark.parametrize("kind", GAPS)
def test_a_worker_that_is_unsure_again_is_told_to_a_person(kind):
    row = [failed(kind), said(Topic.CLARIFICATION), failed(kind)]
    alone = policy(ladder=LADDER[:1], roles=ROLES, attempts_max=9)
    assert decide(*row, policy=alone) == Block(kind, "the worker still does not know what to do")
    assert not isinstance(decide(failed(kind), *fails(1), failed(kind), policy=ASKING), Block)


def test_what_a_model_refuses_twice_another_is_asked_to_do_and_a_confusion_is_a_persons():
    refused = [failed(K.AGENT_REFUSED), said(Topic.CLARIFICATION), failed(K.AGENT_REFUSED)]
    assert (decide(*refused, policy=ASKING).name, decide(*refused, policy=ASKING).model) == ("Escalate", "big")
    assert isinstance(decide(*refused, failed(K.AGENT_REFUSED, "big"), policy=ASKING), Block)
    unsure = [failed(K.AGENT_CONFUSION), said(Topic.CLARIFICATION), failed(K.AGENT_CONFUSION)]
    assert isinstance(decide(*unsure, policy=ASKING), Block)
    assert isinstance(decide(failed(K.AGENT_REFUSED), *unsure, policy=ASKING), Block)


def test_a_gap_that_is_to_be_answered_with_feedback_gets_no_context():
    plain = policy(strategies=((K.AGENT_CONFUSION, Strategy.FEEDBACK),))
    assert decide(failed(K.AGENT_CONFUSION), policy=plain).name == "RetryWithFeedback"


def test_other_failures_that_are_to_be_answered_with_context_get_it_every_time():
    context = policy(
        ladder=LADDER[:1], roles=RoleModels(planner="planner"), strategies=((K.LINT_FAILURE, Strategy.CONTEXT),)
    )
    first = failed(K.LINT_FAILURE)
    assert decide(first, policy=context).topic is Topic.CLARIFICATION
    assert decide(first, said(Topic.CLARIFICATION), policy=context).name == "AddContext"
    again = [first, said(Topic.CLARIFICATION), failed(K.LINT_FAILURE)]
    assert decide(*again, policy=context).topic is Topic.CLARIFICATION
    assert decide(*again, said(Topic.CLARIFICATION), policy=context).name == "AddContext"


def stopped(*questions, **more):
    """An attempt whose worker stopped by its own word, and asks."""
    report = WorkerReport(ReportStatus.BLOCKED, questions=tuple(questions), blocked_reason=BlockedReason.UNCLEAR)
    return failed(K.AGENT_BLOCKED, charged=False, report=report, **more)


WHO = {who: stopped(Question("Which?", who)) for who in Asked}


@pytest.mark.parametrize(
    ("events", "planner", "comes"),
    [
        ([WHO[Asked.PERSON]], True, "only a person can answer: Which?"),
        ([WHO[Asked.PERSON]], False, "only a person can answer: Which?"),
        ([WHO[Asked.CHOICE]], True, Topic.CLARIFICATION),
        ([WHO[Asked.CHOICE]], False, "only a person can answer: Which?"),
        ([WHO[Asked.PROJECT]], True, Topic.CLARIFICATION),
        ([WHO[Asked.PROJECT]], False, "AddContext"),
        ([WHO[Asked.ANYBODY]], True, Topic.CLARIFICATION),
        ([WHO[Asked.ANYBODY]], False, "AddContext"),
        ([WHO[Asked.CHOICE], said(Topic.CLARIFICATION)], True, "AddContext"),
        (
            [WHO[Asked.PROJECT], said(Topic.CLARIFICATION, strategy="person", cause="How many?")],
            True,
            "the planner says that only a person can answer: How many?",
        ),
        ([WHO[Asked.PROJECT], said(Topic.CLARIFICATION, strategy="divide", divide=("a", "b"))], True, Topic.BREAKDOWN),
        ([WHO[Asked.PROJECT]] * 2, False, "the worker still does not know what to do"),
    ],
)
def test_a_question_goes_to_who_can_answer_it(events, planner, comes):
    asking = policy(roles=RoleModels(planner="planner" if planner else None))
    action = decide(*events, policy=asking)
    told = action.topic if isinstance(action, Ask) else action.reason if isinstance(action, Block) else action.name
    assert told == comes


def left(count, diff, **more):
    report = WorkerReport(ReportStatus.PARTIAL, left=tuple(map(str, range(count))))
    attempt = failed(K.RESOURCE_EXHAUSTED, diff=diff, report=report, **more)
    return replace(attempt, failure=replace(attempt.failure, rule=PARTLY_DONE))


def test_who_does_nothing_of_what_is_left_twice_in_a_row_is_helped_by_the_planner():
    row = [left(3, "a", charged=False), left(3, "b", charged=False), left(3, "c")]
    assert decide(*row, policy=ASKING).topic is Topic.CLARIFICATION
    assert decide(*row).name == "RetryWithFeedback"


def test_what_is_too_large_is_divided_by_the_planner_or_as_its_worker_says_and_else_made_smaller():
    def large(*parts):
        attempt = failed(K.RESOURCE_EXHAUSTED, charged=False, report=WorkerReport(ReportStatus.TOO_LARGE, parts=parts))
        return replace(attempt, failure=replace(attempt.failure, rule=TOO_LARGE))

    assert (decide(large(), policy=ASKING).topic, decide(large("a", "b")).model) == (Topic.BREAKDOWN, "")
    assert decide(large()).name == "ReduceScope"
    assert decide(large("a", "b"), issue=Issue("7.1.1", "t", parent="7.1", depth=2)).name == "ReduceScope"
