"""The limits of an issue, as stories: its attempts, its money, its tokens (law 12, rule 3 of `recovery/policy.py`)."""

from dataclasses import replace

import pytest
from support.policy_story import (
    ISSUE,
    NOW,
    ROLES,
    TIERS,
    K,
    decide,
    failed,
    fails,
    history_of,
    interrupted,
    passed,
    policy,
    said,
    typed,
)

from noface.diagnosis.missing_library import MISSING_LIBRARY
from noface.model.actions import Block, Land, Mode, RequestApproval, RunWorker
from noface.model.attempt import UNASKED
from noface.model.budget import Estimate, Estimates
from noface.model.history import Topic, Verdict
from noface.model.worker_run import ModelSpec
from noface.recovery.policy import next_action
from noface.recovery.retry_policy import ReviewRules, RoleModels, When

# Attempts and money that are used up


def test_an_issue_whose_attempts_are_used_up_is_blocked_with_its_last_failure():
    assert typed(decide(*fails(4), failed(K.TIMEOUT))) == Block(K.TIMEOUT, "")


def test_the_issue_s_own_max_attempts_is_its_cap():
    issue = replace(ISSUE, max_attempts=1)
    assert typed(decide(*fails(1), issue=issue)) == Block(K.TEST_FAILURE, "")
    longer = replace(ISSUE, max_attempts=9)
    assert not isinstance(decide(*fails(8), issue=longer), Block)


def test_the_attempts_a_person_granted_outrank_the_issue_s_own():
    issue = replace(ISSUE, max_attempts=1)
    assert not isinstance(decide(*fails(2), issue=issue, attempts_max=3), Block)
    assert typed(decide(*fails(3), issue=issue, attempts_max=3)) == Block(K.TEST_FAILURE, "")


def test_a_library_that_two_attempts_in_a_row_did_not_add_is_for_a_person():
    def missed(name):
        return failed(K.ENVIRONMENT, said=f"{MISSING_LIBRARY}{name}", charged=True)

    blocked = decide(missed("leftpad"), missed("leftpad"))
    assert typed(blocked) == Block(K.ENVIRONMENT, "")
    assert blocked.reason == "the library leftpad is not installed, and 2 attempts did not add it"
    assert not isinstance(decide(missed("leftpad")), Block)
    assert not isinstance(decide(missed("yaml"), missed("leftpad")), Block)


_FORGOTTEN = failed(K.LINT_FAILURE, charged=False, cost_usd=1.0)
LEFT_IN = replace(_FORGOTTEN, failure=replace(_FORGOTTEN.failure, rule="left-in"))


def test_work_that_passed_and_may_hold_what_was_forgotten_is_told_once_to_the_same_model():
    assert typed(decide(LEFT_IN)) == RunWorker(Mode.SAME, "small", "")
    assert typed(decide(*fails(2), LEFT_IN)).mode is Mode.SAME
    assert isinstance(decide(LEFT_IN, passed()), Land)


def test_where_no_limit_allows_that_it_lands_as_it_is_or_is_approved_or_reviewed_first():
    spent = {"issue_cost_usd_max": 1.0}
    assert isinstance(decide(LEFT_IN, policy=policy(**spent)), Land)
    assert isinstance(decide(*fails(5), LEFT_IN), Land)
    approving = policy(**spent, approval_labels=("risky",))
    issue = replace(ISSUE, labels=("risky",))
    assert isinstance(decide(LEFT_IN, policy=approving, issue=issue), RequestApproval)
    assert isinstance(decide(LEFT_IN, Verdict.APPROVED, policy=approving, issue=issue), Land)
    assert isinstance(decide(LEFT_IN, Verdict.REJECTED, policy=approving, issue=issue), Block)
    review = policy(**spent, review=ReviewRules(When.ALWAYS), roles=RoleModels(reviewer="wise"))
    assert decide(LEFT_IN, policy=review).topic is Topic.REVIEW


def test_what_nobody_asked_for_is_for_a_person_whatever_a_reviewer_or_a_limit_says():
    doubts = (f"{UNASKED}: a.py: definitions of main are gone",)
    spent = policy(issue_cost_usd_max=1.0)
    assert isinstance(decide(replace(LEFT_IN, doubts=doubts), policy=spent), RequestApproval)
    asked = decide(LEFT_IN, replace(passed(), doubts=doubts))
    assert isinstance(asked, RequestApproval)
    assert doubts[0] in asked.reason
    reviewed = policy(review=ReviewRules(When.ALWAYS), roles=RoleModels(reviewer="wise"))
    work = replace(passed(), doubts=doubts)
    assert decide(work, policy=reviewed).topic is Topic.REVIEW
    assert isinstance(decide(work, said(Topic.REVIEW, strategy="approve"), policy=reviewed), RequestApproval)
    assert isinstance(decide(work, Verdict.APPROVED, policy=reviewed), Land)


def test_an_issue_that_has_spent_its_money_is_blocked():
    rich = policy(issue_cost_usd_max=1.0)
    assert not isinstance(decide(failed(K.TEST_FAILURE, cost_usd=0.99), policy=rich), Block)
    blocked = decide(failed(K.TEST_FAILURE, cost_usd=1.0), policy=rich)
    assert blocked == Block(K.TEST_FAILURE, "$1.00 used of the issue's $1.00", "max_cost_usd")


