"""What is tried besides the ladder, as stories: smaller issues, reflection, an architect, and when it is given up."""

from dataclasses import replace

import pytest
from support.policy_story import ISSUE, K, conflict, decide, failed, fails, passed, policy, said, typed

from noface.diagnosis.gate import STAYS
from noface.model.actions import Ask, Block, Mode, RunWorker
from noface.model.history import AdviceOutcome, Topic
from noface.model.taxonomy import Category, Strategy
from noface.recovery.retry_policy import ReviewRules, RoleModels, Rung, When

PLANNER = RoleModels(planner="planner")
TWO_FILES = {"changed": ("a.py", "b.py")}
BIG_DIFF = {"changed": ("a.py", "b.py"), "lines": 1001}
MANY = {"changed": tuple(f"f{n}.py" for n in range(21))}
PATIENT = policy(ladder=(Rung("small", 1, 9),), attempts_max=20, roles=PLANNER)

# Rule 8


def test_block_after_counts_equal_failures_in_a_row():
    strict = policy(block_after=3)
    mixed = [failed(K.TEST_FAILURE, said=said) for said in ("same", "other", "same", "same")]
    assert not isinstance(decide(*mixed, policy=strict), Block)
    alike = [failed(K.TEST_FAILURE, said="same") for _ in range(3)]
    assert decide(*alike, policy=strict) == Block(K.TEST_FAILURE, "the same failure 3 times in a row")


def test_what_was_not_charged_does_not_break_a_row_of_equal_failures():
    alike = [failed(K.TEST_FAILURE, said="same") for _ in range(3)]
    row = [alike[0], failed(K.RATE_LIMITED), alike[1], conflict(), alike[2]]
    assert decide(*row, policy=policy(block_after=3)).reason == "the same failure 3 times in a row"


def test_failures_without_a_signature_are_told_apart_by_kind_and_message():
    strict = policy(block_after=2)
    differing = [failed(kind, said="", message="x") for kind in (K.SYNTAX_ERROR, K.RUNTIME_ERROR)]
    assert not isinstance(decide(*differing, policy=strict), Block)
    differing = [failed(K.SYNTAX_ERROR, said="", message=message) for message in ("x", "y")]
    assert not isinstance(decide(*differing, policy=strict), Block)
    alike = [failed(K.SYNTAX_ERROR, said="", message="x") for _ in range(2)]
    assert isinstance(decide(*alike, policy=strict), Block)


# Rule 10: breaking down


def test_timeouts_in_a_row_have_the_planner_divide_the_issue():
    assert decide(failed(K.TIMEOUT), policy=PATIENT).name == "ReduceScope"
    divided = decide(*fails(2, kind=K.TIMEOUT), policy=PATIENT)
    assert divided == Ask(Topic.BREAKDOWN, "planner", "2 timeouts in a row: the planner divides it")


PARTS = ("Write the header.", "Write the rows.")


@pytest.mark.parametrize(
    ("attempt", "answer"),
    [
        (passed(), said(Topic.REVIEW, strategy="approve", divide=PARTS)),
        (failed(K.AGENT_CONFUSION), said(Topic.CLARIFICATION, text="three things in one", divide=PARTS)),
    ],
)
def test_a_role_that_finds_an_issue_too_large_has_it_divided_once_as_it_says(attempt, answer):
    asks = policy(roles=RoleModels(reviewer="critic"), review=ReviewRules(when=When.ALWAYS))
    divided = decide(attempt, answer, policy=asks)
    assert (divided.topic, divided.reason.rpartition(": ")[2]) == (Topic.BREAKDOWN, "divided so")
    assert not isinstance(decide(attempt, answer, policy=replace(asks, breakdown=False)), Ask)
    assert not isinstance(decide(attempt, answer, said(Topic.BREAKDOWN), policy=asks), Ask)


def test_a_runner_that_has_passed_and_does_not_end_makes_no_issue_too_big():
    open_ = [replace(each, failure=replace(each.failure, rule=STAYS)) for each in fails(3, kind=K.TIMEOUT)]
    assert {decide(*open_[:times], policy=PATIENT).name for times in (1, 2, 3)} == {"RetryWithFeedback"}


