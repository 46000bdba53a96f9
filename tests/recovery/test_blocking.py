"""What a person is told of an issue that is blocked or waits for approval (N13, L10, K6, P8)."""

import json
import shlex
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import cases

from noface.model.actions import Block, RequestApproval
from noface.model.attempt import PastAttempt
from noface.model.codec import encode
from noface.model.failure import Failure
from noface.model.history import Advice, AdviceOutcome, History, Topic
from noface.model.issue import Issue
from noface.model.taxonomy import PASSED, FailureKind
from noface.model.worker_run import BlockedReason, Question, ReportStatus, WorkerReport
from noface.recovery.blocked import approval_request, block_request
from noface.recovery.options import Configured, edit_command

ISSUE = Issue("7", "Seven", source="issues/7-a b.md", paths=("src/api/**",))
CONFUSED = FailureKind.AGENT_CONFUSION
BOUNDARY = FailureKind.BOUNDARY_VIOLATION


def failure(message="red", kind=FailureKind.TEST_FAILURE, rule="r", **more):
    return Failure(kind, message, rule=rule, **more)


def attempt(number, message="red", kind=FailureKind.TEST_FAILURE, model="small", tier=1, **more):
    said = {key: more.pop(key) for key in ("questions", "failing_tests", "rule", "evidence") if key in more}
    return PastAttempt(
        number, model, tier, kind.value, charged=True, failure=failure(message, kind, **{"rule": "r", **said}), **more
    )


def reported(questions=(), **values):
    return WorkerReport(ReportStatus.BLOCKED, questions=tuple(map(Question, questions)), **values)


def block(
    *attempts,
    kind=FailureKind.TEST_FAILURE,
    branch="noface/7",
    issue=ISSUE,
    epoch=0,
    advice=(),
    configured=Configured(),
):
    action = Block(kind, "all 2 attempts are used up")
    return encode(block_request(issue, action, History(issue, attempts, epoch, advice), branch, configured))


def approval(*attempts, kind=None, paths=(), branch="noface/7", advice=()):
    action = RequestApproval(kind, "it is asked for", paths)
    return encode(approval_request(ISSUE, action, History(ISSUE, attempts, advice=advice), branch))


def passed(number, **more):
    return PastAttempt(number, "small", 1, PASSED, charged=True, **more)


def ways(document):
    assert len(document["options"]) == len(document["commands"])
    return dict(zip(document["options"], document["commands"], strict=True))


def test_it_tells_what_was_tried_what_went_wrong_and_what_to_do():
    told = block(attempt(1, "one red", answer="RetryWithFeedback"), attempt(2, "two red", model="big", think=True))
    assert told["kind"] == "TEST_FAILURE"
    assert told["summary"] == "TEST_FAILURE after 2 attempts: all 2 attempts are used up. Last: two red"
    assert told["tried"] == [
        "attempt 1 with small: TEST_FAILURE: one red",
        "attempt 2 with big, thinking: TEST_FAILURE: two red",
    ]
    assert told["errors"] == ["TEST_FAILURE: one red", "TEST_FAILURE: two red"]
    assert "git diff ...noface/7" in " ".join(told["next_steps"])
    json.dumps(told)


def test_what_was_asked_stands_between_the_attempts_it_was_asked_between():
    asked = (
        Advice(Topic.DIAGNOSIS, 1, model="opus", cause="no CHF", strategy="alternative_approach", text="Read it."),
        Advice(Topic.CLARIFICATION, 2, AdviceOutcome.UNUSABLE, model="opus", cause="no JSON"),
        Advice(Topic.ARCHITECT, 2, AdviceOutcome.UNAVAILABLE, model="opus", cause="overloaded"),
        Advice(Topic.DEPENDENCY, 2, strategy="recheck", text="Issue 3 is merged."),
    )
    told = block(attempt(1), attempt(2, "other"), advice=asked)["tried"]
    assert [line.split(" with ")[0] for line in told if line.startswith("attempt")] == ["attempt 1", "attempt 2"]
    assert told[1] == "asked opus for a diagnosis: alternative approach: no CHF: Read it."
    assert told[3] == "asked opus for a clarification: its answer was of no use: no JSON"
    assert told[4] == "asked opus for another design: it could not be asked: overloaded"
    assert told[5] == "noface looked for the state of its dependencies itself: Issue 3 is merged."


