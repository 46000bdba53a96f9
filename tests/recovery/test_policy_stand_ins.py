"""Models of one tier that work for each other while a provider is away (N1, rule 6 of `recovery/policy.py`)."""

from dataclasses import replace

import pytest
from support.policy_story import (
    ISSUE,
    NOW,
    TIER_OF,
    TIERS,
    K,
    conflict,
    decide,
    failed,
    fails,
    interrupted,
    policy,
    typed,
)

from noface.model.actions import Block, Mode, RunWorker, WaitUntil
from noface.model.taxonomy import Strategy
from noface.recovery.retry_policy import RoleModels, Rung

TWINS = policy(alternatives=("small", "twin", "big", "bigtwin", "huge"), attempts_max=9)
LATER = NOW + 600
STUCK = replace(ISSUE, no_escalate=True)
LIMITED = failed(K.RATE_LIMITED, retry_at=LATER)

# Where an agent misses something in its sandbox


def test_a_model_whose_agent_misses_something_in_the_sandbox_begins_no_issue():
    lost = replace(TWINS, unreachable=frozenset({"small"}))
    assert (decide(policy=lost).mode, decide(policy=lost).model) == (Mode.FIRST, "twin")
    assert decide(policy=replace(lost, unreachable=frozenset({"small", "twin"}))).model == "big"
    assert decide(failed(K.TEST_FAILURE), policy=lost).model == "twin"
    assert decide(policy=replace(lost, unreachable=frozenset({"small"}), alternatives=()), issue=STUCK).model == "small"


# After a transient failure


def test_another_model_of_the_tier_works_while_the_provider_is_away():
    switched = decide(LIMITED, policy=TWINS)
    assert switched == RunWorker(
        Mode.SWITCH, "twin", "RATE_LIMITED: twin is of the same tier and works meanwhile", instead_of=("small", LATER)
    )


def test_without_a_reset_time_the_model_left_behind_rests_for_its_backoff():
    assert decide(failed(K.OVERLOADED), policy=TWINS).instead_of[1] == NOW + 15


def test_models_of_other_tiers_do_not_stand_in():
    assert isinstance(decide(LIMITED, policy=policy(alternatives=("small", "big", "huge"))), WaitUntil)
    assert isinstance(decide(failed(K.NETWORK, "huge"), policy=TWINS), WaitUntil)


def test_of_several_stand_ins_the_first_that_is_free_works():
    three = replace(TWINS, tiers=(*TIERS, ("third", 1)), alternatives=("twin", "third"))
    assert decide(LIMITED, policy=three).model == "twin"
    assert decide(LIMITED, policy=three, away={"twin": LATER}).model == "third"
    assert decide(policy=three, away={"small": LATER}).model == "twin"
    assert decide(policy=three, away={"small": LATER, "twin": LATER}).model == "third"


def test_a_stand_in_whose_own_provider_is_away_is_not_switched_to():
    assert isinstance(decide(LIMITED, policy=TWINS, away={"twin": NOW + 1}), WaitUntil)
    assert decide(LIMITED, policy=TWINS, away={"twin": NOW}).name == "SwitchModel"


def test_when_the_stand_in_fails_too_the_ladder_s_own_model_is_waited_for():
    both = decide(LIMITED, failed(K.NETWORK, "twin"), policy=TWINS)
    assert isinstance(both, WaitUntil)
    assert both.model == "small"


def test_retries_are_counted_for_each_model():
    row = [failed(K.NETWORK), failed(K.NETWORK, "twin"), *[failed(K.NETWORK)] * 2]
    counted = replace(TWINS, transient_retries=3)
    assert isinstance(decide(*row, policy=counted), WaitUntil)
    assert isinstance(decide(*row, failed(K.NETWORK), policy=counted), Block)


# Whatever model comes out

