"""Best of several: who makes an attempt at once, and whose work is taken."""

from dataclasses import replace

import pytest
from support.policy_story import ISSUE, NOW, K, decide, failed, history_of, interrupted, passed, policy

from noface.model.actions import Mode, RunWorker
from noface.model.attempt import FileChange, Interrupted, Judged, NotStarted, Snapshot, as_decided, beside_mark
from noface.model.budget import Estimates
from noface.model.failure import Failure
from noface.model.gate import GateResult, GateSpec
from noface.model.worker_run import AgentRun, EndedBy, ModelSpec
from noface.recovery.candidates import set_aside, taken
from noface.recovery.policy import next_action
from noface.recovery.retry_policy import Rung

TWO = policy(ladder=(Rung("small", 1, 2), Rung("big", 2, 5, candidates=2)), alternatives=("small", "twin", "big"))
THREE = replace(ISSUE, candidates=3)
RED = failed(K.TEST_FAILURE)


@pytest.mark.parametrize(
    ("events", "issue", "rules", "beside"),
    [
        ((), ISSUE, TWO, ()),
        ((RED, failed(K.TEST_FAILURE)), ISSUE, TWO, ("big",)),
        ((), THREE, TWO, ("twin", "small")),
        ((), replace(THREE, no_escalate=True), TWO, ("small", "small")),
        ((), THREE, replace(TWO, unreachable=frozenset({"twin"})), ("small", "small")),
        ((failed(K.AUTH, "twin"), RED), THREE, TWO, ("small", "small")),
        ((interrupted(),), THREE, TWO, ()),
        ((RED, passed(candidate="c")), THREE, TWO, None),
    ],
)
def test_who_makes_an_attempt_beside_its_model(events, issue, rules, beside):
    action = decide(*events, issue=issue, policy=rules)
    assert (action.beside if isinstance(action, RunWorker) else None) == beside
    assert not beside or f"{len(beside) + 1} candidates at once" in action.reason


def test_a_model_whose_provider_is_away_is_no_candidate():
    assert decide(issue=THREE, policy=TWO, away={"twin": NOW + 60}).beside == ("small", "small")
    assert decide(failed(K.RATE_LIMITED, retry_at=NOW + 60), issue=THREE, policy=TWO).mode is Mode.SWITCH


@pytest.mark.parametrize(("usd", "many"), [(10.0, 2), (2.5, 1), (1.5, 0)])
def test_an_issue_s_money_pays_for_all_that_begin_at_once(usd, many):
    models = {name: ModelSpec(name, "claude", max_cost_usd=1.0) for name in ("small", "twin")}
    rules = replace(TWO, issue_cost_usd_max=usd)
    action = next_action(history_of(issue=THREE), rules, NOW, estimates=Estimates(models, {}, 2))
    assert len(action.beside) == many


def report(number, lines=1, kind=None, failing=0, gates=0, doubts=(), charged=True):
    changes = (FileChange("a.py", "M", "100644", "100644", "0", "1", lines, 0),) if lines else ()
    failure = None
    if kind is not None:
        tests = tuple(f"t{place}" for place in range(failing))
        failure = Failure(kind, f"{kind}", rule="r", failing_tests=tests, charged=charged)
    green = tuple(GateResult(GateSpec(f"g{place}", "true"), "t", 0, 1.0) for place in range(gates))
    snapshot = Snapshot("c", "t", "c", "t", changes)
    return Judged(
        f"7-{number}",
        "7",
        number,
        AgentRun(0, None, EndedBy.ITSELF, 1.0),
        snapshot,
        green,
        failure=failure,
        doubts=doubts,
    )


LOST = NotStarted("7-9", "7", 9, Failure(K.ENVIRONMENT, "no disk", rule="r", charged=False))
ENDED = Interrupted("7-8", "7", 8)


@pytest.mark.parametrize(
    ("reports", "number", "why"),
    [
        ([report(1, 40), report(2, 12)], 2, "of 2 that passed the smallest without doubts"),
        ([report(1, 12, doubts=("it changes a test",)), report(2, 40)], 2, "of 2 that passed the smallest"),
        ([report(1, 1, K.TEST_FAILURE), report(2, 900)], 2, "the only one that passed"),
        ([report(1, 5), report(2, 5)], 1, "of 2 that passed the smallest"),
        ([report(1, 5, K.TEST_FAILURE, 3, 1), report(2, 50, K.TEST_FAILURE, 1, 1)], 2, "it came furthest"),
        ([report(1, 5, K.TEST_FAILURE, 1, 0), report(2, 5, K.TEST_FAILURE, 3, 2)], 2, "it came furthest"),
        ([report(1, 0, K.NO_DIFF), report(2, 5, K.TEST_FAILURE, 3)], 2, "it came furthest"),
        ([report(1, 5, K.AUTH, charged=False), report(2, 0, K.NO_DIFF)], 2, "it came furthest"),
        ([LOST, ENDED, report(3, 5, K.TEST_FAILURE)], 3, "it came furthest"),
        ([ENDED, LOST], 9, "it came furthest"),
    ],
)
def test_judges_that_are_no_model_choose(reports, number, why):
    best, reason = taken(reports)
    assert best.number == number
    assert why in reason


def test_what_is_not_taken_is_evidence_of_nothing_but_a_cause_outside_the_work():
    aside = [set_aside(each, 3) for each in (report(1, 5, K.TEST_FAILURE), report(2, 5), ENDED)]
    assert all(isinstance(each, Interrupted) for each in aside)
    assert [each.notes[-1] for each in aside] == [
        "a candidate beside attempt 3, whose work was taken; it failed with TEST_FAILURE: TEST_FAILURE",
        "a candidate beside attempt 3, whose work was taken; it passed as well",
        "a candidate beside attempt 3, whose work was taken",
    ]
    conflict = set_aside(report(1, 5, K.MERGE_CONFLICT, charged=False), 3)
    assert isinstance(conflict, Interrupted), "two at once are not two conflicts in a row"
    for outside in (LOST, report(1, 5, K.AUTH, charged=False)):
        assert set_aside(outside, 3) == outside


def test_whichever_number_and_clock_it_has_the_attempt_that_was_taken_is_the_last():
    first, second, third, fourth = (replace(passed(), number=number, finished_at=5.0) for number in (1, 2, 3, 4))
    second = replace(second, signature=beside_mark(3))
    fourth = replace(fourth, signature=beside_mark(3), finished_at=9.0)
    fifth = replace(passed(), number=5)
    ordered = as_decided([first, second, third, fourth])
    assert [each.number for each in ordered] == [1, 2, 4, 3]
    assert [each.number for each in as_decided([fifth, *ordered])] == [1, 2, 4, 3, 5]