def test_without_a_planner_an_issue_is_divided_by_the_files_of_its_diffs():
    alone = replace(PATIENT, roles=RoleModels())
    divided = decide(failed(K.TIMEOUT, **TWO_FILES), failed(K.TIMEOUT), policy=alone)
    assert divided == Ask(Topic.BREAKDOWN, "", "2 timeouts in a row: divided by files")
    one_file = [failed(K.TIMEOUT, changed=("a.py",)), failed(K.TIMEOUT)]
    assert decide(*one_file, policy=alone).name == "ReduceScope"


@pytest.mark.parametrize("size", [BIG_DIFF, MANY], ids=["lines", "files"])
def test_several_attempts_and_a_diff_that_is_too_big_divide_the_issue(size):
    assert decide(*fails(1), failed(K.TEST_FAILURE, **size), policy=PATIENT).name == "RetryWithFeedback"
    divided = decide(*fails(2), failed(K.TEST_FAILURE, **size), policy=PATIENT)
    assert divided == Ask(
        Topic.BREAKDOWN, "planner", "3 attempts, and the work is too big for one: the planner divides it"
    )


def test_a_diff_of_just_the_size_that_is_allowed_is_not_too_big():
    just = {"changed": tuple(f"f{n}.py" for n in range(20)), "lines": 1000}
    assert decide(*fails(2), failed(K.TEST_FAILURE, **just), policy=PATIENT).name == "RetryWithFeedback"


def test_what_programs_made_makes_no_issue_too_big():
    made = (*(f"env3/lib/m{n}.py" for n in range(50)), "env3/pyvenv.cfg", "node_modules/x/index.js", "uv.lock", "a.py")
    output = {"changed": made, "lines": 3}
    assert decide(*fails(2), failed(K.TEST_FAILURE, **output), policy=PATIENT).name == "RetryWithFeedback"
    alone = replace(PATIENT, roles=RoleModels())
    assert decide(failed(K.TIMEOUT, **output), failed(K.TIMEOUT, **output), policy=alone).name == "ReduceScope"


def test_several_attempts_of_which_the_last_ran_out_of_its_budget_divide_the_issue():
    assert decide(*fails(2), failed(K.RESOURCE_EXHAUSTED), policy=PATIENT).name == "BreakDown"


def test_an_issue_is_divided_only_once():
    timeouts = fails(2, kind=K.TIMEOUT)
    for outcome in AdviceOutcome:
        answered = said(Topic.BREAKDOWN, outcome=outcome)
        if outcome is not AdviceOutcome.PARTS_LANDED:  # see test_closing
            assert decide(*timeouts, answered, policy=PATIENT).name == "ReduceScope"
        assert decide(*timeouts, answered, *fails(2, kind=K.TIMEOUT), policy=PATIENT).name == "ReduceScope"


def test_parts_are_divided_again_only_down_to_a_depth():
    timeouts = fails(2, kind=K.TIMEOUT)
    for depth, action in ((1, "BreakDown"), (2, "ReduceScope"), (3, "ReduceScope")):
        assert decide(*timeouts, policy=PATIENT, issue=replace(ISSUE, depth=depth)).name == action


def test_breaking_down_can_be_switched_off():
    never = replace(PATIENT, breakdown=False)
    assert decide(*fails(3, kind=K.TIMEOUT, **MANY), policy=never).name == "ReduceScope"


def test_a_kind_that_is_to_be_broken_down_is_at_once_even_where_it_never_happens_by_itself():
    asked = replace(PATIENT, breakdown=False, strategies=((K.TEST_FAILURE, Strategy.BREAKDOWN),))
    divided = decide(*fails(1), policy=asked)
    assert divided == Ask(
        Topic.BREAKDOWN, "planner", "[retry.strategies] TEST_FAILURE = breakdown: the planner divides it"
    )
    told = decide(*fails(1), said(Topic.BREAKDOWN, outcome=AdviceOutcome.PARTS_FAILED), policy=asked)
    assert typed(told) == RunWorker(Mode.REDUCE, "small", "")


# Rule 14: given up

CONFUSED = [failed(K.AGENT_CONFUSION, answer="AddContext")]
TIMED_OUT = [failed(K.TIMEOUT, answer="ReduceScope")]
DIAGNOSED = [failed(K.UNKNOWN, answer="RetryWithFeedback"), said(Topic.DIAGNOSIS, strategy="retry_modified", text="x")]
LONG = policy(ladder=(Rung("small", 1, 20),), attempts_max=20)