def test_what_came_before_unblocking_is_told_as_such_and_asks_nothing_any_more():
    old = attempt(1, "old", CONFUSED, questions=("Which file?",))
    told = block(old, attempt(2, "new", epoch=1), epoch=1)
    assert told["tried"][0].endswith("(before it was given back)")
    assert told["unclear"] == []
    assert told["errors"] == ["TEST_FAILURE: new"]
    assert told["summary"].startswith("TEST_FAILURE after 1 attempt (2 in all): ")


def test_the_last_error_is_always_among_those_shown():
    messages = ["again", "b", "c", "d", "e", "f", "again"]
    told = block(*(attempt(number, message) for number, message in enumerate(messages, 1)))
    assert told["errors"] == [f"TEST_FAILURE: {m}" for m in ("c", "d", "e", "f", "again")]


def test_what_workers_asked_and_missed_is_passed_on_once_the_newest_first():
    first = attempt(1, "?", CONFUSED, questions=("Which file?",), report=reported(gaps=("No rates.",)))
    second = attempt(2, "?", CONFUSED, questions=("Why?",), report=reported(questions=("Which file?",)))
    told = block(first, second, kind=CONFUSED)
    assert told["unclear"] == ["Why?", "Which file?", "No rates."]
    assert told["questions"] == ["Why?", "Which file?"]


def test_the_question_is_the_workers_own_where_it_asked():
    told = block(attempt(3, "?", CONFUSED, questions=('Is "b" meant?', "Why?")), kind=CONFUSED)
    assert told["question"] == "The worker of attempt 3 (small) asks: \"Is 'b' meant?\" (and 1 more)"


def test_a_boundary_asks_for_the_paths_and_says_what_the_resolver_thinks():
    outside = attempt(1, "m", BOUNDARY, rule="outside-paths", evidence=("src/db.py", "src/x.py"))
    advice = Advice(Topic.BOUNDARY, 1, strategy="person", text="Resolution: person\nGuidance: It may break callers.")
    told = block(outside, kind=BOUNDARY, advice=(advice,))
    assert told["question"] == (
        "May issue 7 also change src/db.py, src/x.py? Its paths are src/api/**."
        ' The resolver says: "It may break callers."'
    )
    assert "${EDITOR:-vi} 'issues/7-a b.md'" in told["commands"]


def test_tampering_asks_whether_the_failing_test_is_wrong():
    red = attempt(1, "red", failing_tests=("tests/x.py::y",))
    tampered = attempt(2, "tests were weakened: tests/x.py", FailureKind.GATE_TAMPERING)
    told = block(red, tampered, kind=FailureKind.GATE_TAMPERING)
    assert told["question"].startswith("Is the test tests/x.py::y wrong? ")


def test_an_interrupted_attempt_does_not_take_the_question_away():
    interrupted = PastAttempt(2, "small", 1, "INTERRUPTED", charged=False)
    assert "Which?" in block(attempt(1, "?", CONFUSED, questions=("Which?",)), interrupted, kind=CONFUSED)["question"]


def test_a_diagnosis_that_would_skip_the_issue_asks_whether_it_may_be_left_undone():
    advice = Advice(
        Topic.DIAGNOSIS, 1, cause="gone", recoverable="no", strategy="skip_and_continue", text="Not needed."
    )
    assert block(attempt(1), advice=(advice,))["question"] == (
        'Can issue 7 be left undone? The diagnosis says: "gone Not needed."'
    )


