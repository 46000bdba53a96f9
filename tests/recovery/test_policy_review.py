"""Work that passed and is shown to a reviewer before it lands (N2, rules 2 and 7 of `recovery/policy.py`)."""

from dataclasses import replace

import pytest
from support.policy_story import ISSUE, NOW, K, conflict, decide, failed, fails, interrupted, passed, policy, said

from noface.diagnosis.check import review_failure
from noface.model.actions import Ask, Block, Land, Mode, RequestApproval, RunWorker, WaitUntil
from noface.model.history import AdviceOutcome, History, Topic
from noface.model.worker_run import ReportStatus, WorkerReport
from noface.recovery.retry_policy import ReviewRules, RoleModels, When, rejection

CRITIC = RoleModels(reviewer="critic")
ALWAYS = policy(roles=CRITIC, review=ReviewRules(When.ALWAYS))
RISKY = policy(roles=CRITIC)
APPROVES = said(Topic.REVIEW, strategy="approve")
AWAY = said(Topic.REVIEW, outcome=AdviceOutcome.UNAVAILABLE, cause="no answer")


def rejected(model="small", text="mend a.py", **more):
    """An attempt that passed until a reviewer asked for changes, which is charged to nobody."""
    failure = rejection(said(Topic.REVIEW, model="critic", cause="not yet", text=text))
    attempt = failed(K.REVIEW_REJECTED, model, charged=failure.charged, **more)
    return replace(attempt, failure=failure, signature=failure.signature)


# When there is a review


def test_work_that_passed_is_reviewed_before_it_lands():
    assert decide(passed(), policy=ALWAYS) == Ask(
        Topic.REVIEW, "critic", "passed; every change is reviewed: reviewed before it lands"
    )
    assert isinstance(decide(passed(), APPROVES, policy=ALWAYS), Land)


def test_without_a_reviewer_or_without_a_reason_nothing_is_reviewed():
    assert isinstance(decide(passed(), policy=policy(review=ReviewRules(When.ALWAYS))), Land)
    assert isinstance(decide(passed(), policy=policy(roles=CRITIC, review=ReviewRules(When.NEVER))), Land)


TESTED = {"changed": ("a.py", "tests/test_a.py"), "lines": 10}


@pytest.mark.parametrize(
    ("risk", "why"),
    [
        ({"changed": tuple(f"tests/test_{n}.py" for n in range(11))}, "it changes 11 files"),
        ({**TESTED, "lines": 301}, "it changes 301 lines"),
        ({**TESTED, "changed": ("db/a.sql", "tests/test_a.py")}, "it changes db/a.sql"),
        ({**TESTED, "report": WorkerReport(ReportStatus.DONE, unverified=("JPY",))}, "its worker did not verify JPY"),
        ({"changed": ("a.py",), "lines": 10}, "it comes without a test"),
    ],
)
def test_a_risk_is_named_in_the_reason(risk, why):
    rules = replace(RISKY, review=ReviewRules(paths=("db/**",)))
    assert decide(passed(**risk), policy=rules) == Ask(
        Topic.REVIEW, "critic", f"passed; {why}: reviewed before it lands"
    )


def test_a_small_tested_change_that_its_worker_is_sure_of_is_no_risk():
    assert isinstance(decide(passed(**TESTED, report=WorkerReport(ReportStatus.DONE)), policy=RISKY), Land)
    assert isinstance(decide(passed(**{**TESTED, "lines": 300}), policy=RISKY), Land)
    accepted = replace(ISSUE, accept=("make check",))
    assert isinstance(decide(passed(changed=("a.py",)), policy=RISKY, issue=accepted), Land)


def test_a_review_that_is_due_comes_before_a_person_s_approval():
    careful = replace(ALWAYS, approval_labels=("risky",))
    issue = replace(ISSUE, labels=("risky",))
    assert decide(passed(), policy=careful, issue=issue).name == "Review"
    assert isinstance(decide(passed(), APPROVES, policy=careful, issue=issue), RequestApproval)


def test_the_review_of_an_earlier_attempt_says_nothing_about_this_one():
    assert decide(passed(), APPROVES, *fails(1), passed(), policy=ALWAYS).name == "Review"


# No verdict is no approval (law 10)


def test_a_reviewer_who_wants_a_person_gets_one():
    asked = decide(passed(), said(Topic.REVIEW, strategy="needs_human", cause="a migration"), policy=ALWAYS)
    assert asked == RequestApproval(None, "passed; the reviewer asks for a person: a migration")


def test_a_verdict_that_could_not_be_read_is_no_approval():
    unusable = said(Topic.REVIEW, outcome=AdviceOutcome.UNUSABLE, cause="no JSON")
    asked = decide(passed(), unusable, policy=ALWAYS)
    assert asked == RequestApproval(None, "passed; the reviewer's verdict could not be read: no JSON")


