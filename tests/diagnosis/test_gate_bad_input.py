"""Bad input, odd endings, and the order of the evidence."""

import pytest
from support.corpus_score import class_of

from noface.diagnosis.evidence import GateEvidence, ReportCase, TestReport
from noface.diagnosis.gate import classify
from noface.model.gate import GateKind
from noface.model.taxonomy import FailureKind


def gate(command: str, code: int | None, stdout: str = "", stderr: str = "", **more) -> GateEvidence:
    return GateEvidence(command, code, stdout, stderr, more.pop("seconds", 1.0), more.pop("limit_s", 60.0), **more)


def test_an_unknown_tool_that_fails_without_known_words_is_unknown_with_its_last_lines():
    output = "".join(f"phase {number} of frobnication done\n" for number in range(200)) + "verdict: blue\n"
    verdict = classify(gate("./frobnicate --all", 3, output))
    assert verdict.kind is FailureKind.UNKNOWN
    assert "verdict: blue" in verdict.excerpt
    assert verdict.failing_tests == ()


def test_a_silent_failure_is_charged_to_the_code_and_says_so():
    verdict = classify(gate("bash check.sh", 1))
    assert verdict.kind is FailureKind.RUNTIME_ERROR
    assert verdict.rule == "exit.silent"
    assert "exit code 1" in verdict.message


def test_nul_bytes_and_replacement_characters_are_read_past():
    verdict = classify(gate("make", 2, "", "\0\0src/a.c:3:5: error: expected ';'\0 before 'x' \ufffd\ufffd\n"))
    assert class_of(verdict) == "SYNTAX_ERROR"
    assert verdict.location == "src/a.c:3"


def test_colours_and_links_are_stripped():
    line = "\x1b]8;;file:///repo/a.c\x1b\\src/a.c:3:5\x1b]8;;\x1b\\: \x1b[01;31merror: \x1b[mexpected ';'\n"
    verdict = classify(gate("make", 2, "", line))
    assert verdict.key_line == "src/a.c:3:5: error: expected ';'"


def test_words_never_matter_where_the_gate_is_green():
    assert classify(gate("bash check.sh", 0, "Traceback (most recent call last)\nFAILED: error: 429\n")).kind is None


@pytest.mark.parametrize(
    ("code", "seconds", "timed_out", "want"),
    [
        (124, 60.2, False, "TIMEOUT"),
        (None, 60.0, True, "TIMEOUT"),
        (137, 64.9, False, "TIMEOUT"),
        (-9, 60.0, False, "TIMEOUT"),
        (137, 3.0, False, "RUNTIME_ERROR"),
        (139, 3.0, False, "RUNTIME_ERROR"),
        (124, 5.0, False, "TIMEOUT"),
    ],
)
def test_a_kill_at_the_limit_is_a_timeout_and_an_early_one_is_not(code, seconds, timed_out, want):
    assert class_of(classify(gate("./run", code, seconds=seconds, timed_out=timed_out))) == want


def test_a_missing_module_is_the_environments_fault_unless_the_project_has_it():
    text = "Traceback (most recent call last):\n  File \"/repo/a.py\", line 1, in <module>\n    import pricing\nModuleNotFoundError: No module named 'pricing'\n"
    assert class_of(classify(gate("python a.py", 1, "", text, repo_files=("a.py",)))) == "ENVIRONMENT"
    assert (
        class_of(classify(gate("python a.py", 1, "", text, repo_files=("a.py", "shop/pricing.py")))) == "RUNTIME_ERROR"
    )


def test_the_losing_rules_are_named_with_the_reason():
    stderr = "src/a.c:3:5: error: expected ';'\nmake: *** [Makefile:2: all] Error 127\n"
    verdict = classify(gate("make", 2, "", stderr))
    assert class_of(verdict) == "ENVIRONMENT"
    lost = {rule: why for rule, _, why in verdict.also_matched}
    assert "comes before" in lost["diagnostic.error"]


def test_the_gates_kind_tells_a_finding_from_a_broken_build():
    line = "src/a.xyz:3:5: error: prefer const\n"
    assert class_of(classify(gate("./check", 1, line, kind=GateKind.LINT))) == "LINT_FAILURE"
    assert class_of(classify(gate("./check", 1, line, kind=GateKind.BUILD))) == "SYNTAX_ERROR"


def test_a_report_names_the_failing_tests_where_the_log_does_not():
    report = TestReport(
        3,
        1,
        0,
        0,
        ("shop.CartTest.totals",),
        (
            ReportCase(
                "shop.CartTest.totals",
                failed=True,
                type="org.opentest4j.AssertionFailedError",
                message="expected: <7.0> but was: <5.5>",
            ),
        ),
    )
    verdict = classify(gate("./gradlew test", 1, "quiet\n", report=report))
    assert class_of(verdict) == "TEST_FAILURE"
    assert verdict.failing_tests == ("shop.CartTest.totals",)
    assert verdict.tests_run == 3
    assert "expected: <7.0>" in verdict.key_line


def test_a_report_of_an_exception_is_no_failed_expectation():
    report = TestReport(1, 1, 0, 0, ("t",), (ReportCase("t", failed=True, message="KeyError: 'qty'"),))
    assert class_of(classify(gate("./test", 1, "quiet\n", report=report))) == "RUNTIME_ERROR"


def test_a_report_without_tests_means_that_none_ran():
    assert class_of(classify(gate("./test", 0, "done\n", report=TestReport(0)))) == "NO_TESTS"


def test_zero_doc_tests_beside_real_tests_are_not_no_tests():
    output = "running 3 tests\ntest result: ok. 3 passed; 0 failed; 0 ignored\n\n   Doc-tests stock\n\nrunning 0 tests\ntest result: ok. 0 passed; 0 failed; 0 ignored\n"
    verdict = classify(gate("cargo test", 0, output))
    assert verdict.kind is None
    assert verdict.tests_run == 3


@pytest.mark.parametrize(
    "line",
    [
        'E       AssertionError: assert "bash: foo: command not found" == ""',
        '     right: "** (SyntaxError) nofile:1: unexpected token"',
        '       expected: "cannot load such file -- foo"',
    ],
)
def test_what_a_failing_expectation_quotes_decides_nothing(line: str):
    assert class_of(classify(gate("./suite", 1, f"{line}\n3 tests, 1 failed, 2 passed\n"))) == "TEST_FAILURE"
