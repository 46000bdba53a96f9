"""Failures that are not the worker's, as stories: providers that are away, conflicts, missing issues (rules 6 and 7)."""

from dataclasses import replace

import pytest
from support.policy_story import ISSUE, NOW, ROLES, K, conflict, decide, depends, failed, fails, policy, said

from noface.model.actions import Ask, AwaitIssues, Block, Mode, RunWorker, WaitUntil
from noface.model.failure import DISK_FULL, DISK_SEEMS_FULL, OUTSIDE_CAUSE, SETUP_PASSING
from noface.model.history import AdviceOutcome, Topic
from noface.model.taxonomy import Category, Strategy
from noface.recovery.retry_policy import RoleModels, Rung

TRANSIENT = [kind for kind in K if kind.category is Category.TRANSIENT]
RESET = NOW + 18_000
ASKING = policy(roles=ROLES)
COUNTED = policy(transient_retries=3)

# Waiting for a provider


@pytest.mark.parametrize("kind", TRANSIENT)
def test_a_transient_failure_is_waited_out_with_growing_pauses_and_never_blocks(kind):
    for times in (1, 2, 3, 40):
        waits = decide(*[failed(kind)] * times)
        until = NOW + 0.5 * min(30 * 2 ** (times - 1), 900) if times < 40 else NOW + 900 * 0.5
        assert waits == WaitUntil("small", until, f"{kind}: retry {times}")


@pytest.mark.parametrize("kind", TRANSIENT)
def test_retries_that_are_asked_for_are_honoured_and_then_the_issue_is_blocked(kind):
    for times in (1, 2, 3):
        waits = decide(*[failed(kind)] * times, policy=COUNTED)
        until = NOW + 0.5 * 30 * 2 ** (times - 1)
        assert waits == WaitUntil("small", until, f"{kind}: retry {times} of 3")
    assert decide(*[failed(kind)] * 4, policy=COUNTED) == Block(kind, f"still {kind} after 3 retries")
    assert decide(failed(kind), policy=policy(transient_retries=0)) == Block(kind, f"still {kind} after 0 retries")


def test_the_backoff_is_drawn_from_the_whole_interval():
    draws = [decide(failed(K.NETWORK), jitter=jitter).until - NOW for jitter in (0.0, 0.25, 0.999)]
    assert draws == [0.0, 7.5, pytest.approx(29.97)]


def test_the_provider_s_reset_time_is_honoured_over_the_backoff():
    waits = decide(failed(K.RATE_LIMITED, retry_at=RESET))
    assert waits == WaitUntil("small", RESET, "RATE_LIMITED: the provider says when to come back")


def test_a_wait_that_was_promised_does_not_become_a_block_when_it_is_over():
    limited = failed(K.RATE_LIMITED, retry_at=NOW + 100)
    for times in range(1, 7):
        before, after = (decide(*[limited] * times, now=now) for now in (NOW, NOW + 101))
        assert type(before) is type(after)


def test_anything_but_an_interruption_between_two_transient_failures_begins_a_new_row():
    limited = failed(K.RATE_LIMITED)
    assert isinstance(decide(*[limited] * 3, conflict(), limited, policy=COUNTED), WaitUntil)
    assert isinstance(decide(*[limited] * 3, *fails(1), limited, policy=COUNTED), WaitUntil)


def test_different_transient_failures_are_one_row():
    row = [failed(kind) for kind in (K.NETWORK, K.OVERLOADED, K.NETWORK, K.NETWORK)]
    assert isinstance(decide(*row, policy=COUNTED), Block)


# Causes outside the work


def ended(rule, kind=K.AGENT_CRASH, **more):
    """An attempt that was charged to nobody for what its command ended with, just now."""
    attempt = failed(kind, charged=False, finished_at=NOW, **more)
    return replace(attempt, failure=replace(attempt.failure, rule=rule, evidence=("connect ECONNREFUSED x:1",)))


@pytest.mark.parametrize("rule", [OUTSIDE_CAUSE, DISK_SEEMS_FULL, SETUP_PASSING])
def test_a_command_that_ended_with_a_cause_outside_the_work_is_run_again_twice(rule):
    kind = K.AGENT_CRASH if rule == OUTSIDE_CAUSE else K.ENVIRONMENT
    for times in (1, 2):
        waits = decide(*[ended(rule, kind)] * times)
        reason = f"it lies outside the work: repeat {times} of 2, nothing is charged"
        assert waits == WaitUntil("small", NOW + 5, reason, provider=False)
        assert decide(*[ended(rule, kind)] * times, now=NOW + 5) == RunWorker(Mode.SAME, "small", reason)
    third = decide(*[ended(rule, kind)] * 3)
    assert isinstance(third, Block) or third.name == "RetrySame"


def test_after_a_full_disk_the_same_model_goes_on():
    again = decide(ended(DISK_FULL, K.ENVIRONMENT))
    assert again == RunWorker(Mode.SAME, "small", "the disk was full; nothing is charged")


# Main moved, and other failures that nobody answers for


def test_main_moving_under_it_is_retried_three_times_and_then_told_to_a_person():
    again = decide(*[conflict()] * 3)
    assert (again.mode, again.model) == (Mode.SAME, "small")
    assert "it works alone the next time; nothing is charged" in again.reason
    blocked = decide(*[conflict()] * 4)
    assert isinstance(blocked, Block)
    assert blocked.reason.startswith("4 attempts failed for no fault of their own: MERGE_CONFLICT")


