"""Replaying recorded decisions: the same policy says the same again, another one says where it would differ."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from support.policies import LADDER, POLICY, TIERS, policies

from noface.model.actions import Ask, Mode, NextAction
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.history import Advice, AdviceOutcome, Decided, History, Topic, Verdict
from noface.model.issue import Issue
from noface.model.taxonomy import INTERRUPTED, PASSED, FailureKind
from noface.model.worker_run import BlockedReason, ReportStatus, WorkerReport
from noface.recovery.policy import next_action
from noface.recovery.policy_table import Spared, course, replay, spared
from noface.recovery.retry_policy import ReviewRules, RoleModels, Rung, When, rejection

K = FailureKind
ISSUE = Issue("7", "Seven")
NOW = 1_000_000.0
HASTY = replace(POLICY, ladder=(Rung("sonnet", 2, 1), *LADDER[1:]))


def failed(number, kind=K.TEST_FAILURE, model="sonnet", *, charged=True, **more):
    failure = Failure(kind, f"m{number}", rule="r", signature=f"s{number}", charged=charged)
    values = {"signature": f"s{number}", "patch_hash": f"d{number}", "failure": failure, "finished_at": NOW + number}
    return PastAttempt(number, model, dict(TIERS)[model], kind.value, charged, **{**values, **more})


def passed(number, model="sonnet", **more):
    return PastAttempt(number, model, dict(TIERS)[model], PASSED, charged=True, **more)


def of(kind, **more):
    """Attempts that fail with a kind."""
    return lambda number, **said: failed(number, kind, **more, **said)


def migrated(number, **said):
    """An attempt that passed and changed the database."""
    return passed(number, changed=("db/one.sql",), **said)


def night(policy, *makers, answers_given=(), away=None):
    """What a night records: attempts, each made by one of `makers`, decided by `policy`.

    What is asked is answered by `answers_given`, or remains open.
    """
    history, recorded = History(ISSUE), []
    action = next_action(history, policy, NOW, away=away or {})
    for number, make in enumerate(makers, 1):
        made = make(number, model=action.model, think=action.think)
        history = replace(history, attempts=(*history.attempts, made))
        action = next_action(history, policy, made.finished_at, away=away or {})
        while isinstance(action, Ask):
            found = [
                a for a in answers_given if a.topic is action.topic and a.after == number and a not in history.advice
            ]
            if not found:
                break
            history = replace(history, advice=(*history.advice, found[0]))
            action = next_action(history, policy, made.finished_at, away=away or {})
        recorded.append(NextAction(action.name, action.reason))
        history = replace(history, attempts=(*history.attempts[:-1], replace(made, answer=action.name)))
    return history, tuple(recorded)


def differing(history, recorded, policy):
    return [
        (d.attempt, d.recorded.action, d.now.action, d.now.model)
        for d in replay(history, recorded, policy)
        if d.differs
    ]


# The same policy


def test_the_policy_of_the_night_says_the_same_again():
    history, recorded = night(POLICY, *[failed] * 5)
    decisions = replay(history, recorded, POLICY)
    assert [d.attempt for d in decisions] == [None, 1, 2, 3, 4, 5]
    assert [d.now.action for d in decisions] == [
        "FirstAttempt",
        "RetryWithFeedback",
        "Escalate",
        "ThinkLonger",
        "RetryWithFeedback",
        "Block",
    ]
    assert [(d.recorded.reason, d.recorded.model) for d in decisions[1:]] == [
        (d.now.reason, d.now.model) for d in decisions[1:]
    ]
    assert not any(d.differs for d in decisions)


@given(policies(), st.sampled_from(FailureKind))
def test_nothing_differs_where_the_policy_is_the_same_whatever_it_is(policy, kind):
    made = course(policy, kind)
    last = {step.after: step.action for step in made.steps}
    recorded = tuple(NextAction(last[a.number].name, last[a.number].reason) for a in made.history.attempts)
    assert not [d for d in replay(made.history, recorded, policy) if d.differs]


def test_an_issue_without_attempts_has_no_decisions():
    assert replay(History(ISSUE), (), POLICY) == ()


def test_where_nothing_was_written_down_there_is_nothing_to_compare():
    history, recorded = night(POLICY, failed, failed)
    assert [d.attempt for d in replay(history, (NextAction(""), recorded[1]), POLICY)] == [None, 2]


def test_an_interrupted_attempt_is_a_decision_as_well():
    cut = PastAttempt(1, "sonnet", 2, INTERRUPTED, charged=False)
    history = History(ISSUE, (cut, failed(2)))
    assert differing(history, (NextAction("RetrySame"), NextAction("RetryWithFeedback")), POLICY) == []


# Another policy


def test_a_shorter_ladder_would_have_escalated_earlier():
    history, recorded = night(POLICY, *[failed] * 3)
    assert differing(history, recorded, HASTY) == [
        (1, "RetryWithFeedback", "Escalate", "opus"),
        (2, "Escalate", "ThinkLonger", "opus"),
    ]


def test_another_model_is_another_decision_even_where_the_action_is_the_same():
    history, recorded = night(POLICY, failed, failed)
    other = replace(POLICY, ladder=(Rung("twin", 2, 2), *LADDER[1:]))
    assert differing(history, recorded, other)[0] == (None, "FirstAttempt", "FirstAttempt", "twin")
    other = replace(POLICY, ladder=(LADDER[0], Rung("opus", 3, 1, think=True)))
    assert (2, "Escalate", "ThinkLonger", "opus") in differing(*night(POLICY, *[failed] * 3), other)


def test_a_lower_cap_would_have_blocked():
    history, recorded = night(POLICY, *[failed] * 3)
    assert differing(history, recorded, replace(POLICY, attempts_max=2)) == [
        (2, "Escalate", "Block", None),
        (3, "ThinkLonger", "Block", None),
    ]


def test_waits_are_compared_by_kind_only():
    limited = of(K.RATE_LIMITED, charged=False)
    history, recorded = night(POLICY, limited, limited)
    assert differing(history, recorded, replace(POLICY, backoff_base_s=600.0)) == []
    assert differing(history, recorded, replace(POLICY, transient_retries=1)) == [(2, "WaitUntil", "Block", None)]


def test_a_model_that_only_stood_in_makes_no_difference():
    policy = replace(POLICY, alternatives=("sonnet", "twin"))
    history, recorded = night(policy, failed, failed, away={"sonnet": NOW + 10**6})
    assert [attempt.model for attempt in history.attempts] == ["twin", "twin"]
    assert recorded[0].reason.endswith("; sonnet waits for its provider")
    # of the first attempt no reason is kept: who stood in is not known, and is not hidden
    assert differing(history, recorded, policy) == [(None, "FirstAttempt", "FirstAttempt", "sonnet")]


# What was asked


def test_a_role_that_was_asked_and_would_not_be_is_a_difference():
    wise = replace(POLICY, roles=RoleModels(diagnoser="opus"))
    unknown = of(K.UNKNOWN)
    answer = Advice(Topic.DIAGNOSIS, 1, strategy="alternative_approach", recoverable="yes", text="otherwise")
    history, recorded = night(wise, unknown, failed, answers_given=(answer,))
    assert recorded[0].kind == "RetryWithFeedback"
    assert differing(history, recorded, wise) == []
    first = next(d for d in replay(history, recorded, POLICY) if d.attempt == 1)
    assert (first.recorded.asked, first.now.asked, first.now.action) == ((Topic.DIAGNOSIS,), (), "AddContext")


def test_an_answer_that_nobody_asked_for_then_cannot_be_had():
    history, recorded = night(POLICY, of(K.UNKNOWN))
    wise = replace(POLICY, roles=RoleModels(diagnoser="opus"))
    assert differing(history, recorded, wise) == [(1, "AddContext", "Diagnose", None)]


def test_a_question_that_is_still_open_is_no_difference():
    policy = replace(POLICY, roles=RoleModels(planner="opus"))
    unsure = of(K.AGENT_CONFUSION)
    history, recorded = night(policy, unsure)
    assert recorded == (NextAction("CallResolver", recorded[0].reason),)
    assert differing(history, recorded, policy) == []
    answered = replace(history, advice=(Advice(Topic.CLARIFICATION, 1, text="so"),))
    assert differing(answered, recorded, policy) == [], "it was answered, and nothing decided since"


def test_an_issue_whose_parts_are_at_work_is_no_difference():
    late = of(K.TIMEOUT, changed=("a.py", "b.py"))
    history, recorded = night(POLICY, late, late)
    assert recorded[1].kind == "BreakDown"
    divided = replace(history, advice=(Advice(Topic.BREAKDOWN, 2),))
    assert differing(divided, recorded, POLICY) == []
    back = replace(history, advice=(Advice(Topic.BREAKDOWN, 2, AdviceOutcome.PARTS_FAILED),))
    gone_on = (recorded[0], NextAction("Escalate"))
    assert differing(back, gone_on, POLICY) == []


def test_a_wait_that_a_diagnosis_asked_for_was_over_when_the_worker_ran():
    policy = replace(POLICY, roles=RoleModels(diagnoser="opus"))
    answer = Advice(Topic.DIAGNOSIS, 1, strategy="retry_same", recoverable="yes", delay_s=60.0)
    history = History(ISSUE, (failed(1, K.UNKNOWN), failed(2)), advice=(answer,))
    assert differing(history, (NextAction("RetrySame"), NextAction("Escalate")), policy) == []
    assert differing(history, (NextAction("WaitUntil"), NextAction("Escalate")), policy) == []


def test_issues_that_were_waited_for_are_merged_when_the_worker_runs_again():
    report = WorkerReport(ReportStatus.BLOCKED, blocked_reason=BlockedReason.DEPENDENCY_ISSUE, needs=("3",))
    needs = failed(1, K.AGENT_CONFUSION, charged=False, report=report)
    history = History(ISSUE, (needs,), advice=(Advice(Topic.DEPENDENCY, 1, needs=("3",)),))
    assert differing(history, (NextAction("AwaitIssues"),), POLICY) == []
    assert differing(history, (NextAction("AddContext"),), POLICY) == []


# People and reviewers


def test_work_that_would_have_needed_approval_is_shown():
    history, recorded = night(POLICY, migrated)
    careful = replace(POLICY, approval_paths=("db/**",))
    assert differing(history, recorded, careful) == [(1, "Land", "RequestApproval", None)]


def test_a_verdict_that_nobody_has_acted_on_yet_makes_no_difference():
    careful = replace(POLICY, approval_paths=("db/**",))
    history, recorded = night(careful, migrated)
    approved = replace(history, approvals=(Decided(1, Verdict.APPROVED),))
    assert differing(approved, recorded, careful) == []
    assert differing(approved, (NextAction("Land"),), careful) == []


def test_a_review_that_would_not_have_taken_place_is_shown():
    policy = replace(POLICY, roles=RoleModels(reviewer="opus"), review=ReviewRules(When.ALWAYS))
    points = Advice(Topic.REVIEW, 1, model="opus", strategy="request_changes", cause="too clever", text="simplify")
    turned_down = replace(failed(1, K.REVIEW_REJECTED, charged=False), failure=rejection(points))
    fine = Advice(Topic.REVIEW, 2, model="opus", strategy="approve")
    history = History(ISSUE, (turned_down, passed(2)), advice=(points, fine))
    recorded = (NextAction("RetryWithFeedback"), NextAction("Land"))
    assert differing(history, recorded, policy) == []
    decisions = replay(history, recorded, POLICY)
    assert [(d.attempt, d.outcome, d.recorded.action, d.now.action) for d in decisions if d.differs] == [
        (1, PASSED, "Review", "Land"),
        (2, PASSED, "Land", "Land"),
    ]
    assert decisions[-1].recorded.asked == (Topic.REVIEW,)


def test_every_epoch_begins_anew_and_only_the_present_one_has_what_a_person_said():
    first = tuple(failed(number) for number in (1, 2))
    second = tuple(replace(failed(number, model="opus", think=number == 4), epoch=1) for number in (3, 4))
    history = History(ISSUE, (*first, *second), 1, model="opus", attempts_max=2)
    kinds = ("RetryWithFeedback", "Escalate", "ThinkLonger", "Block")
    decisions = replay(history, tuple(NextAction(kind) for kind in kinds), POLICY)
    assert [(d.epoch, d.attempt) for d in decisions] == [(0, None), (0, 1), (0, 2), (1, None), (1, 3), (1, 4)]
    assert [d.now.action for d in decisions if d.differs] == []


def test_actions_that_run_a_worker_carry_a_model():
    history, recorded = night(POLICY, *[failed] * 5)
    names = {mode.value for mode in Mode}
    for decision in replay(history, recorded, POLICY):
        assert (decision.now.model is not None) == (decision.now.action in names)


# What it would have spared


def test_what_is_spared_are_the_attempts_up_to_the_first_of_the_model_that_would_have_worked():
    history, recorded = night(POLICY, failed, failed, passed)
    paid = replace(history, attempts=tuple(replace(each, cost_usd=0.25) for each in history.attempts))
    higher = replace(POLICY, ladder=LADDER[1:])
    assert list(spared(paid, replay(paid, recorded, higher))) == [Spared("7", 0, 2, 0.5, passed=False)]
    assert list(spared(paid, replay(paid, recorded, HASTY))) == [Spared("7", 0, 1, 0.25, passed=False)]


def test_an_end_spares_all_that_followed_and_tells_of_what_had_passed():
    history, recorded = night(POLICY, failed, failed, passed)
    assert list(spared(history, replay(history, recorded, replace(POLICY, attempts_max=1)))) == [
        Spared("7", 0, 2, 0.0, passed=True)
    ]


def test_where_the_model_never_worked_on_the_issue_nobody_knows_what_is_spared():
    history, recorded = night(POLICY, failed, failed, passed)
    other = replace(POLICY, ladder=(Rung("twin", 2, 2), *LADDER[1:]))
    assert list(spared(history, replay(history, recorded, other))) == []
    assert list(spared(history, replay(history, recorded, POLICY))) == []