def test_a_reviewer_who_is_away_is_waited_for():
    waits = decide(passed(), AWAY, policy=ALWAYS, away={"critic": NOW + 60})
    assert waits == WaitUntil("critic", NOW + 60, "passed; waits for the reviewer critic", provider=False)
    assert decide(passed(), AWAY, policy=ALWAYS, away={"critic": NOW}).name == "Review"
    assert decide(passed(), AWAY, policy=ALWAYS).name == "Review"


def test_a_reviewer_who_stays_away_is_asked_a_limited_number_of_times():
    assert decide(passed(), *[AWAY] * 3, policy=ALWAYS).name == "Review"
    asked = decide(passed(), *[AWAY] * 4, policy=ALWAYS)
    assert asked == RequestApproval(None, "passed; the reviewer was not there 4 times: no answer")


def test_a_reviewer_whose_provider_is_away_is_asked_again_however_often():
    gone = said(Topic.REVIEW, outcome=AdviceOutcome.UNAVAILABLE, cause="overloaded", away=True)
    assert decide(passed(), *[gone] * 40, policy=ALWAYS).name == "Review"
    counted = replace(ALWAYS, transient_retries=3)
    assert isinstance(decide(passed(), *[gone] * 4, policy=counted), RequestApproval)


def test_the_last_word_of_a_reviewer_counts():
    unusable = said(Topic.REVIEW, outcome=AdviceOutcome.UNUSABLE, cause="no JSON")
    assert isinstance(decide(passed(), AWAY, APPROVES, policy=ALWAYS), Land)
    assert isinstance(decide(passed(), AWAY, unusable, policy=ALWAYS), RequestApproval)
    assert decide(passed(), APPROVES, AWAY, policy=ALWAYS).name == "Review"


# Points


def test_a_point_is_open_until_a_later_review_calls_it_settled():
    def review(*points, settled=(), strategy="request_changes", after=1):
        return replace(said(Topic.REVIEW, strategy=strategy, points=points, settled=settled), after=after)

    def of(*reviews, people=()):
        failures = {each.after: rejection(each) for each in reviews if each.strategy == "request_changes"}
        failures |= {number: review_failure(("ann",), "?", text) for number, text in people}
        past = [replace(rejected(), number=n, failure=failures.get(n)) for n in (1, 2, 3)]
        return History(ISSUE, tuple(past), advice=reviews).open_points

    first = review("a", "b")
    assert of(first, review("c", after=2)) == ("a", "b", "c")
    assert of(first, review("c", settled=(2, 9), after=2)) == ("a", "c")
    assert of(first, review("c", "a", settled=(1, 2), after=2), review(settled=(1,), after=3)) == ("a",)
    assert of(first, review("ask ann", strategy="needs_human", after=2)) == ("a", "b", "ask ann")
    assert of(first, review(strategy="approve", after=2)) == ()
    assert of(first, review(strategy="approve", after=2), people=[(2, "ann:\n- d\n\nbob:\n- e")]) == (
        "ann:\n- d", "bob:\n- e",
    )  # fmt: skip
    assert of(people=[(1, "ann:\n- d"), (3, "ann:\n- f")]) == ("ann:\n- f",)


# Rounds


def test_the_reviewer_s_points_go_to_the_same_model():
    told = decide(rejected(), policy=ALWAYS)
    assert told == RunWorker(Mode.FEEDBACK, "small", "the reviewer asks for changes (round 1 of 5)")
    assert decide(*fails(2), rejected("big"), policy=ALWAYS).model == "big"


def test_rounds_have_a_cap_of_their_own():
    rules = replace(ALWAYS, attempts_max=99)
    rounds = [rejected(text=str(number)) for number in range(5)]
    assert decide(*rounds, policy=rules) == Block(K.REVIEW_REJECTED, "the reviewer has asked for changes 5 times")
    assert decide(*rounds[1:], policy=rules).name == "RetryWithFeedback"


def test_rounds_are_counted_over_the_whole_issue():
    rounds = [event for number in range(5) for event in (*fails(1), rejected(text=str(number)))]
    assert isinstance(decide(*rounds, policy=replace(ALWAYS, attempts_max=99)), Block)


def test_a_rejection_is_not_counted_among_the_failures_without_fault():
    assert decide(*[rejected()] * 4, conflict(), policy=ALWAYS).name == "RetrySame"
    assert (
        decide(rejected(), interrupted(), conflict(), conflict(), rejected(), policy=ALWAYS).name == "RetryWithFeedback"
    )


def test_a_request_for_changes_never_lets_work_land_that_still_counts_as_passed():
    asked = said(Topic.REVIEW, strategy="request_changes", cause="not yet")
    assert not isinstance(decide(passed(changed=("a.py",)), asked, policy=ALWAYS), Land)