@cases("kind", FailureKind)
def test_every_kind_of_failure_has_a_question_a_next_step_and_a_command_for_each_option(kind):
    for told in (block(attempt(1, "it broke", kind), kind=kind), block(kind=kind, branch="")):
        assert "?" in told["question"]
        assert "{" not in told["question"]
        assert told["next_steps"][0].endswith((".", "note."))
        assert told["next_steps"][1] == "See the evidence: noface show 7"
        assert len(set(told["commands"])) == len(told["commands"]) == len(told["options"])
        of_a_login = kind in (FailureKind.AUTH, FailureKind.MISCONFIGURED, FailureKind.BASELINE_RED)
        assert ('noface retry 7 --note "…"' in told["commands"]) is not of_a_login, "no note logs anybody in"
        assert "noface retry 7" in told["commands"]


def test_more_attempts_are_offered_with_the_strongest_model_that_was_tried():
    told = block(attempt(1, model="claude-opus", tier=3), attempt(2, model="small"))
    assert "noface retry 7 --model claude-opus --attempts 3" in told["commands"]


def test_what_clears_itself_begins_with_the_next_run_and_says_how_to_log_in():
    agents = {"small": "claude", "mini": "claude", "preset": "gemini", "other": "codex"}
    ready = {"small": "one", "mini": "one", "other": "its"}
    configured = Configured({}, agents, {"small": "run `claude` and log in with /login"}, ready)
    told = block(attempt(1, "no key", FailureKind.AUTH), kind=FailureKind.AUTH, configured=configured)
    assert told["commands"][0] == "noface run"
    assert told["options"][0].startswith("log in: run `claude` and log in with /login")
    another = replace(configured, ready={"small": "one", "mini": "another"})
    elsewhere = block(attempt(1, "no key", FailureKind.AUTH), kind=FailureKind.AUTH, configured=another)
    assert elsewhere["commands"][1] == "noface retry 7 --model mini", "another login of the same program will do"
    nobody = block(attempt(1, "no key", FailureKind.AUTH), kind=FailureKind.AUTH, configured=replace(another, ready={}))
    assert not any("--model" in command for command in nobody["commands"])
    assert told["commands"][1] == "noface retry 7 --model other", "the models of one agent share its login"
    assert (told["model"], told["agent"]) == ("small", "claude")


def test_a_model_that_is_configured_no_more_is_not_offered():
    told = block(attempt(1), configured=Configured(agents={"other": "codex"}))
    assert not any("--model small" in command for command in told["commands"])


def test_money_that_is_spent_is_allowed_or_counted_anew():
    action = Block(FailureKind.RESOURCE_EXHAUSTED, "spent", "max_cost_usd")
    told = block_request(ISSUE, action, History(ISSUE, (attempt(1),)), "")
    assert list(told.commands[:2]) == ['${EDITOR:-vi} "$(noface config path)"', "noface approve 7"]
    assert told.task == "Allow more money: max_cost_usd of [retry] is spent"


def test_what_a_gate_still_finds_is_told_with_its_command():
    red = failure("gate accept-2: assert 1 == 2", location="t.py:3", evidence=("E  assert 1 == 2",), gate="accept-2")
    last = PastAttempt(2, "small", 1, "TEST_FAILURE", charged=True, failure=red)
    told = block(attempt(1), last, configured=Configured({"accept-2": "pytest t.py"}))
    assert told["failing"] == {
        "attempt": 2,
        "kind": "TEST_FAILURE",
        "gate": "accept-2",
        "command": "pytest t.py",
        "tests": [],
        "more_tests": 0,
        "message": "assert 1 == 2",
        "location": "t.py:3",
        "lines": ["E  assert 1 == 2"],
    }
    assert told["next_steps"][-1] == "See what the gate wrote: noface logs 7 2 --gate accept-2"
    assert block(last, attempt(3, "nothing", FailureKind.NO_DIFF))["failing"]["attempt"] == 2, "it still fails"
    assert block(attempt(1))["failing"] is None, "no gate failed"
    assert approval(last, passed(3))["failing"] is None
    still = block(last, attempt(3, "nothing", FailureKind.NO_DIFF), kind=FailureKind.NO_DIFF)["question"]
    assert still == "What do the workers not know that would make the `accept` command of issue 7 pass?"


