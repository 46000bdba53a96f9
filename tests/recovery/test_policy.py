"""The retry policy as stories: how an issue begins and lands, and what stops it (rules 1, 2, 4 and 5 of `recovery/policy.py`)."""

from dataclasses import replace

import pytest
from support.policy_story import (
    ALONE,
    ISSUE,
    NOW,
    ROLES,
    K,
    conflict,
    decide,
    failed,
    fails,
    interrupted,
    passed,
    policy,
    typed,
)

from noface.model.actions import Block, Land, Mode, RequestApproval, RunWorker
from noface.model.history import Verdict
from noface.model.taxonomy import Category, Strategy

# Rule 1


def test_an_issue_without_attempts_starts_on_the_first_rung():
    assert typed(decide()) == RunWorker(Mode.FIRST, "small", "")


def test_attempts_of_an_earlier_epoch_count_no_more():
    assert decide(*fails(5), epoch=1).name == "FirstAttempt"


# Rule 2

CAREFUL = policy(approval_paths=("db/**",), approval_labels=("risky",))
RISKY = replace(ISSUE, labels=("docs", "risky"))


def test_an_attempt_that_passed_is_landed():
    assert decide(passed()) == Land("every hard gate passed")
    assert isinstance(decide(*fails(3), passed("big")), Land)


def test_an_issue_with_a_label_that_needs_approval_is_not_landed_without_it():
    asked = decide(passed(), policy=CAREFUL, issue=RISKY)
    assert isinstance(asked, RequestApproval)
    assert asked.kind is None
    assert '"risky"' in asked.reason


def test_a_change_of_a_path_that_needs_approval_is_not_landed_without_it():
    asked = decide(passed(changed=("a.py", "db/users.sql")), policy=CAREFUL)
    assert isinstance(asked, RequestApproval)
    assert asked.kind is None
    assert "db/users.sql" in asked.reason


def test_what_a_person_approved_is_landed():
    attempt = passed(changed=("db/users.sql",))
    assert isinstance(decide(attempt, Verdict.APPROVED, policy=CAREFUL, issue=RISKY), Land)


def test_an_approval_is_for_one_attempt_only():
    again = decide(passed(), Verdict.APPROVED, failed(K.TEST_FAILURE), passed(), policy=CAREFUL, issue=RISKY)
    assert isinstance(again, RequestApproval)


def test_work_that_a_person_rejected_goes_back_to_the_worker():
    rejected = failed(K.REVIEW_REJECTED, message="rejected by a person: keep the old name")
    told = decide(rejected, Verdict.REJECTED, policy=CAREFUL, issue=RISKY)
    assert typed(told) == RunWorker(Mode.FEEDBACK, "small", "")


def test_a_rejection_holds_though_no_rule_asks_for_approval_any_more():
    assert not isinstance(decide(passed(), Verdict.REJECTED), Land)


# Rule 4


def test_an_interrupted_attempt_is_run_again_by_the_same_model_and_charged_to_nobody():
    again = decide(*fails(2), interrupted("big"))
    assert typed(again) == RunWorker(Mode.SAME, "big", "")


def test_an_interrupted_first_attempt_is_simply_run_again():
    assert decide(interrupted()).name == "RetrySame"
    assert decide(*[interrupted()] * 50).name == "RetrySame"


def test_interruptions_neither_count_nor_break_a_row():
    assert decide(*[interrupted()] * 9, conflict()).name == "RetrySame"
    limited = failed(K.RATE_LIMITED)
    cut = interrupted()
    assert isinstance(
        decide(limited, cut, limited, cut, limited, cut, limited, policy=policy(transient_retries=3)), Block
    )


def test_a_model_that_the_configuration_no_longer_names_is_not_run_again():
    for gone in (failed(K.RATE_LIMITED), interrupted(), conflict()):
        assert decide(replace(gone, model="retired")).model == "small"


# Rule 5


MENDED_BY_NOBODY = [kind for kind in K if kind.category is Category.ENVIRONMENT and kind is not K.BASELINE_RED]


@pytest.mark.parametrize("kind", MENDED_BY_NOBODY)
def test_what_no_retry_mends_is_blocked_at_once_where_no_other_model_could_work(kind):
    alone = policy(ladder=ALONE, roles=ROLES, refused=frozenset({"small"}))
    assert typed(decide(failed(kind), policy=alone)) == Block(kind, "")
    if kind not in (K.AUTH, K.MISCONFIGURED):
        assert typed(decide(failed(kind))) == Block(kind, "")


