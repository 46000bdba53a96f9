"""What the policy does with work that main's tests contradict (rule 2): each answer, each setting, each verdict."""

from dataclasses import replace

import pytest
from support.policy_story import ISSUE, NOW, K, contradicted, decide, passed, policy, said

from noface.model.actions import Ask, Block, Land, RequestApproval, RunWorker, WaitUntil
from noface.model.history import ASKED_FOR, AdviceOutcome, Topic, Verdict
from noface.model.worker_run import ChangedTest, ReportStatus, WorkerReport
from noface.recovery.retry_policy import ChangedTests, ReviewRules, RoleModels, When

C = Topic.CHANGED_TESTS
ASKING = ReviewRules(judge="wise")
AWAY = said(C, outcome=AdviceOutcome.UNAVAILABLE, model="wise", cause="HTTP 529")


def then(*events, review=ASKING, issue=ISSUE, **more):
    return decide(*events, policy=policy(review=review, **more), issue=issue)


@pytest.mark.parametrize(
    ("events", "review", "answer"),
    [
        ([], ASKING, Ask),
        ([said(C, strategy="not_asked_for")], ASKING, RunWorker),
        ([said(C, outcome=AdviceOutcome.UNUSABLE)], ASKING, RunWorker),
        ([AWAY] * 3, ASKING, Ask),
        ([AWAY] * 4, ASKING, RequestApproval),
        ([], ReviewRules(changed_tests=ChangedTests.LAND), Ask),
        ([], ReviewRules(judge="wise", changed_tests=ChangedTests.ASK_PERSON), RunWorker),
        ([], ReviewRules(judge=None), RunWorker),
        ([Verdict.APPROVED], ASKING, Land),
        ([Verdict.REJECTED], ASKING, RunWorker),
    ],
)
def test_what_follows_work_that_main_s_tests_contradict(events, review, answer):
    assert type(then(contradicted(), *events, review=review)) is answer


def test_who_is_asked_is_named_and_nobody_if_a_person_lets_all_such_work_land():
    assert then(contradicted()).model == "wise"
    assert then(contradicted(), review=ReviewRules(judge="wise", changed_tests=ChangedTests.LAND)).model == ""


def test_a_provider_that_is_away_is_waited_for():
    action = decide(contradicted(), policy=policy(review=ASKING), away={"wise": NOW + 60})
    assert (type(action), action.model, action.until) == (WaitUntil, "wise", NOW + 60)


def test_a_yes_has_made_it_an_attempt_that_passed_which_is_reviewed_like_any_other():
    yes = said(C, strategy=ASKED_FOR, tests=("t.py::test_x",))
    assert isinstance(then(passed(), yes), Land)
    reviewed = then(passed(), yes, review=ReviewRules(When.ALWAYS, judge="wise"), roles=RoleModels(reviewer="wise"))
    assert (type(reviewed), reviewed.topic) == (Ask, Topic.REVIEW)


def test_what_its_own_commands_want_is_shown_to_a_person_once_the_worker_was_told_and_does_it_again():
    refused = said(C, strategy="not_asked_for", cause="not a word of it", model="wise")
    issue = replace(ISSUE, accept=("true",))
    assert isinstance(then(contradicted(), refused, issue=issue), RunWorker)
    action = then(contradicted(), refused, contradicted(), refused, issue=issue)
    assert isinstance(action, RequestApproval)
    assert "not a word of it" in action.reason


@pytest.mark.parametrize("work", [contradicted(), contradicted(candidate=None)])
def test_once_its_attempts_are_used_up_a_person_is_asked_if_there_is_work_to_land(work):
    answer = then(work, said(C, strategy="not_asked_for"), attempts_max=1)
    assert type(answer) is (RequestApproval if work.candidate else Block)
    assert answer.kind is K.GATE_TAMPERING


@pytest.mark.parametrize(("evidence", "asks"), [((), False), (("it fails",), False), (("it fails", "Now B."), True)])
def test_a_person_reads_a_sentence_as_the_worker_s_own_only_if_it_was_found_in_the_issue(evidence, asks):
    """What a diagnosis excuses costs nothing either, and quotes nothing: its last line of evidence is no sentence."""
    report = WorkerReport(ReportStatus.DONE, changed_tests=(ChangedTest("t.py::test_x", "Now B."),))
    work = contradicted(report=report, charged=False)
    work = replace(work, failure=replace(work.failure, charged=False, evidence=evidence))
    answer = then(work, review=ReviewRules(judge=None))
    assert (isinstance(answer, RequestApproval) and '"Now B."' in answer.reason) is asks
    assert asks or "asks for it" not in answer.reason
