"""Budgets (law 12, I7): what cannot be paid is not started, and noface says which limit was in the way."""

import pytest
from support.cases import cases

from noface.model.budget import Allowance, Budget, EndedFor, Estimate, Estimates, Refusal, Spent, allowed, can_pay
from noface.model.worker_run import ModelSpec

RUN = Budget("run", usd=5.0)
TOKENS = Budget("run", tokens=1000)
NOTHING = Spent()


def seen(usd, model="m"):
    return Estimate(model, usd, 0)


def capped(usd, model="m"):
    return Estimate(model, usd, 0, capped=True)


# allowed

ISSUE = Budget("issue", usd=2.0)
NONE = Budget("run")


def test_a_run_may_spend_the_least_of_its_own_limit_and_of_what_issue_and_run_have_left():
    assert allowed(0.5, ISSUE, Spent(1.0), RUN, Spent(4.0), 0.0) == Allowance(0.5, "model", 0.5)
    assert allowed(1.5, ISSUE, Spent(1.0), RUN, Spent(3.0), 0.0) == Allowance(1.0, "issue", 2.0, 1.0)
    assert allowed(None, ISSUE, Spent(1.0), RUN, Spent(3.0), 1.5) == Allowance(0.5, "run", 5.0, 3.0, 1.5)
    assert allowed(None, Budget("issue"), NOTHING, NONE, NOTHING, 0.0) is None
    assert allowed(1.0, ISSUE, Spent(1.0), NONE, NOTHING, 0.0).of_model, "nobody else's limit is less"


def test_a_run_that_starts_may_spend_something():
    assert allowed(None, ISSUE, Spent(2.0), NONE, NOTHING, 0.0).usd == 0.01


def test_work_that_ended_at_its_allowance_ended_at_the_budget_that_left_it_so_little():
    over = Allowance(1.0, "issue", 2.0, before=1.0).reached(1.05)
    assert (over.ended_for, over.mark) == (EndedFor.ISSUE, "ended-at-issue-budget: max_cost_usd = $2.00")
    assert over.note == "ended at the issue's max_cost_usd = $2.00: $2.05 used, $1.05 of it here"
    over = Allowance(1.0, "run", 5.0, before=4.0).reached(1.0)
    assert (over.ended_for, over.passed.reason) == (EndedFor.RUN, "stopped at the limit max_cost_usd: $5.00 of $5.00")
    over = Allowance(1.0, "run", 5.0, before=2.0, reserved=2.0).reached(1.0)
    assert over.ended_for is EndedFor.WITH_RUN, "other work has the rest"
    assert over.note.endswith("$3.00 used, $1.00 of it here; $2.00 kept for other work")


# can_pay


def test_what_is_more_than_is_left_is_refused_with_what_it_has_cost():
    assert can_pay(RUN, Spent(4.5), (), seen(1.0)) == Refusal(
        "max_cost_usd", "a run of m has used up to $1.00 here; $0.50 of the run's $5.00 are left"
    )


def test_a_models_own_limit_is_named_as_such():
    refusal = can_pay(RUN, Spent(4.5), (), capped(2.0))
    assert refusal.reason == "a run of m may cost $2.00 (its max_cost_usd); $0.50 of the run's $5.00 are left"


def test_a_spent_budget_pays_for_nothing_not_even_what_is_free():
    assert can_pay(RUN, Spent(5.0), (), seen(0.0)).reason == "$5.00 used of the run's $5.00"


def test_what_is_under_way_is_reserved_and_the_refusal_is_for_now_only():
    refusal = can_pay(RUN, Spent(1.0), (seen(2.0), seen(1.5)), seen(1.0))
    assert not refusal.final
    assert refusal.reason.endswith("$4.00 of the run's $5.00 are left, less $3.50 for what is under way")
    assert can_pay(RUN, Spent(1.0), (seen(2.0), seen(1.0)), seen(1.0)) is None


def test_what_is_too_much_even_alone_is_refused_for_good():
    assert can_pay(RUN, Spent(4.5), (seen(0.1),), seen(1.0)).final


