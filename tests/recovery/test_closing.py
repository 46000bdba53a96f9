"""An issue all of whose parts have landed is closed after a look; what is missing, or was never begun, is a part."""

from dataclasses import replace

from support.policy_story import K, decide, failed, fails, history_of, passed, policy, said

from noface.model.actions import Ask, Land, RequestApproval, WaitUntil
from noface.model.attempt import PastAttempt
from noface.model.history import MISSING, NOTHING_MISSING, AdviceOutcome, Topic
from noface.model.issue import Issue
from noface.model.worker_run import ReportStatus, WorkerReport
from noface.recovery.breakdown_files import rest_of
from noface.recovery.closing import left_by
from noface.recovery.partly_done import rest_reported
from noface.recovery.retry_policy import MAY_BE_HALF, ReviewRules, RoleModels, When
from noface.recovery.rules_passed import asked_whether_whole

LANDED = said(Topic.BREAKDOWN, outcome=AdviceOutcome.PARTS_LANDED)
GAP = said(Topic.MISSING, strategy=MISSING, text="no JSON", model="wise")
FULL = said(Topic.MISSING, strategy=NOTHING_MISSING, model="wise")
ALONE, ASKING = policy(roles=RoleModels()), policy(roles=RoleModels(planner="wise"))


def then(*story, by=ASKING, **more):
    return decide(*fails(2), *story, policy=by, **more)


def test_a_role_is_asked_once_and_nothing_missing_closes_it():
    asked = then(LANDED)
    assert isinstance(asked, Ask)
    assert (asked.topic, asked.model) == (Topic.MISSING, "wise")
    assert then(LANDED, FULL) == Land("all its parts have landed, and wise finds nothing missing", parts=True)
    for role in ("reviewer", "diagnoser"):
        assert then(LANDED, by=policy(roles=RoleModels(**{role: "wise"}))).model == "wise"


def test_what_is_missing_is_a_further_part_twice_and_then_a_person_is_asked():
    story = (LANDED, GAP)
    for _ in range(2):
        assert (then(*story).name, then(*story).model) == ("BreakDown", "")
        story = (*story, LANDED, GAP)
    assert isinstance(then(*story), RequestApproval)
    by_person = replace(GAP, model="")
    assert then(*story, LANDED, by_person).name == "BreakDown"


def test_without_a_role_or_an_answer_a_person_is_asked():
    unusable = said(Topic.MISSING, outcome=AdviceOutcome.UNUSABLE, cause="no JSON object found")
    away = said(Topic.MISSING, outcome=AdviceOutcome.UNAVAILABLE)
    for action in (then(LANDED, by=ALONE), then(LANDED, unusable), then(LANDED, *[away] * 3)):
        assert isinstance(action, RequestApproval)
        assert action.parts
    assert isinstance(then(LANDED, away), Ask)
    assert isinstance(then(LANDED, away={"wise": 10_000_000_000.0}), WaitUntil)


def test_an_issue_that_goes_on_itself_is_decided_as_ever():
    failed_parts = said(Topic.BREAKDOWN, outcome=AdviceOutcome.PARTS_FAILED)
    assert then(LANDED, failed(K.TEST_FAILURE)).name not in ("Land", "Review", "RequestApproval")
    assert then(failed_parts).name not in ("Land", "Review", "RequestApproval")


def test_what_a_divided_issue_does_itself_in_the_end_is_reviewed_for_what_was_left_out():
    story = (*fails(2), said(Topic.BREAKDOWN, outcome=AdviceOutcome.PARTS_FAILED), passed(changed=("test_a.py",)))
    by = policy(roles=RoleModels(reviewer="wise"))
    assert decide(*story, policy=by).name == "Review"
    assert decide(*fails(2), passed(changed=("test_a.py",)), policy=by).name == "Land"
    assert decide(*story, policy=replace(by, review=ReviewRules(When.NEVER))).name == "RequestApproval"
    assert decide(*story[:-1], replace(story[-1], report=WorkerReport(ReportStatus.DONE)), policy=ALONE).name == "Land"


def test_who_was_told_to_do_less_and_says_nothing_has_not_done_it_all():
    less = (failed(K.TIMEOUT, answer="ReduceScope"), passed(changed=("a.txt", "test_a.py")))
    done = replace(less[1], report=WorkerReport(ReportStatus.DONE))
    reviewer = policy(roles=RoleModels(reviewer="wise"))
    asked = asked_whether_whole(history_of(*less, issue=WHOLE), ALONE)
    assert (asked.rule, asked.charged) == (MAY_BE_HALF, False)
    told = replace(less[1], outcome=asked.kind.value, charged=False, failure=asked)
    assert decide(less[0], told, policy=ALONE, issue=WHOLE).name == "RetrySame"
    assert asked_whether_whole(history_of(less[0], told, less[1], issue=WHOLE), ALONE) is None, "once"
    assert decide(less[0], told, less[1], policy=ALONE, issue=WHOLE).name == "Land", "asked once"
    assert decide(less[0], told, done, policy=ALONE, issue=WHOLE).name == "Land"
    assert asked_whether_whole(history_of(*less, issue=WHOLE), reviewer) is None
    assert decide(*less, policy=reviewer, issue=WHOLE).name == "Review"
    assert asked_whether_whole(history_of(*less), ALONE) is not None, "also of a text without a list"
    for story, more in (((less[0], done), {}), (less, {"accept": ("true",)}), ((failed(K.TIMEOUT), less[1]), {})):
        for by in (ALONE, reviewer):
            assert decide(*story, policy=by, issue=replace(WHOLE, **more)).name == "Land", (story, more)


# What is left

WHOLE = Issue("7", "Six files", "Wanted:\n\n- write a.txt\n- write b.txt\n- write c.txt\n", paths=("src",))


def test_what_the_newest_report_calls_left_is_left_unless_a_later_one_calls_it_done():
    silent = PastAttempt(1, "m", 1, "TIMEOUT", charged=True)
    part = replace(silent, report=WorkerReport(ReportStatus.PARTIAL, "some", left=("write b.txt", "write c.txt")))
    done = replace(silent, report=WorkerReport(ReportStatus.DONE))
    assert left_by((part, silent)) == ("write b.txt", "write c.txt")
    assert left_by((silent,)) == left_by((part, done)) == ()


def test_the_rest_is_a_part_that_comes_after_all_others_and_has_the_bounds_of_the_whole():
    one = Issue("7.1", "One", paths=("src/one.py",), parent="7", depth=1)
    (rest,) = rest_of(WHOLE, (one,), ("write b.txt", "x" * 9000), frozenset({"7", "7.2"}))
    assert (rest.id, rest.parent, rest.depth, rest.depends_on, rest.paths) == ("7.3", "7", 1, ("7.1",), ("src",))
    assert rest.title == "Six files (the rest)"
    for words in ("- write b.txt", "- 7.1: One: `src/one.py`", "- write c.txt"):
        assert words in rest.body
    assert len(rest.body) < 3000


def test_what_a_report_says_is_left_is_as_precise_as_the_report():
    partial = WorkerReport(ReportStatus.PARTIAL, "half of it", gaps=("no sample",))
    assert rest_reported(replace(partial, left=("b", "c"))) == ("b", "c")
    assert rest_reported(partial) == ("half of it",)
    assert rest_reported(replace(partial, summary="")) == ("no sample",)
    assert rest_reported(replace(partial, status=ReportStatus.DONE)) == rest_reported(None) == ()
