"""A failed check of a pull request becomes a failure by its own log, as a gate's."""

from noface.diagnosis.check import PULL_REVIEW, UNREADABLE, cause_of, check_failure, review_failure, together, unwrapped
from noface.model.pull_request import Check, CheckState
from noface.model.taxonomy import FailureKind

CHECK = Check("ci / test (3.12)", CheckState.FAILED, "https://example.com/run/9", "9", "1 failing")
PYTEST = """\
##[group]Run python -m pytest -q
python -m pytest -q
shell: /usr/bin/bash -e {0}
##[endgroup]
F                                                                        [100%]
=================================== FAILURES ===================================
_________________________________ test_doubles _________________________________

    def test_doubles():
>       assert double(2) == 4
E       assert 5 == 4
E        +  where 5 = double(2)

/home/runner/work/shop/shop/tests/test_app.py:5: AssertionError
=========================== short test summary info ============================
FAILED tests/test_app.py::test_doubles - assert 5 == 4
1 failed in 0.03s
##[error]Process completed with exit code 1.
"""
TIMED = "\ufeff" + "".join(
    f"2026-11-22T22:00:0{n % 10}.1234567Z {line}\r\n" for n, line in enumerate(PYTEST.splitlines())
)


def test_the_log_of_a_job_is_read_as_a_gates_output():
    for log in (PYTEST, TIMED):
        failure = check_failure(CHECK, log)
        assert failure.kind is FailureKind.TEST_FAILURE
        assert failure.failing_tests == ("tests/test_app.py::test_doubles",)
        assert failure.message.startswith("the check ci / test (3.12) of the pull request failed: ")
        assert "assert 5 == 4" in failure.excerpt
        assert "2026-11-22" not in failure.excerpt
        assert failure.gate == "ci / test (3.12)"
        assert failure.charged


def test_the_runners_wrapping_is_taken_off():
    text, command, code = unwrapped(TIMED)
    assert (command, code) == ("python -m pytest -q", 1)
    assert "##[" not in text
    assert "\ntests/test_app.py:5: AssertionError" in text


def test_a_log_that_cannot_be_read_is_said_and_nothing_is_guessed():
    failure = check_failure(CHECK, "", "HTTP 403: the token lacks actions:read")
    assert (failure.kind, failure.rule) == (FailureKind.UNKNOWN, UNREADABLE)
    assert failure.message == (
        "the check ci / test (3.12) of the pull request failed, and its log cannot be read"
        " (HTTP 403: the token lacks actions:read); see https://example.com/run/9"
    )
    assert failure.excerpt == "The check says: 1 failing"


def test_what_the_environment_did_is_charged_only_where_the_base_passes():
    log = "##[group]Run ./ci.sh\n##[endgroup]\n./ci.sh: line 3: shellcheck: command not found\n##[error]Process completed with exit code 127.\n"
    assert check_failure(CHECK, log).kind is FailureKind.ENVIRONMENT
    assert not check_failure(CHECK, log).charged
    assert cause_of(check_failure(CHECK, log)) == "./ci.sh: line 3: shellcheck: command not found"
    assert check_failure(CHECK, log, passed_on_base=True).charged


def test_one_failure_tells_all_that_a_round_answers():
    unread = check_failure(Check("docs", CheckState.FAILED), "")
    red = check_failure(CHECK, PYTEST)
    review = review_failure(("alice",), "Use a set.", "alice:\n- src/app.py:12: Use a set.")
    failure = together((unread, red), review)
    assert failure.kind is FailureKind.TEST_FAILURE, "what is known comes first"
    assert failure.message.endswith(" (also red: docs)")
    assert "its log cannot be read (it has none)" in failure.excerpt
    assert "Use a set." not in failure.excerpt, "what a program printed is no reviewer's word"
    assert together((), review).rule == PULL_REVIEW
