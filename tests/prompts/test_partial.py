"""What is kept and told of work that failed: partial results, the reason, the report of giving up (P1-P10, K6)."""

import json
from dataclasses import replace

import pytest
from support.cases import cases

from noface.model.attempt import FileChange, Judged, NotStarted, PastAttempt, Snapshot
from noface.model.codec import encode
from noface.model.failure import Failure
from noface.model.gate import GateResult, GateSpec
from noface.model.history import Advice, AdviceOutcome, Topic
from noface.model.issue import Issue
from noface.model.taxonomy import INTERRUPTED, PASSED, FailureKind
from noface.model.worker_run import AgentRun, BlockedReason, EndedBy, ReportStatus, Usage, WorkerReport
from noface.prompts.data import EarlierForm
from noface.prompts.partial import AttemptStep, accumulate, steps_of
from noface.prompts.structured import Invalid
from noface.recovery.reported import abort_report, of_invalid, of_report, recovery_attempted, task_failure

RED = Failure(FailureKind.TEST_FAILURE, "1 failed", rule="pytest", excerpt="E   assert 1 == 2", gate="test")
AGENT = AgentRun(0, None, EndedBy.ITSELF, 12.34567, Usage(0.5, 1000, 200), last_words="Done.", answer="All done.")
CHANGES = (
    FileChange("src/a.py", "M", "100644", "100644", "1", "2", added=3, deleted=1),
    FileChange("logo.png", "A", "000000", "100644", "0", "3"),
)
SNAPSHOT = Snapshot("c0ffee", "t", "c0ffee", "t", CHANGES)


def gate(name, failure=None, **more):
    return GateResult(
        GateSpec(name, f"make {name}", **more), "t", 1 if failure else 0, 1.5, failure=failure, tests_run=3
    )


def report(gates=(), failure=None, agent=AGENT):
    return Judged("token", "7", 1, agent, SNAPSHOT, gates, failure=failure)


def test_an_attempt_is_told_step_by_step_up_to_the_one_that_failed():
    found = accumulate(steps_of(report((gate("lint"), gate("test", RED)), RED)), EarlierForm.FULL_OUTPUT)
    assert json.loads(json.dumps(found)) == {
        "failed_step": 3,
        "total_steps": 4,
        "accumulation_format": "full_output",
        "partial_results": [
            {
                "step_index": 0,
                "name": "agent",
                "status": "completed",
                "notes": {
                    "exit_code": 0,
                    "ended_by": "itself",
                    "seconds": 12.346,
                    "cost_usd": 0.5,
                    "tokens_in": 1000,
                    "tokens_out": 200,
                },
                "content": "All done.",
            },
            {
                "step_index": 1,
                "name": "snapshot",
                "status": "completed",
                "notes": {"commit": "c0ffee", "files": 2, "lines_added": 3, "lines_deleted": 1},
                "content": "M src/a.py\nA logo.png",
            },
            {
                "step_index": 2,
                "name": "gate lint",
                "status": "completed",
                "notes": {"exit_code": 0, "seconds": 1.5, "hard": True, "tests_run": 3},
                "content": "",
            },
            {
                "step_index": 3,
                "name": "gate test",
                "status": "failed",
                "notes": {
                    "exit_code": 1,
                    "seconds": 1.5,
                    "hard": True,
                    "tests_run": 3,
                    "failure": "TEST_FAILURE: 1 failed",
                },
                "content": "E   assert 1 == 2",
            },
        ],
        "partial_output": "All done.",
        "truncated": False,
    }


def test_notes_are_kept_by_default_and_minimal_keeps_less():
    steps = steps_of(report((gate("test", RED),), RED))
    assert [set(result) for result in accumulate(steps)["partial_results"]] == 3 * [
        {"step_index", "name", "status", "notes"}
    ]
    assert accumulate(steps)["accumulation_format"] == "notes_only"
    assert [set(result) for result in accumulate(steps, EarlierForm.MINIMAL)["partial_results"]] == 3 * [
        {"step_index", "name", "status"}
    ]


