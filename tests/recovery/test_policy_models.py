"""Which models an issue may have: its own, a person's choice, no stronger one, a tier of its own (N11, L5)."""

from dataclasses import replace

from support.policy_story import ISSUE, K, decide, fails, rungs, typed

from noface.model.actions import Mode, RunWorker


def test_no_escalate_keeps_the_first_model_to_the_end():
    issue = replace(ISSUE, no_escalate=True)
    assert typed(decide(*fails(4), issue=issue)) == RunWorker(Mode.FEEDBACK, "small", "")


def test_no_escalate_still_lets_the_first_model_think_longer():
    issue = replace(ISSUE, no_escalate=True)
    thinking = rungs(("small", 1), ("small", 1, "think"), ("big", 3))
    assert decide(*fails(1), issue=issue, policy=thinking).name == "ThinkLonger"
    assert decide(*fails(1), *fails(2, think=True), issue=issue, policy=thinking).model == "small"


def test_the_issue_s_own_model_comes_first_and_only_stronger_ones_follow():
    issue = replace(ISSUE, model="big")
    assert typed(decide(issue=issue)) == RunWorker(Mode.FIRST, "big", "")
    assert decide(*fails(3, "big"), issue=issue).model == "big"
    three = rungs(("small", 2), ("big", 2), ("huge", 5))
    assert decide(*fails(2, "big"), issue=issue, policy=three).model == "huge"


def test_a_model_outside_the_ladder_gives_way_to_a_stronger_one():
    issue = replace(ISSUE, model="twin")
    assert decide(issue=issue).model == "twin"
    assert decide(*fails(1, "twin"), issue=issue).model == "twin"
    assert decide(*fails(2, "twin"), issue=issue).model == "big"


def test_a_model_that_nobody_knows_counts_as_one_of_the_lowest_tier():
    issue = replace(ISSUE, model="alien")
    assert decide(issue=issue).model == "alien"
    alien = [replace(attempt, model="alien") for attempt in fails(2)]
    assert decide(*alien, issue=issue).model == "big"


def test_the_model_a_person_names_at_unblocking_outranks_the_issue_s_own():
    issue = replace(ISSUE, model="big")
    assert decide(issue=issue, model="huge").model == "huge"
    assert decide(*fails(3, "huge"), issue=issue, model="huge").model == "huge"


def test_a_model_named_for_an_issue_thinks_and_answers_as_any_first_rung_does():
    picky = rungs(("small", 1, "think", K.LINT_FAILURE), ("big", 3))
    issue = replace(ISSUE, model="twin")
    assert not decide(issue=issue, policy=picky).think
    assert decide(*fails(1, "twin"), issue=issue, policy=picky).model == "big"


def test_the_issue_s_tier_leaves_out_the_rungs_below_it():
    three = rungs(("small", 2), ("big", 2), ("huge", 5))
    assert decide(issue=replace(ISSUE, tier=2), policy=three).model == "big"
    assert decide(*fails(2, "big"), issue=replace(ISSUE, tier=2), policy=three).model == "huge"


def test_a_tier_above_every_rung_gets_the_strongest_rung():
    assert decide(issue=replace(ISSUE, tier=3)).model == "big"