REDUCED = failed(K.TIMEOUT)
THINKING = replace(TWINS, ladder=(Rung("small", 1, 1), Rung("small", 1, 5, think=True)))
ATTEMPTING = {
    "FirstAttempt": ([], TWINS),
    "RetrySame": ([conflict()], TWINS),
    "RetryWithFeedback": (fails(1), TWINS),
    "AddContext": ([failed(K.AGENT_CONFUSION)], TWINS),
    "ReduceScope": ([REDUCED], TWINS),
    "ThinkLonger": (fails(1), THINKING),
    "Escalate": (fails(2), TWINS),
}


@pytest.mark.parametrize("kind", ATTEMPTING)
def test_every_action_that_runs_a_worker_lets_a_stand_in_do_it(kind):
    events, rules = ATTEMPTING[kind]
    usual = decide(*events, policy=rules)
    assert usual.name == kind
    instead = decide(*events, policy=rules, away={usual.model: LATER})
    expected = {"small": "twin", "big": "bigtwin"}[usual.model]
    assert instead == replace(usual, model=expected, reason=f"{usual.reason}; {usual.model} waits for its provider")


def test_an_issue_that_may_not_escalate_is_worked_on_by_its_only_model_or_nobody():
    issue = replace(ISSUE, no_escalate=True)
    for events, rules in ATTEMPTING.values():
        assert decide(*events, policy=rules, issue=issue, away={"small": LATER}).model == "small"


def test_without_a_free_stand_in_the_issue_keeps_its_model():
    assert decide(policy=TWINS, away={"small": LATER, "twin": LATER}) == decide(policy=TWINS)
    assert decide(policy=policy(), away={"small": LATER}).model == "small"


def test_a_question_is_put_to_nobody_else():
    asking = replace(TWINS, roles=RoleModels(diagnoser="big"))
    asked = decide(failed(K.UNKNOWN), policy=asking, away={"big": LATER})
    assert asked.name == "Diagnose"
    assert asked.model == "big"


# Back from a stand-in


def test_going_back_from_a_stand_in_is_no_escalation():
    back = decide(*fails(1, "twin"), policy=TWINS)
    assert typed(back) == RunWorker(Mode.FEEDBACK, "small", "")


def test_the_next_rung_is_an_escalation_though_its_model_could_stand_in_for_the_last():
    ladder = (Rung("small", 1, 1), Rung("twin", 1, 5))
    assert decide(*fails(1), policy=replace(TWINS, ladder=ladder)) == RunWorker(
        Mode.ESCALATE, "twin", "TEST_FAILURE: next step, twin"
    )


def test_a_stand_in_holds_the_tier_that_had_been_reached():
    patient = replace(TWINS, ladder=(Rung("small", 1, 9), Rung("big", 2, 9)))
    assert decide(*fails(1), *fails(1, "bigtwin"), policy=patient).model == "big"


def test_escalating_from_a_stand_in_goes_above_the_rung_that_it_stood_in_for():
    ladder = (Rung("small", 1, 9), Rung("big", 2, 9), Rung("huge", 3, 9))
    eager = replace(TWINS, ladder=ladder, strategies=((K.TEST_FAILURE, Strategy.ESCALATE),))
    assert decide(*fails(1), *fails(1, "big"), policy=eager).model == "huge"
    assert decide(*fails(1), *fails(1, "bigtwin"), policy=eager).model == "huge"


def test_an_interrupted_stand_in_gives_way_to_its_rung_s_own_model():
    assert decide(interrupted("twin"), policy=TWINS).model == "small"
    assert decide(interrupted("twin"), policy=TWINS, away={"small": LATER}).model == "twin"


def test_a_model_that_is_itself_a_rung_did_not_just_stand_in():
    both = replace(TWINS, ladder=(Rung("small", 1, 1), Rung("twin", 1, 1), Rung("big", 2, 5)))
    assert TIER_OF["twin"] == TIER_OF["small"]
    assert decide(*fails(1), *fails(1, "twin"), policy=both) == RunWorker(
        Mode.ESCALATE, "big", "TEST_FAILURE: next step, big"
    )