def test_what_was_merely_seen_refuses_nothing_while_the_budget_is_untouched():
    assert can_pay(RUN, NOTHING, (), seen(6.0)) is None
    assert not can_pay(RUN, NOTHING, (seen(6.0),), seen(6.0)).final
    assert can_pay(RUN, Spent(0.01), (), seen(6.0)).final


def test_of_a_model_that_nobody_knows_one_run_goes_first():
    assert can_pay(RUN, NOTHING, (), seen(None)) is None
    refusal = can_pay(RUN, NOTHING, (seen(None, "other"),), seen(None))
    assert (refusal.final, refusal.reason) == (False, "nobody knows yet what m uses: one run of it first")


def test_cents_that_no_float_holds_exactly_can_still_be_paid():
    assert can_pay(Budget("run", 0.3), Spent(0.1 + 0.1), (), seen(0.1)) is None


def test_tokens_are_a_budget_of_their_own():
    big = Estimate("m", 0.0, 600)
    assert can_pay(TOKENS, Spent(99.0, 400), (), big) is None
    assert can_pay(TOKENS, Spent(0.0, 500), (), big) == Refusal(
        "max_tokens", "a run of m has used up to 600 tokens here; 500 tokens of the run's 1,000 tokens are left"
    )
    assert can_pay(TOKENS, Spent(0.0, 1000), (), big).reason == "1,000 tokens used of the run's 1,000 tokens"
    assert not can_pay(TOKENS, Spent(0.0, 300), (big,), big).final
    assert not can_pay(TOKENS, NOTHING, (Estimate("m"),), Estimate("m")).final


def spent_by_many(cost, estimate):
    """What a run spends that starts whatever it can pay, however much that is at once; each run costs `cost`."""
    spent, running = 0.0, 0
    while True:
        while can_pay(RUN, Spent(spent), [estimate] * running, estimate) is None:
            running += 1
        if not running:
            return spent
        running, spent = running - 1, spent + cost
        estimate = estimate if estimate.capped else seen(cost)


@cases("cost", [0.3, 1.0, 2.6, 4.0, 7.0])
@cases("known", [False, True])
def test_however_many_want_to_start_at_once_they_overshoot_by_less_than_one_run(cost, known):
    assert spent_by_many(cost, seen(cost if known else None)) < 5.0 + cost


@pytest.mark.parametrize("cost", [0.3, 1.0, 2.6, 4.0])
def test_models_that_keep_their_own_limit_never_overshoot(cost):
    assert spent_by_many(cost, capped(cost)) <= 5.0


# estimates


def estimates(factor=2, **models):
    specs = {name: ModelSpec(name, agent, max_cost_usd=cap) for name, (agent, cap, _) in models.items()}
    return Estimates(specs, {name: last for name, (_, _, last) in models.items() if last is not None}, factor)


def test_a_models_own_limit_is_its_estimate_and_twice_that_where_it_thinks_longer():
    known = estimates(m=("claude", 2.0, Estimate("m", 9.0, 100)))
    assert known.of("m") == Estimate("m", 2.0, 100, capped=True)
    assert known.of("m", think=True) == Estimate("m", 4.0, 100, capped=True)


def test_without_a_limit_the_most_that_was_seen_is_the_estimate():
    assert estimates(m=("claude", None, Estimate("m", 0.8, 100))).of("m", think=True) == Estimate("m", 0.8, 100)


def test_a_model_that_never_ran_is_unknown_but_a_command_tells_nothing_anyway():
    assert estimates(m=("claude", None, None)).of("m") == Estimate("m", None, None)
    assert estimates(m=("command", None, None)).of("m") == Estimate("m", 0.0, 0)


def test_who_tells_tokens_and_no_cost_is_not_waited_for_to_tell_one():
    assert estimates(m=("gemini", None, Estimate("m", None, 100))).of("m") == Estimate("m", 0.0, 100)
    assert estimates(m=("mini", None, Estimate("m", 0.5, None))).of("m") == Estimate("m", 0.5, 0)
