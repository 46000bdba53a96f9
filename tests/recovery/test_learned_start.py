"""Where the record of the models lets an issue's ladder begin (`[retry] start`), and what it never does."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.policies import POLICY as ANY_POLICY
from support.policy_story import ISSUE, NOW, K, fails, history_of, interrupted, policy, rungs, typed

from noface.model.actions import Block, Mode, RunWorker
from noface.model.history import IssueKind, Tried
from noface.model.taxonomy import INTERRUPTED, PASSED
from noface.recovery.learned_start import EXPLORES, HALF_LIFE_S, RECORD_MAX, learned_ladder
from noface.recovery.policy import next_action
from noface.recovery.retry_policy import LadderStart

USD = {"small": 0.1, "big": 0.31, "huge": 1.0}
LEARNED = policy(start=LadderStart.LEARNED, attempts_max=5)
THREE = rungs(("small", 2), ("big", 2), ("huge", 5), start=LadderStart.LEARNED)
HERE = IssueKind.of(ISSUE)


def record(*issues, kind=HERE, days=1.0, usd=USD, outcome=K.TEST_FAILURE.value, charged=True):
    """What a row of issues leaves: each the models of its attempts in order, of which the last passed unless it is
    marked with "!"."""
    tried, at = [], NOW - days * 86_400
    for number, models in enumerate(issues):
        for place, word in enumerate(models.split()):
            passed, model = place == len(models.split()) - 1 and not word.endswith("!"), word.strip("!")
            at += 60.0
            how = PASSED if passed else outcome
            cost = usd.get(model)
            tried.append(Tried(f"o{number}", 0, model, False, how, passed or charged, at, at + 30, cost, kind))
    return tuple(tried)


def decide(*events, record=(), policy=LEARNED, now=NOW, **more):
    return next_action(replace(history_of(*events, **more), record=record), policy, now)


def begins(tried, **more):
    return decide(record=tried, **more).model


HOPELESS = "small small big"


def test_a_model_that_has_failed_issue_after_issue_is_left_out_and_the_reason_tells_the_figures():
    assert decide(record=record(*[HOPELESS] * 6)) == RunWorker(
        Mode.FIRST,
        "big",
        "begins with big: small has failed 6 of its last 6 first attempts here, at $0.10 each;"
        " big has passed 6 of 6, at $0.31 each",
        learned=True,
    )


@pytest.mark.parametrize("issues", [[], [HOPELESS], [HOPELESS] * 2, ["small!"] * 2])
def test_a_failure_or_two_change_nothing(issues):
    assert begins(record(*issues)) == "small"


@pytest.mark.parametrize(
    ("tried", "model"),
    [
        (record(*["small"] * 6), "small"),
        (record(*["small", "small", HOPELESS] * 3), "small"),
        (record(*["small small"] * 6), "small"),
        (record(*[HOPELESS] * 6, charged=False), "small"),  # law 8
        (record(*[HOPELESS] * 6, outcome=INTERRUPTED, charged=False), "small"),
        (record(*["small small big!"] * 6), "small"),  # nobody is up to it: the cheap one fails for less
        (record(*[HOPELESS] * 6, usd={"small": 0.02, "big": 0.31}), "small"),  # a cheap chance pays for long
        (record(*[HOPELESS] * 20, usd={"small": 0.02, "big": 0.31}), "big"),
        (record(*[HOPELESS] * 30, usd={"small": 0.0, "big": 0.31}), "big"),  # it costs nothing, but time
        (record(*[HOPELESS] * 6, usd={}), "big"),
        (record(*["small", HOPELESS] * 6, usd={"small": 0.4, "big": 0.31}), "big"),  # it passes, and costs more
        (record(*["small small!"] * 8, usd={"small": 0.3}), "big"),  # big is new here
    ],
)
def test_what_pays_is_chosen(tried, model):
    assert begins(tried) == model


def test_a_second_try_that_never_passes_is_left_out_and_its_failure_leads_to_the_next_rung():
    tried = record(*["small", HOPELESS] * 6)
    assert decide(record=tried).model == "small"
    second = decide(*fails(1), record=tried)
    assert typed(second) == RunWorker(Mode.ESCALATE, "big", "")
    assert second.reason.endswith("next step, big; small has failed 6 of its last 6 second attempts here")


def test_the_rungs_above_get_no_more_tries_than_they_would_have_had():
    tried = record(*[HOPELESS] * 6)
    assert decide(*fails(2, "big"), record=tried).model == "big"
    ended = decide(*fails(3, "big"), record=tried)
    assert isinstance(ended, Block)
    assert ended.reason == "3 of 5 attempts failed; the other 2 were left out (`start`, [retry])"
    granted = decide(*fails(3, "big"), record=tried, attempts_max=5)
    assert granted.model == "big", "a person who grants five attempts means five"


def test_a_rung_in_the_middle_that_never_helps_is_left_out():
    tried = record(*["small small big big huge", "small"] * 5)
    assert decide(*fails(2), record=tried, policy=THREE).model == "huge"


@pytest.mark.parametrize(
    ("more", "model"),
    [
        ({"issue": replace(ISSUE, model="small")}, "small"),
        ({"issue": replace(ISSUE, no_escalate=True)}, "small"),
        ({"model": "small"}, "small"),
        ({"policy": policy(start=LadderStart.FIRST)}, "small"),
        ({"policy": rungs(("small", 2, K.TEST_FAILURE), ("big", 5), start=LadderStart.LEARNED)}, "small"),
        ({"policy": rungs(("small", 2), start=LadderStart.LEARNED)}, "small"),
        ({"policy": rungs(("small", 2), ("big", 1, K.TIMEOUT), ("huge", 5), start=LadderStart.LEARNED)}, "huge"),
        ({"policy": rungs(("small", 2), ("small", 5, "think"), start=LadderStart.LEARNED)}, "small"),
    ],
)
def test_what_a_person_chose_stands_and_a_rung_for_some_kinds_is_no_beginning(more, model):
    assert begins(record(*[HOPELESS] * 9), **more) == model


def test_one_issue_in_eight_tries_the_rung_that_is_left_out_and_a_restart_decides_the_same():
    tried, chosen = list(record(*[HOPELESS] * 6)), []
    for number in range(3 * EXPLORES):
        action = decide(record=tuple(tried))
        assert action == decide(record=tuple(tried)), "no die is thrown"
        chosen.append(action.model)
        at, how = NOW - 3600 + number * 60, PASSED if action.model == "big" else K.TEST_FAILURE.value
        tried.append(Tried(f"n{number}", 0, action.model, False, how, True, at, at + 30, USD[action.model], HERE))
    assert chosen.count("small") == 3
    assert [place for place, model in enumerate(chosen) if model == "small"] == [7, 15, 23]


def test_a_try_under_way_is_a_try_and_the_others_do_not_explore_beside_it():
    later = tuple(replace(each, issue_id=f"n{each.issue_id}") for each in record(*["big"] * 7, days=0.5))
    tried = (*record(*[HOPELESS] * 6), *later)
    first = decide(record=tried)
    assert (first.model, "as one issue in 8 does" in first.reason) == ("small", True)
    beside = Tried("x", 0, "small", False, "", False, NOW - 5, None, None, HERE)
    assert begins((*tried, beside)) == "big"


def test_an_issue_that_has_begun_goes_on_where_it_is_whatever_the_record_says_by_then():
    tried = record(*[HOPELESS] * 9)
    assert decide(*fails(1), record=tried).model == "big"
    assert decide(interrupted(), record=tried) == decide(interrupted())
    assert decide(interrupted("big"), record=tried).model == "big"
    assert decide(*fails(1, "big"), record=record(*["small"] * 9)).model == "big", "never descended"


def test_what_is_long_ago_counts_less_and_at_last_nothing():
    assert begins(record(*[HOPELESS] * 6, days=7)) == "big"
    assert begins(record(*[HOPELESS] * 6, days=3 * HALF_LIFE_S / 86_400)) == "small"


def test_an_issue_of_another_kind_tells_little():
    docs, core = replace(ISSUE, labels=("docs",)), replace(ISSUE, labels=("core",))
    at_core, at_docs = (record(*issues, kind=IssueKind.of(kind)) for issues, kind in
                        (([HOPELESS] * 8, core), (["small"] * 8, docs)))  # fmt: skip
    tried = (*at_docs, *(replace(each, issue_id=f"c{each.issue_id}") for each in at_core))
    assert begins(tried, issue=docs) == "small"
    chosen = decide(record=tried, issue=core)
    assert chosen.model == "big"
    assert "has failed 8 of its last 16 first attempts here, 8 of 8 at issues like this one" in chosen.reason
    assert begins(at_core, issue=docs) == "small", "eight failures elsewhere are no evidence"


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["sonnet", "twin", "opus"]), st.booleans(), st.booleans(), st.floats(0, 3) | st.none()
        ),
        max_size=40,
    ),
    st.integers(0, 4),
)
def test_whatever_the_record_the_ladder_is_a_part_of_the_configured_one_with_its_last_rung(rows, charged):
    tried = tuple(
        Tried(str(place // 3), 0, model, think, PASSED if place % 3 == 0 else "TEST_FAILURE", True, NOW - 900 + place,
              NOW - 899 + place, usd)
        for place, (model, think, _, usd) in enumerate(rows)
    )  # fmt: skip
    learned = replace(ANY_POLICY, start=LadderStart.LEARNED)
    history = replace(history_of(*fails(charged, "big")), record=tried)
    ladder = learned_ladder(learned.ladder, history, learned, NOW)
    names = [(rung.model, rung.think) for rung in learned.ladder]
    places = [names.index((rung.model, rung.think)) for rung in ladder]
    assert places == sorted(set(places))
    assert replace(ladder[-1], why="") == learned.ladder[-1]
    assert all(0 < rung.times <= learned.ladder[place].times for rung, place in zip(ladder, places, strict=True))


def test_only_the_newest_attempts_are_the_record():
    old = record(*[HOPELESS] * 6)
    new = tuple(replace(each, issue_id=f"n{each.issue_id}") for each in record(*["huge"] * RECORD_MAX, days=0.5))
    assert begins((*old, *new)) == "small"
