"""The rules stand in an order: of two neighbours that both apply, the earlier one wins (K7).

The rules and their numbers are those of the docstring of `recovery/policy.py`. Each test is a history that both speak of.
"""

from dataclasses import replace

from support.policy_story import (
    ALONE,
    ROLES,
    K,
    blocked_by,
    conflict,
    decide,
    depends,
    failed,
    fails,
    interrupted,
    passed,
    policy,
    said,
    same,
)

from noface.model.actions import Block, Land, RequestApproval, WaitUntil
from noface.model.history import Topic
from noface.model.taxonomy import Strategy
from noface.model.worker_run import BlockedReason
from noface.recovery.retry_policy import Rung

LONG = policy(ladder=(Rung("small", 1, 20),), attempts_max=20, roles=ROLES)


def test_1_an_issue_that_begins_anew_before_2_what_passed_in_an_earlier_epoch():
    assert decide(passed(), epoch=1).name == "FirstAttempt"


def test_2_work_that_passed_before_3_the_limits():
    rich = policy(issue_cost_usd_max=1.0)
    assert isinstance(decide(*fails(4), passed(cost_usd=5.0), policy=rich), Land)


def test_3_the_limits_before_4_an_interrupted_attempt():
    assert isinstance(decide(*fails(5), interrupted()), Block)


def test_4_an_interrupted_attempt_before_5_the_environment():
    assert decide(failed(K.AUTH), interrupted()).name == "RetrySame"


def test_5_the_environment_before_6_a_provider_that_was_away():
    switching = policy(alternatives=("twin",))
    row = [failed(K.NETWORK), failed(K.AUTH)]
    assert decide(row[0], policy=switching).name == "SwitchModel"
    assert decide(*row, policy=switching).reason.startswith("AUTH: small cannot be used here")


def test_6_a_provider_that_is_away_before_7_what_is_charged_to_nobody():
    report = blocked_by(BlockedReason.DEPENDENCY_ISSUE, "5")
    assert isinstance(decide(*[conflict()] * 3, failed(K.NETWORK)), WaitUntil)
    assert isinstance(decide(depends("5"), failed(K.NETWORK, report=report)), WaitUntil)


def test_7_what_is_charged_to_nobody_before_8_the_same_failure_again():
    strict = policy(block_after=2, attempts_max=9)
    alike = [failed(K.TEST_FAILURE, said="a"), failed(K.TEST_FAILURE, said="a")]
    assert isinstance(decide(*alike, policy=strict), Block)
    assert decide(*alike, conflict(), policy=strict).name == "RetrySame"


def test_8_the_same_failure_again_before_9_no_progress():
    strict = policy(ladder=ALONE, block_after=3, attempts_max=9)
    assert decide(*same(3), policy=strict).kind is K.TEST_FAILURE
    assert decide(*same(3), policy=replace(strict, block_after=None)).kind is K.NO_PROGRESS


def test_9_no_progress_before_10_breaking_down():
    timeouts = [failed(K.TIMEOUT, said="a", diff="x") for _ in range(3)]
    assert decide(*timeouts[:2], policy=LONG).name == "BreakDown"
    assert decide(*timeouts, policy=LONG).kind is K.NO_PROGRESS


def test_10_breaking_down_before_11_a_boundary():
    crossed = failed(K.BOUNDARY_VIOLATION, lines=5000)
    assert decide(crossed, policy=LONG).name == "CallResolver"
    assert decide(*fails(2), crossed, policy=LONG).name == "BreakDown"


def test_11_a_boundary_before_12_a_context_gap():
    context = replace(LONG, strategies=((K.GATE_TAMPERING, Strategy.CONTEXT),))
    contract = blocked_by(BlockedReason.CONTRACT_CHANGE)
    assert decide(failed(K.GATE_TAMPERING), policy=context).topic is Topic.CLARIFICATION
    assert isinstance(decide(failed(K.GATE_TAMPERING, report=contract), policy=context), RequestApproval)


def test_12_a_context_gap_before_13_a_diagnosis():
    assert decide(*[failed(K.LINT_FAILURE, said="a")] * 2, policy=LONG).name == "Diagnose"
    assert decide(failed(K.AGENT_CONFUSION, said="a"), policy=LONG).topic is Topic.CLARIFICATION
    alike = [failed(K.AGENT_CONFUSION, said="a"), failed(K.AGENT_CONFUSION, said="a")]
    assert isinstance(decide(*alike, policy=LONG), Block)


def test_13_a_diagnosis_before_14_giving_up():
    tried = [failed(K.AGENT_REFUSED, answer="AddContext"), failed(K.TIMEOUT, answer="ReduceScope")]
    strict = replace(LONG, strategies_max=2)
    assert decide(*tried, failed(K.UNKNOWN), policy=strict).name == "Diagnose"
    diagnosed = said(Topic.DIAGNOSIS, strategy="retry_modified", text="x")
    assert decide(*tried, failed(K.UNKNOWN), diagnosed, policy=strict).name == "RetryWithFeedback"
    assert isinstance(decide(*tried, *fails(1), policy=strict), Block)


def test_14_giving_up_before_15_a_smaller_step():
    tried = [failed(K.AGENT_REFUSED, answer="AddContext")]
    assert decide(*tried, failed(K.TIMEOUT), policy=LONG).name == "ReduceScope"
    assert isinstance(decide(*tried, failed(K.TIMEOUT), policy=replace(LONG, strategies_max=1)), Block)


def test_15_a_strategy_of_its_own_before_16_the_ladder_with_a_reflection():
    thoughtful = replace(LONG, reflect=True, strategies=((K.TEST_FAILURE, Strategy.REDUCE),))
    assert decide(*fails(1), policy=thoughtful).name == "ReduceScope"
