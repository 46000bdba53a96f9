"""How a selftest is counted and shown."""

import json

from noface.selftest.project import Variant
from noface.selftest.scenario import Scenario, chosen, find
from noface.selftest.score import Result, RunLog, document, results
from noface.ui.selftest import selftest_page

SCENARIO = Scenario("the message", id="test-failure-1", kind="TEST_FAILURE")
HOPELESS = Scenario("nothing helps", id="test-failure-9", kind="TEST_FAILURE", hopeless=True, runs_max=2)


def heard(*events: dict) -> RunLog:
    log = RunLog()
    for event in events:
        log.add(json.dumps({"schema": 1, **event}))
    return log


def attempt(issue: str, number: int, outcome: str) -> dict:
    return {"event": "attempt_finished", "issue": issue, "number": number, "outcome": outcome}


def test_a_merged_issue_counts_with_its_runs_and_those_of_its_parts():
    run = heard(
        attempt("test-failure-1", 1, "TEST_FAILURE"),
        attempt("test-failure-1.1", 1, "PASSED"),
        {"event": "issue_merged", "issue": "test-failure-1.1"},
        attempt("test-failure-1.2", 1, "PASSED"),
        {"event": "issue_merged", "issue": "test-failure-1", "reason": "merged"},
    )
    (result,) = results(run, (SCENARIO,), {})
    assert (result.good, result.cost, result.provoked) == (True, 3, True)


def test_a_merged_part_does_not_settle_the_whole():
    run = heard({"event": "issue_merged", "issue": "test-failure-1.1"})
    assert run.settled((SCENARIO,)) == 0
    (result,) = results(run, (SCENARIO,), {})
    assert not result.good


def test_an_issue_that_goes_on_after_its_block_is_open_again():
    run = heard(
        {"event": "issue_blocked", "issue": "test-failure-1"}, {"event": "issue_ready", "issue": "test-failure-1"}
    )
    assert run.settled((SCENARIO,)) == 0


def test_work_that_a_reviewer_sent_back_is_one_run_with_the_reviewers_verdict():
    run = heard(
        attempt("test-failure-1", 1, "PASSED"),
        {"event": "attempt_overruled", "issue": "test-failure-1", "number": 1, "outcome": "REVIEW_REJECTED"},
    )
    (result,) = results(run, (SCENARIO,), {})
    assert result.outcomes == ("REVIEW_REJECTED",)


def test_what_is_not_recovered_costs_all_the_runs_it_may_have():
    run = heard(attempt("test-failure-1", 1, "TEST_FAILURE"), {"event": "issue_blocked", "issue": "test-failure-1"})
    (result,) = results(run, (SCENARIO,), {})
    assert (result.good, result.cost) == (False, 5)


def test_a_merge_whose_answer_main_lacks_is_not_believed():
    run = heard({"event": "issue_merged", "issue": "test-failure-1"})
    (result,) = results(run, (SCENARIO,), {"test-failure-1": "code"})
    assert not result.good


def test_a_hopeless_issue_must_be_handed_to_a_person_within_its_limit():
    runs = [attempt("test-failure-9", number, "TEST_FAILURE") for number in (1, 2, 3)]
    blocked = {"event": "issue_blocked", "issue": "test-failure-9"}
    (in_time,) = results(heard(*runs[:2], blocked), (HOPELESS,), {})
    (late,) = results(heard(*runs, blocked), (HOPELESS,), {})
    (merged,) = results(heard({"event": "issue_merged", "issue": "test-failure-9"}), (HOPELESS,), {})
    assert (in_time.good, late.good, merged.good) == (True, False, False)


def test_lines_that_are_no_events_are_passed_over():
    run = RunLog()
    for line in ("", "Traceback", "[]", '{"event": 3}', '{"event": "attempt_finished", "issue": null}', "{"):
        run.add(line)
    assert run.progress == {}


def test_a_scenario_that_is_there_for_another_is_not_counted():
    desk = find("agent-confusion-desk")
    assert results(RunLog(), (desk, SCENARIO), {}) == (Result(SCENARIO, "open", "", (), 0),)


def test_a_scenario_brings_those_it_depends_on():
    assert {one.id for one in chosen(("TEST_FAILURE",))} >= {"test-failure-1", "test-failure-4"}
    assert {one.kind for one in chosen(("TEST_FAILURE",))} == {"TEST_FAILURE"}


def full(good: bool) -> dict:
    every = [one for one in chosen() if not one.support]

    def told(one: Scenario) -> Result:
        if one.hopeless:
            return Result(one, "blocked", "all attempts are used up", (one.kind,) * one.runs_max, 2)
        return Result(one, "merged" if good else "blocked", "for reasons", (one.kind, "PASSED"), 1)

    failed = [Result(one, "blocked", "the same again", (one.kind,) * 5, 0) for one in every]
    return document({Variant.NOFACE: [told(o) for o in every], Variant.FEEDBACK: failed, Variant.PLAIN: failed}, 170.4)


def test_all_is_well_where_everything_was_recovered_and_all_else_stopped_in_time():
    made = full(good=True)
    assert made["ok"]
    assert made["totals"]["recovered"]["noface"] == made["totals"]["recoverable"]
    assert made["totals"]["stopped"]["noface"] == made["totals"]["hopeless"]
    assert made["troubles"] == []


def test_whatever_was_not_recovered_is_told_with_what_it_needed():
    made = full(good=False)
    assert not made["ok"]
    first = made["troubles"][0]
    assert (first["id"], first["carries"]) == ("syntax-error-1", "the line that does not parse")


def test_a_failure_that_was_read_as_another_kind_is_a_trouble_too():
    result = Result(SCENARIO, "merged", "", ("RUNTIME_ERROR", "PASSED"), 0)
    made = document({Variant.NOFACE: [result]}, 1.0)
    assert made["troubles"][0]["what"] == "it was to fail as TEST_FAILURE at first"


def test_the_page_fits_into_eighty_columns():
    for made in (full(good=True), full(good=False) | {"kept": "/tmp/noface-selftest-abcdefgh"}):
        lines = selftest_page(made, 80)
        assert max(len(line) for line in lines) <= 80
        text = "\n".join(lines)
        assert "\nGATE_TAMPERING        5" in text
        assert "recovered" in text


def test_the_page_without_baselines_shows_noface_alone():
    result = Result(SCENARIO, "merged", "", ("TEST_FAILURE", "PASSED"), 0)
    text = "\n".join(selftest_page(document({Variant.NOFACE: [result]}, 1.0), 80))
    assert "feedback" not in text
    assert "noface recovered 1 of 1" in text