def test_where_all_went_well_no_step_failed():
    found = accumulate(steps_of(report((gate("test"),))))
    assert (found["failed_step"], found["total_steps"]) == (None, 3)


def test_a_soft_gate_that_is_red_stops_nothing():
    steps = steps_of(report((gate("style", RED, hard=False), gate("test"))))
    assert [step.ok for step in steps] == [True, True, True, True]
    assert steps[2].notes["failure"] == "TEST_FAILURE: 1 failed"


def test_a_failure_that_no_step_shows_is_a_step_of_its_own():
    nothing = Failure(FailureKind.NO_DIFF, "the worker changed nothing", rule="tree-unchanged")
    found = accumulate(steps_of(report(failure=nothing)))
    assert found["failed_step"] == 2
    assert found["partial_results"][2] == {
        "step_index": 2,
        "name": "judgement",
        "status": "failed",
        "notes": {"kind": "NO_DIFF", "rule": "tree-unchanged", "message": "the worker changed nothing"},
    }


def test_a_setup_that_fails_is_told_before_any_worker_ran():
    failure = Failure(FailureKind.ENVIRONMENT, "setup failed", rule="setup-failed", excerpt="no pip")
    steps = steps_of(NotStarted("token", "7", 1, failure))
    assert [(step.name, step.ok, step.output) for step in steps] == [("workspace", False, "no pip")]


def test_a_worker_that_was_ended_is_the_step_that_failed():
    error = Failure(FailureKind.TIMEOUT, "not finished after 60 s", rule="agent-timeout")
    ended = AgentRun(None, 9, EndedBy.TIMEOUT, 60.0, last_words="I was", error=error)
    steps = steps_of(report(agent=ended, failure=error))
    assert [step.ok for step in steps] == [False, True]
    assert steps[0].notes["error"] == "TIMEOUT: not finished after 60 s"
    assert steps[0].output == "I was"


def test_the_end_of_what_a_worker_put_out_is_kept_in_every_form_by_whole_lines():
    said = "\n".join(f"line {number} " + "x" * 90 for number in range(30))
    found = accumulate((AttemptStep("agent", ok=False, notes={}, output=said),), EarlierForm.MINIMAL)
    assert found["truncated"] is True
    end = found["partial_output"]
    assert end.startswith("[… ")
    assert end.splitlines()[1:] == said.splitlines()[-len(end.splitlines()) + 1 :]


def test_a_long_note_is_one_line_and_cut():
    failure = Failure(FailureKind.TEST_FAILURE, "x" * 500, rule="r", gate="test")
    note = steps_of(report((gate("test", failure),), failure))[2].notes["failure"]
    assert (len(note), note[-1]) == (300, "…")


def past(number, outcome="TEST_FAILURE", answer="", signature="s", epoch=0, model="small", cost=None):
    failure = None if outcome in (PASSED, INTERRUPTED) else Failure(FailureKind(outcome), f"m{number}", rule="r")
    return PastAttempt(
        number,
        model,
        1,
        outcome,
        charged=outcome != INTERRUPTED,
        epoch=epoch,
        signature=signature,
        failure=failure,
        answer=answer,
        cost_usd=cost,
    )


def tried(attempts, advice=()):
    return [tuple(entry.values()) for entry in recovery_attempted(tuple(attempts), tuple(advice))]