def test_money_spent_on_interrupted_attempts_and_on_questions_counts():
    rich = policy(issue_cost_usd_max=1.0)
    dear = interrupted(cost_usd=0.6)
    assert decide(dear, policy=rich).name == "RetrySame"
    assert "$1.20" in decide(dear, dear, policy=rich).reason
    asked = said(Topic.REFLECTION, cost_usd=0.6)
    assert "$1.20" in decide(failed(K.TEST_FAILURE, cost_usd=0.6), asked, policy=rich).reason


def test_money_and_answers_of_an_earlier_epoch_count_no_more():
    rich = policy(issue_cost_usd_max=1.0)
    old = failed(K.TEST_FAILURE, cost_usd=5.0)
    new = failed(K.TEST_FAILURE, cost_usd=0.5, epoch=1)
    assert not isinstance(decide(old, said(Topic.DIAGNOSIS, cost_usd=5.0), new, policy=rich, epoch=1), Block)


@pytest.mark.parametrize("kind", [K.RATE_LIMITED, K.AUTH])
def test_spent_money_is_not_given_anew_by_the_next_run_as_if_a_provider_had_come_back(kind):
    events = [failed(K.TEST_FAILURE, cost_usd=4.0), failed(kind, cost_usd=2.0)]
    blocked = decide(*events, policy=policy(issue_cost_usd_max=5.0))
    assert "$6.00 used" in blocked.reason
    assert not blocked.kind.category.external


def test_used_up_attempts_are_not_given_anew_by_the_next_run_because_the_last_one_broke_its_environment():
    blocked = decide(*fails(4), failed(K.ENVIRONMENT, charged=True))
    assert "5 attempts are used up" in blocked.reason
    assert not blocked.kind.category.external


# What the next run may cost


def limited(usd, **models):
    """What a decision is made with where these models may use so many dollars a run."""
    tiers = dict(TIERS)
    specs = {
        name: ModelSpec(name, "claude", tier=tiers.get(name, 1), max_cost_usd=models.get(name))
        for name in (*tiers, *models)
    }
    return policy(issue_cost_usd_max=usd), Estimates(specs, thinking_factor=2)


def decides(rules, *events):
    chosen, estimates = rules
    return next_action(history_of(*events), chosen, NOW, 0.5, {}, estimates)


def test_a_model_that_the_rest_of_the_money_does_not_pay_for_is_not_started():
    rules = limited(5.0, small=1.0, big=3.0)
    assert decides(rules, *fails(2, cost_usd=1.0)).name == "Escalate"
    blocked = decides(rules, failed(K.TIMEOUT, cost_usd=1.1), *fails(1, cost_usd=1.1))
    assert isinstance(blocked, Block)
    assert blocked.kind is K.TEST_FAILURE
    assert blocked.reason == ("a run of big may cost $3.00 (its max_cost_usd); $2.80 of the issue's $5.00 are left")


def test_what_a_model_has_cost_here_is_what_it_may_cost_again():
    chosen, estimates = limited(5.0)
    rules = chosen, replace(estimates, peaks={"small": Estimate("small", usd=2.5)})
    assert decides(rules, failed(K.TEST_FAILURE, cost_usd=2.5)).name == "RetryWithFeedback"
    assert "has used up to $2.50 here" in decides(rules, failed(K.TEST_FAILURE, cost_usd=2.6)).reason


def test_an_issue_whose_money_pays_for_no_first_attempt_is_blocked_before_it():
    blocked = decides(limited(1.0, small=2.0))
    assert blocked.kind is K.RESOURCE_EXHAUSTED
    assert decides(limited(2.0, small=2.0)).name == "FirstAttempt"


def test_the_review_of_work_that_passed_is_due_whatever_it_costs():
    chosen, estimates = limited(5.0, critic=9.0)
    reviewing = replace(chosen, roles=RoleModels(reviewer="critic"), review=ReviewRules(When.ALWAYS))
    assert decides((reviewing, estimates), *fails(1), passed(cost_usd=4.9)).name == "Review"


def test_an_issue_that_has_used_its_tokens_is_blocked():
    frugal = policy(issue_tokens_max=1000)
    assert not isinstance(decide(failed(K.TEST_FAILURE, tokens=999), policy=frugal), Block)
    blocked = decide(failed(K.TEST_FAILURE, tokens=600), said(Topic.REFLECTION, tokens=400), policy=frugal)
    assert blocked == Block(K.TEST_FAILURE, "1,000 tokens used of the issue's 1,000 tokens", "max_tokens")


def test_money_that_does_not_pay_for_a_question_still_pays_for_the_worker():
    chosen, estimates = limited(5.0, small=0.1, doctor=9.0)
    asking = replace(chosen, roles=ROLES)
    unasked = decides((asking, estimates), failed(K.UNKNOWN, cost_usd=0.1))
    assert unasked.name not in ("Block", "Diagnose"), unasked.reason


def test_money_that_does_not_pay_for_a_stronger_model_is_not_blamed_on_a_provider():
    rules = limited(5.0, small=1.0, big=3.0)
    blocked = decides(rules, *fails(2, cost_usd=2.0), failed(K.RATE_LIMITED, "big"))
    assert "may cost" in blocked.reason
    assert not blocked.kind.category.external