def test_what_a_later_attempt_has_mended_is_no_longer_shown_as_failing():
    red = failure("gate unit: 5 == 4", gate="unit", evidence=("E  assert 5 == 4",))
    first = replace(attempt(1), failure=red)
    assert block(first)["failing"]["gate"] == "unit"
    turned_down = attempt(2, "alice asked for changes", FailureKind.REVIEW_REJECTED)
    assert block(first, turned_down)["failing"] is None
    assert block(first, attempt(2, "nothing", FailureKind.NO_DIFF))["failing"]["gate"] == "unit"


def test_a_conflict_is_told_with_what_landed():
    moved = "main moved meanwhile, and the change conflicts with it in scrub.py (caa494d6: Mask mail)"
    conflict = attempt(1, moved, FailureKind.MERGE_CONFLICT, evidence=("scrub.py", "a b.py"))
    told = block(conflict, kind=FailureKind.MERGE_CONFLICT)
    assert "scrub.py (caa494d6: Mask mail)" in told["question"]


def test_a_test_that_may_be_wrong_has_the_way_to_correct_it():
    red = attempt(1, failing_tests=("t.py::test_half",))
    told = block(red)
    ways = dict(zip(told["options"], told["commands"], strict=True))
    assert "or is that test wrong?" in told["question"]
    way = "correct the test on main if it is wrong, or change something else, then try it again"
    assert ways[way] == "noface retry 7"
    assert way not in block(attempt(1))["options"], "no test is known"
    asked = attempt(1, kind=CONFUSED, failing_tests=("t.py::test_half",), questions=("Is t.py wrong?",))
    assert way in block(asked, kind=CONFUSED)["options"]


def test_without_work_no_branch_is_named():
    assert "noface/7" not in json.dumps(block(branch=""))


def test_a_part_has_no_file_to_edit():
    part = Issue("7.1", "A part", parent="7")
    assert not any("EDITOR" in command for command in block(issue=part)["commands"])


def test_the_edit_command_can_be_pasted_into_a_shell():
    command = next(command for command in block()["commands"] if "EDITOR" in command)
    assert shlex.split(command) == ["${EDITOR:-vi}", "issues/7-a b.md"]


@pytest.mark.parametrize(
    ("source", "command"),
    [
        ("https://github.com/acme/shop/issues/7", "gh issue edit https://github.com/acme/shop/issues/7"),
        (".beads/issues.jsonl:12", "bd edit bd-7"),
        ("issues/7.jsonl.md", "${EDITOR:-vi} issues/7.jsonl.md"),
    ],
)
def test_an_issue_is_edited_where_it_was_written(source, command):
    assert edit_command(Issue("bd-7", "T", source=source)) == command


def test_the_report_of_what_was_given_up_is_part_of_it():
    report = block(attempt(1), attempt(2))["report"]
    assert (report["failure_reason"], report["attempts_made"]) == ("all 2 attempts are used up", 2)
    assert {"recovery_attempted", "recommendation"} <= set(report)


def test_an_epic_whose_parts_failed_tells_which_and_why():
    told = "It was divided into 2 parts.\nWhat could not be done:\n[{}]"
    advice = Advice(Topic.BREAKDOWN, 1, AdviceOutcome.PARTS_FAILED, model="opus", text=told)
    document = block(attempt(1), advice=(advice,))
    assert document["parts_failed"] == told
    assert document["tried"][1] == "asked opus for a breakdown: not all of the parts could be done"


def test_work_that_passed_asks_whether_it_may_land():
    told = approval(passed(3, changed=("a.py", "b.py"), lines=12))
    assert (told["wants"], told["attempt"], told["kind"]) == ("landing", 3, PASSED)
    assert told["question"] == "May attempt 3 of issue 7 land? It passed every hard gate and changes 2 files."
    assert (told["changed"], told["changed_files"], told["changed_lines"]) == (["a.py", "b.py"], 2, 12)
    assert ways(told)["let it land"] == "noface approve 7"
    assert "git diff ...noface/7" in told["commands"]