def test_a_merge_conflict_is_answered_as_the_configuration_says():
    def answered(strategy, *events):
        own = policy(strategies=((K.MERGE_CONFLICT, strategy),), roles=RoleModels(resolver="judge"))
        return decide(conflict(), *events, policy=own)

    assert isinstance(answered(Strategy.BLOCK), Block)
    asked = answered(Strategy.RESOLVER)
    assert isinstance(asked, Ask)
    assert (asked.topic, asked.model) == (Topic.MERGE_CONFLICT, "judge")
    assert answered(Strategy.RESOLVER, said(Topic.MERGE_CONFLICT)).name == "RetrySame"
    assert answered(Strategy.ESCALATE).name == "Escalate"


def test_rate_limits_before_a_conflict_are_not_counted_as_conflicts():
    assert decide(*[failed(K.RATE_LIMITED)] * 3, conflict()).name == "RetrySame"


def test_a_malformed_answer_that_was_not_charged_gets_a_reminder_of_its_form():
    again = decide(failed(K.OUTPUT_FORMAT, charged=False))
    assert again == RunWorker(Mode.SAME, "small", "the answer was malformed: once more with a reminder of its form")


@pytest.mark.parametrize("kind", [K.MERGE_CONFLICT, K.OUTPUT_FORMAT, K.UNKNOWN])
def test_what_is_run_again_for_nothing_thinks_as_it_did(kind):
    thinking = policy(ladder=(Rung("small", 1, 5, think=True),))
    again = decide(failed(kind, charged=False, think=True), policy=thinking)
    assert again.name == "RetrySame"
    assert again.think


def test_the_resolver_is_asked_at_the_second_conflict_in_a_row():
    assert decide(conflict(), policy=ASKING).name == "RetrySame"
    asked = decide(conflict(), conflict(), policy=ASKING)
    assert asked == Ask(Topic.MERGE_CONFLICT, "judge", "main moved twice into the same place: ask how to merge")


@pytest.mark.parametrize("outcome", AdviceOutcome)
def test_after_the_resolver_s_word_whatever_it_is_the_attempt_is_run_again(outcome):
    answered = said(Topic.MERGE_CONFLICT, outcome=outcome)
    assert decide(conflict(), conflict(), answered, policy=ASKING).name == "RetrySame"


def test_the_resolver_is_asked_about_a_row_of_conflicts_only_once():
    row = [conflict(), conflict(), said(Topic.MERGE_CONFLICT), conflict()]
    assert decide(*row, policy=ASKING).name == "RetrySame"


# Missing issues


def test_a_worker_that_depends_on_other_issues_has_noface_look_at_them():
    looks = decide(depends("5"))
    assert looks == Ask(Topic.DEPENDENCY, "", "the worker says that it depends on other issues: look at them")


def test_open_issues_that_it_depends_on_are_waited_for():
    found = said(Topic.DEPENDENCY, needs=("5", "6"))
    waits = decide(depends("5", "6"), found)
    assert waits == AwaitIssues(("5", "6"), "depends on 5, 6, which the work turned out to need")


def test_once_the_issues_that_it_waited_for_are_merged_the_worker_goes_on():
    agreed = replace(ISSUE, depends_on=("5",))  # an issue starts only when all of these are merged
    goes_on = decide(depends("5"), said(Topic.DEPENDENCY, needs=("5",)), issue=agreed)
    assert not isinstance(goes_on, (AwaitIssues, Block)), goes_on.reason
    assert goes_on.model == "small"


def test_after_one_wait_it_may_turn_out_to_need_another_issue():
    agreed = replace(ISSUE, depends_on=("5",))
    first = [depends("5"), said(Topic.DEPENDENCY, needs=("5",))]
    second = [depends("6"), said(Topic.DEPENDENCY, needs=("6",))]
    assert decide(*first, *second, issue=agreed).needs == ("6",)


def test_a_dependency_that_is_merged_or_unknown_is_answered_with_context():
    told = decide(depends("5"), said(Topic.DEPENDENCY))
    assert told.name == "AddContext"
    assert told.reason.startswith("its dependencies are merged or unknown")


def test_what_a_worker_insists_on_and_is_not_there_a_stronger_one_looks_for_and_then_a_person():
    first = [depends("5"), said(Topic.DEPENDENCY)]
    assert decide(*first, depends("5")).name == "CallResolver"
    stronger = decide(*first, depends("5"), said(Topic.DEPENDENCY))
    assert (stronger.name, stronger.model) == ("Escalate", "big")
    blocked = decide(*first, *first, depends("5", model="big", tier=2), said(Topic.DEPENDENCY))
    assert blocked == Block(K.AGENT_CONFUSION, "the worker says again that it depends on something that is not there")


def test_a_provider_that_is_away_in_between_does_not_let_a_worker_insist_for_ever():
    turn = [depends("5"), said(Topic.DEPENDENCY), failed(K.RATE_LIMITED)]
    action = decide(*turn * 20, depends("5"), said(Topic.DEPENDENCY))
    assert action.name == "Escalate"
    assert isinstance(decide(*turn * 20, depends("5", model="big", tier=2), said(Topic.DEPENDENCY)), Block)