@pytest.mark.parametrize("kind", [K.AUTH, K.MISCONFIGURED])
def test_a_login_or_a_program_that_is_refused_is_looked_at_three_times_before_a_person_is_asked(kind):
    """A token that was being renewed blocked four issues in two seconds, a program under update all that was left."""
    alone = policy(ladder=ALONE, roles=ROLES, backoff_base_s=30.0)
    waits = [decide(*fails(times, kind=kind), policy=alone) for times in (1, 2, 3)]
    assert [round(each.until - NOW) for each in waits] == [10, 60, 300]
    assert all(each.provider for each in waits), "all issues of the model wait together"
    assert typed(decide(*fails(4, kind=kind), policy=alone)) == Block(kind, "")
    seen = failed(kind)
    seen = replace(seen, failure=replace(seen.failure, rule="never-worked"))  # at several issues already
    assert typed(decide(seen, policy=alone)) == Block(kind, "")


def test_a_red_main_is_waited_for_until_it_is_red_again_and_again():
    assert decide(*fails(5, kind=K.BASELINE_RED, charged=False)).name == "RetrySame"
    assert typed(decide(*fails(6, kind=K.BASELINE_RED, charged=False))) == Block(K.BASELINE_RED, "")
    told = policy(strategies=((K.BASELINE_RED, Strategy.BLOCK),))
    assert typed(decide(failed(K.BASELINE_RED), policy=told)) == Block(K.BASELINE_RED, "")


@pytest.mark.parametrize("kind", [K.AUTH, K.MISCONFIGURED])
def test_another_model_works_in_the_place_of_one_that_cannot_be_used(kind):
    assert decide(failed(kind)) == RunWorker(
        Mode.SAME, "big", f"{kind}: small cannot be used here, big works in its place"
    )
    assert decide(failed(kind), policy=policy(alternatives=("small", "twin"))).model == "twin"
    assert typed(decide(failed(kind), *fails(4, "big", K.AUTH))) == Block(K.AUTH, "")


def test_no_other_model_works_where_a_gate_is_misconfigured():
    at_fault = failed(K.MISCONFIGURED)
    at_fault = replace(at_fault, failure=replace(at_fault.failure, gate="docs"))
    assert typed(decide(at_fault)) == Block(K.MISCONFIGURED, "")


def test_a_model_that_cannot_be_used_is_tried_once_an_issue():
    twins = policy(alternatives=("small", "twin"))
    after = decide(failed(K.AUTH), failed(K.TEST_FAILURE, "twin"), policy=twins)
    assert after.name == "RetryWithFeedback"
    assert (after.model, after.reason.endswith("; small cannot be used here")) == ("twin", True)
    assert decide(failed(K.AUTH), failed(K.TEST_FAILURE)).model == "small", "it has worked since"


def test_a_dearer_model_with_a_login_that_was_refused_is_not_tried():
    shared = policy(alternatives=("small", "twin"), logins=(("small", "a"), ("twin", "b"), ("big", "a")))
    assert decide(failed(K.AUTH), policy=shared).model == "twin", "it has a login of its own"
    blocked = decide(failed(K.AUTH), *fails(4, "twin", K.AUTH), policy=shared)
    assert isinstance(blocked, Block)
    refused = failed(K.AUTH)
    alone, said = (
        decide(refused, policy=replace(shared, alternatives=(), refused=frozenset({"small"}))),
        refused.failure.message,
    )
    assert alone == Block(K.AUTH, f"small cannot be used: {said}")
    assert decide(failed(K.MISCONFIGURED), policy=replace(shared, alternatives=())).model == "big"
    assert decide(failed(K.AUTH), *fails(2), policy=shared).model == "big", "the login has worked since"


def test_an_issue_that_must_not_escalate_or_a_kind_with_another_answer_gets_no_other_model():
    bound = replace(ISSUE, no_escalate=True)
    assert isinstance(decide(*fails(4, kind=K.AUTH), issue=bound), Block)
    told = policy(strategies=((K.AUTH, Strategy.BLOCK),))
    assert isinstance(decide(failed(K.AUTH), policy=told), Block)


@pytest.mark.parametrize("kind", [K.ENVIRONMENT, K.BASELINE_RED])
def test_an_environment_failure_that_the_change_caused_climbs_the_ladder(kind):
    assert decide(failed(kind, charged=True)).name == "RetryWithFeedback"
    assert decide(*fails(2, kind=kind, charged=True)).name == "Escalate"


# What was recorded


def test_a_failure_that_was_not_recorded_is_judged_by_its_outcome():
    bare = replace(failed(K.TIMEOUT), failure=None)
    assert decide(bare).name == "ReduceScope"


def test_an_outcome_that_nobody_knows_is_an_unknown_failure():
    newer = replace(failed(K.TIMEOUT), failure=None, outcome="SOMETHING_NEWER")
    assert decide(newer).name == "AddContext"