def test_wider_paths_are_asked_for_by_name():
    advice = Advice(Topic.BOUNDARY, 2, strategy="expand", text="Guidance: It belongs there.", paths=("src/db.py",))
    told = approval(attempt(2, "m", BOUNDARY), kind=BOUNDARY, paths=("src/db.py",), advice=(advice,))
    assert (told["wants"], told["paths"]) == ("paths", ["src/db.py"])
    assert told["question"] == (
        'May issue 7 also change src/db.py? Its paths are src/api/**. The resolver says: "It belongs there."'
    )


def test_a_contract_that_a_worker_calls_wrong_is_named():
    report = reported(summary="y expects 4", blocked_reason=BlockedReason.CONTRACT_CHANGE)
    red, argued = attempt(1, failing_tests=("tests/x.py::y",)), attempt(2, "y expects 4", BOUNDARY, report=report)
    told = approval(red, argued, kind=BOUNDARY)
    assert told["wants"] == "contract"
    assert told["question"] == 'Is the test tests/x.py::y wrong? The worker says: "y expects 4"'


def test_a_strategy_that_wants_a_persons_word_asks_whether_to_go_on():
    told = approval(attempt(1, "it is red"), kind=FailureKind.TEST_FAILURE)
    assert told["wants"] == "going_on"
    assert told["question"] == 'Shall noface go on with issue 7 after TEST_FAILURE: "it is red"?'


@pytest.mark.parametrize(
    "told", [approval(passed(1)), approval(attempt(1), kind=FailureKind.GATE_TAMPERING), approval(passed(1), branch="")]
)
def test_every_approval_can_be_given_and_refused(told):
    assert any(command.startswith("noface approve 7") for command in told["commands"])
    assert 'noface reject 7 --note "…"' in told["commands"]
    assert len(told["options"]) == len(told["commands"])


@given(st.text(max_size=40), st.sampled_from(FailureKind))
def test_whatever_workers_say_stays_bounded_and_quoted(text, kind):
    said = text * 4000
    worker = reported(questions=(said,) * 30, gaps=(said,) * 30, summary=said)
    parts = Advice(Topic.BREAKDOWN, 1, AdviceOutcome.PARTS_FAILED, model=text, cause=said, text=said)
    told = block(attempt(1, said, kind, report=worker, questions=(said,) * 30), kind=kind, advice=(parts,) * 90)
    del told["report"]
    assert len(json.dumps(told, ensure_ascii=False)) < 120_000
    assert len(told["unclear"]) <= 20
    assert all("\n" not in line for name in ("tried", "errors", "unclear") for line in told[name])
    assert "\n" not in told["question"] + told["summary"]


@pytest.mark.parametrize(
    ("rule", "first"),
    [
        ("secret-added", "it opens nothing: name its file in [limits] test_keys, then go on"),
        ("outside-paths", "allow these paths as well"),
        ("embedded-repository", "yes: say so in the issue; editing it lifts the block"),
    ],
)
def test_the_first_thing_to_do_fits_what_the_change_went_beyond(rule, first):
    document = block(attempt(1, kind=BOUNDARY, rule=rule), kind=BOUNDARY)
    assert document["options"][0] == first


@pytest.mark.parametrize(("gate", "edits"), [("accept", True), ("accept-2", True), ("unit", False)])
def test_an_accept_command_that_cannot_run_is_for_the_issue_to_be_mended(gate, edits):
    broken = replace(failure("unrecognized arguments", FailureKind.ENVIRONMENT), gate=gate)
    last = replace(attempt(1, kind=FailureKind.ENVIRONMENT), failure=broken)
    request = block(last, kind=FailureKind.ENVIRONMENT)
    assert any(edit_command(ISSUE) in command for command in request["commands"]) is edits