def test_the_report_of_giving_up_tells_what_was_tried_and_what_to_do():
    attempts = (
        past(1, answer="RetryWithFeedback", cost=0.5),
        past(2, answer="Diagnose"),
        past(3, "SYNTAX_ERROR", model="big", cost=1.0),
    )
    advice = (Advice(Topic.DIAGNOSIS, 2, strategy="alternative_approach", model="wise", cost_usd=0.25),)
    found = abort_report(Issue("7", "Seven"), attempts, advice, FailureKind.SYNTAX_ERROR, "all 3 attempts are used up")
    assert json.loads(json.dumps(encode(found))) == {
        "id": "7",
        "title": "Seven",
        "status": "failed",
        "failure_kind": "SYNTAX_ERROR",
        "failure_reason": "all 3 attempts are used up",
        "attempts_made": 3,
        "attempts_charged": 3,
        "last_error": "m3",
        "recovery_attempted": [
            {"strategy": "FirstAttempt", "result": "failed: TEST_FAILURE"},
            {"strategy": "RetryWithFeedback", "result": "same_failure"},
            {"strategy": "diagnosis", "result": "advised: alternative_approach"},
            {"strategy": "Diagnose", "result": "different_failure: SYNTAX_ERROR"},
        ],
        "recommendation": FailureKind.SYNTAX_ERROR.info.recommendation,
        "attempts_by_model": {"small": 2, "big": 1},
        "questions_by_model": {"wise": 1},
        "cost_usd": 1.75,
        "subtask_failures": [],
    }


def test_an_interrupted_attempt_is_compared_with_nothing():
    assert tried([past(1, answer="RetrySame"), past(2, INTERRUPTED, answer="RetrySame"), past(3)]) == [
        ("FirstAttempt", "failed: TEST_FAILURE"),
        ("RetrySame", "interrupted"),
        ("RetrySame", "same_failure"),
    ]


def test_after_unblocking_it_is_a_first_attempt_again():
    assert tried([past(1, answer="Block"), past(2, signature="t", epoch=1)]) == [
        ("FirstAttempt", "failed: TEST_FAILURE"),
        ("FirstAttempt", "different_failure: TEST_FAILURE"),
    ]


def test_answers_that_came_to_nothing_are_told_as_that():
    advice = [
        Advice(Topic.BREAKDOWN, 1, AdviceOutcome.PARTS_FAILED),
        Advice(Topic.ARCHITECT, 1, AdviceOutcome.UNUSABLE),
        Advice(Topic.CLARIFICATION, 9, AdviceOutcome.UNAVAILABLE),
    ]
    assert tried([past(1, answer="BreakDown"), past(2, PASSED)], advice) == [
        ("FirstAttempt", "failed: TEST_FAILURE"),
        ("breakdown", "parts_failed"),
        ("architect", "unusable"),
        ("BreakDown", "passed"),
        ("clarification", "unavailable"),
    ]


def test_an_issue_without_attempts_has_a_report_and_no_made_up_cost():
    found = encode(abort_report(Issue("7", "t"), (), (), FailureKind.AUTH, "no key"))
    assert (found["attempts_made"], found["recovery_attempted"], found["last_error"]) == (0, [], None)
    assert found["cost_usd"] is None


@cases("kind", FailureKind)
def test_every_kind_has_a_recommendation_and_a_type_with_its_reason(kind):
    assert kind.info.recommendation.endswith(".")
    told = task_failure(Failure(kind, "m", rule="r"))
    json.dumps(told)
    if kind is FailureKind.RESOURCE_EXHAUSTED:
        assert told["type"] == "RESOURCE_EXHAUSTION"
        assert "reason" not in told
    else:
        assert told["type"] == "TASK_FAILURE"
        assert told["reason"] == kind.info.reason


@pytest.mark.parametrize(
    ("kind", "rule", "reason"),
    [
        (FailureKind.TIMEOUT, "agent-timeout", "execution_timeout"),
        (FailureKind.NO_PROGRESS, "identical", "execution_halted"),
        (FailureKind.OUTPUT_FORMAT, "answer", "output_format_failure"),
        (FailureKind.TEST_FAILURE, "pytest", "unexpected_error"),
        (FailureKind.BASELINE_RED, "preflight", "input_validation_failure"),
        (FailureKind.AGENT_CONFUSION, "words-ask", "context_matching_failure"),
        (FailureKind.AGENT_CRASH, "signal-9", "unexpected_error"),
    ],
)
def test_a_kind_has_a_reason_of_the_error_handling_pattern(kind, rule, reason):
    assert task_failure(Failure(kind, "m", rule=rule))["reason"] == reason