def test_three_different_strategies_that_failed_are_enough():
    two = decide(*CONFUSED, *TIMED_OUT, *fails(1), policy=LONG)
    assert two.name == "RetryWithFeedback"
    three = decide(*CONFUSED, *TIMED_OUT, failed(K.TEST_FAILURE, answer=two.name), *fails(1), policy=LONG)
    assert three.reason == "3 recovery strategies have failed: AddContext, ReduceScope, RetryWithFeedback"
    twice = [*DIAGNOSED, *DIAGNOSED, failed(K.TEST_FAILURE, answer=""), *fails(1)]
    assert "diagnosis after attempt" in decide(*twice, policy=replace(LONG, strategies_max=2)).reason


def test_reflecting_and_asking_in_vain_are_no_strategies():
    vain = [
        said(Topic.DIAGNOSIS, outcome=AdviceOutcome.UNAVAILABLE),
        said(Topic.ARCHITECT, outcome=AdviceOutcome.UNAVAILABLE),
        said(Topic.REFLECTION),
    ]
    assert not isinstance(decide(*fails(1), *vain, *fails(1), policy=replace(LONG, strategies_max=1)), Block)


def test_an_answer_and_the_context_made_of_it_are_one_strategy():
    clarified = [failed(K.AGENT_CONFUSION, answer="AddContext"), said(Topic.CLARIFICATION)]
    told = decide(*clarified, *TIMED_OUT, *fails(1), policy=replace(LONG, roles=PLANNER))
    assert told.name == "RetryWithFeedback", told.reason


def test_what_was_tried_before_a_person_unblocked_it_counts_no_more():
    tried = [*CONFUSED, *TIMED_OUT, *DIAGNOSED]
    assert decide(*tried, failed(K.TEST_FAILURE, epoch=1), policy=LONG, epoch=1).name == "RetryWithFeedback"


# Rule 15


@pytest.mark.parametrize("kind", [K.TIMEOUT, K.RESOURCE_EXHAUSTED])
def test_work_that_was_too_big_is_tried_smaller(kind):
    assert typed(decide(failed(kind))) == RunWorker(Mode.REDUCE, "small", "")
    assert decide(*fails(2, kind=kind)).name == "Escalate"


# Rule 16


def test_where_it_is_wished_for_the_worker_s_model_reflects_before_each_retry():
    thoughtful = policy(reflect=True)
    asked = decide(*fails(1), policy=thoughtful)
    assert asked == Ask(Topic.REFLECTION, "small", "asks the worker's model why it failed and how it will mend it")
    for outcome in AdviceOutcome:
        reflected = said(Topic.REFLECTION, outcome=outcome)
        assert decide(*fails(1), reflected, policy=thoughtful).name == "RetryWithFeedback"
    assert decide(*fails(1), said(Topic.REFLECTION), *fails(1), policy=thoughtful).name == "Reflect"


def test_nothing_is_reflected_on_but_what_a_worker_can_correct():
    thoughtful = policy(reflect=True)
    for kind in K:
        asked = decide(failed(kind, charged=True), policy=thoughtful).name == "Reflect"
        assert asked == (kind.category is Category.CORRECTABLE), kind


ARCHITECT = policy(roles=RoleModels(architect="architect"))


def test_an_implementation_that_fails_on_the_last_rung_too_is_put_to_the_architect_once():
    row = [*fails(2), *fails(1, "big")]
    asked = decide(*row, policy=ARCHITECT)
    reason = "the implementation fails again and again: reconsider the design"
    assert asked == Ask(Topic.ARCHITECT, "architect", reason)
    for outcome in AdviceOutcome:
        answered = said(Topic.ARCHITECT, outcome=outcome)
        assert decide(*row, answered, policy=ARCHITECT).name == "RetryWithFeedback"
        assert decide(*row, answered, *fails(1, "big"), policy=ARCHITECT).name == "RetryWithFeedback"


def test_the_architect_is_asked_about_implementations_only():
    assert decide(*fails(2), failed(K.TIMEOUT, "big"), policy=ARCHITECT).name == "ReduceScope"
