"""The simulated table of the policy: paths that are known, and what holds for every policy."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from support.policies import LADDER, POLICY, TIERS, policies

from noface.model.actions import Mode, RunWorker
from noface.model.attempt import NotStarted
from noface.model.taxonomy import Category, FailureKind
from noface.recovery.policy import next_action
from noface.recovery.policy_state import charged
from noface.recovery.policy_table import ATTEMPTS_MAX, Repeats, Trouble, course, table, terminal
from noface.recovery.retry_policy import Policy, RoleModels

K = FailureKind
EVERYBODY = RoleModels("opus", "opus", "opus", "opus", "opus")


def path(policy, kind):
    return course(policy, kind).steps


# Paths that are known


def test_a_step_carries_the_tier_of_its_model_and_the_policy_s_own_reason():
    steps = path(POLICY, K.TEST_FAILURE)
    assert [step.tier for step in steps] == [2, 2, 3, 3, None]
    assert steps[2].action.reason == "TEST_FAILURE: next step, opus"
    assert steps[-1].action.reason.startswith("3 recovery strategies have failed: Escalate, RetryWithFeedback")


def test_a_provider_s_failures_are_waited_out_and_not_charged():
    steps = path(POLICY, K.RATE_LIMITED)
    assert [step.action.name for step in steps] == ["FirstAttempt", "WaitUntil", "WaitUntil", "WaitUntil"]
    assert [step.wait_s for step in steps] == [0.0, 30.0, 60.0, 120.0]
    assert not any(step.charged for step in steps)
    assert [step.more for step in steps] == [False, False, False, True]


# The table


def test_every_kind_stands_in_the_table_once():
    listed = [kind for row in table(POLICY) for kind in row.kinds]
    assert sorted(listed) == sorted(FailureKind)


def test_kinds_in_one_row_differ_in_words_only():
    for row in table(replace(POLICY, roles=EVERYBODY)):
        if row.repeats is None:
            shapes = {tuple(step.shape for step in path(replace(POLICY, roles=EVERYBODY), kind)) for kind in row.kinds}
            assert len(shapes) == 1


def test_the_same_failure_again_has_a_row_only_where_it_makes_a_difference():
    assert all(row.repeats is None for row in table(POLICY))
    blocked = table(replace(POLICY, block_after=2))[-1]
    assert (blocked.repeats, blocked.kinds) == (Repeats.FAILURE, (K.TEST_FAILURE,))
    assert blocked.steps[-1].after == 2
    asked = table(replace(POLICY, roles=RoleModels(diagnoser="opus")))[-1]
    assert "Diagnose" in [step.action.name for step in asked.steps]


def test_a_simulation_of_a_policy_that_hardly_ends_is_cut_off():
    steps = path(Policy(LADDER, TIERS, attempts_max=10**6, strategies_max=9), K.TEST_FAILURE)
    assert steps[-1].after == ATTEMPTS_MAX - 1
    assert not terminal(steps[-1].action)


# What holds for every policy


def test_simulated_failures_are_charged_as_the_loop_charges_them():
    for kind in FailureKind:
        past = ()
        trouble = Trouble(kind, Repeats.NOTHING)
        for number in (1, 2, 3):
            attempt = trouble.attempt(number, RunWorker(Mode.FIRST, "sonnet", ""), dict(TIERS), 0.0)
            report = NotStarted("t", "7", number, attempt.failure)
            assert attempt.charged == trouble.charged(number - 1) == charged(report, past)
            past = (*past, attempt)


@given(policies(), st.sampled_from(FailureKind))
def test_every_kind_comes_to_an_end_under_every_policy(policy, kind):
    steps = path(policy, kind)
    assert len(steps) < ATTEMPTS_MAX
    assert terminal(steps[-1].action)
    assert not any(terminal(step.action) for step in steps[:-1])


@given(policies(), st.sampled_from(FailureKind))
def test_the_end_of_a_path_is_what_the_policy_says_of_its_history(policy, kind):
    made = course(policy, kind)
    if made.trouble.kind.category is not Category.TRANSIENT:
        assert made.steps[-1].action == next_action(made.history, policy, 0.0)