def test_a_worker_that_names_data_it_did_not_find_could_not_retrieve_its_context():
    unclear = WorkerReport(ReportStatus.BLOCKED, "?", gaps=("no schema",), blocked_reason=BlockedReason.UNCLEAR)
    told = task_failure(of_report(unclear))
    assert (told["reason"], told["details"]["gaps"]) == ("context_retrieval_failure", ["no schema"])
    without = task_failure(of_report(replace(unclear, gaps=())))
    assert (without["reason"], without["details"]["gaps"]) == ("context_matching_failure", [])


@pytest.mark.parametrize(
    ("gap", "reason"),
    [
        ("prices.csv is truncated after line 40", "context_parsing_failure"),
        ("the fixture could not be parsed: it is not valid JSON", "context_parsing_failure"),
        ("cannot decode legacy.dat, its encoding is unknown", "context_parsing_failure"),
        ("no schema of the orders table", "context_retrieval_failure"),
        ("which parser is meant; there are two", "context_retrieval_failure"),
        ("a valid JSON example of an order", "context_retrieval_failure"),
    ],
)
def test_a_gap_is_data_that_was_not_found_or_that_could_not_be_read(gap, reason):
    unclear = WorkerReport(ReportStatus.BLOCKED, "?", gaps=(gap,), blocked_reason=BlockedReason.UNCLEAR)
    assert task_failure(of_report(unclear))["reason"] == reason


@pytest.mark.parametrize(
    ("kind", "rule", "location", "reason"),
    [
        (FailureKind.SYNTAX_ERROR, "xml.parse", None, "xml_validation_failure"),
        (FailureKind.LINT_FAILURE, "xml.validity", "a.xml:3", "xml_validation_failure"),
        (FailureKind.SYNTAX_ERROR, "maven.pom", "sub/pom.xml", "xml_validation_failure"),
        (FailureKind.SYNTAX_ERROR, "python.syntax", "xml.py:3", "output_format_failure"),
        (FailureKind.TEST_FAILURE, "pytest", "reports/junit.xml", "unexpected_error"),
    ],
)
def test_what_is_no_valid_xml_is_told_as_that(kind, rule, location, reason):
    assert task_failure(Failure(kind, "m", rule, location))["reason"] == reason


@pytest.mark.parametrize(
    ("resource", "amounts", "told_as"),
    [("turns", (None, 30), "turns"), ("context", (208310, 200000), "context"), ("", (None, None), "output")],
)
def test_an_exhausted_resource_is_named_with_usage_and_limit(resource, amounts, told_as):
    usage, limit = amounts
    kind = FailureKind.RESOURCE_EXHAUSTED
    told = task_failure(Failure(kind, "it ran out", rule="r", resource=resource, usage=usage, limit=limit))
    assert (told["type"], told["resource"]) == ("RESOURCE_EXHAUSTION", told_as)
    assert (told["usage"], told["limit"]) == amounts


def test_a_failure_is_told_with_all_that_is_known():
    invalid = Invalid("at a: expected array, got object", "array", "object", "a", '{"a": {}}', "diagnosis")
    failure = replace(of_invalid(invalid), questions=("q?",))
    partial = accumulate((AttemptStep("agent", ok=False, notes={}),))
    told = task_failure(failure, partial=partial, metrics={"seconds": 3})
    details = told["details"]
    assert details["violations"] == ["at a: expected array, got object"]
    assert (details["expected_type"], details["actual_type"], details["original_output"]) == (
        "array",
        "object",
        '{"a": {}}',
    )
    assert (details["failed_step"], details["metrics"], details["questions"]) == (0, {"seconds": 3}, ["q?"])
