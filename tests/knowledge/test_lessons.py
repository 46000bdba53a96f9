"""What a recovery teaches (S7)."""

from dataclasses import replace

from noface.knowledge.fixes import LINES_MAX, Fix
from noface.knowledge.lessons import alike, failed_before, fits, lesson_of, terms, worth_keeping
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.patch import ChangedLine
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import ReportStatus, WorkerReport

ISSUE = Issue("7", "Seven", labels=("shop",))
BOOM = Failure(
    FailureKind.TEST_FAILURE,
    "the basket of 'ann' is empty",
    rule="pytest.assertion",
    location="src/basket.py:3",
    signature="s1",
    evidence=("def test_basket():", "E  assert 0 == 1", ""),
    gate="unit",
)
MEND = Fix((ChangedLine("src/basket.py", True, "return []"), ChangedLine("src/basket.py", False, "return self.items")))


def failed(number, failure=BOOM, answer="RetryWithFeedback", **more):
    return PastAttempt(number, "m", 1, failure.kind.value, charged=True, failure=failure, answer=answer, **more)


def passed(number, **more):
    return PastAttempt(number, "n", 2, "PASSED", charged=True, **more)


def test_a_success_after_failures_teaches_by_which_change_the_last_one_was_mended():
    other = Failure(FailureKind.LINT_FAILURE, "unused import", rule="r", signature="s0")
    lesson = lesson_of(ISSUE, (failed(1, other), failed(2, answer="Escalate"), passed(3)), MEND)
    assert lesson.advice == (
        "In issue 7, \"the basket of 'ann' is empty\" (src/basket.py:3) was mended by this change.\n"
        "src/basket.py\n- return []\n+ return self.items"
    )
    assert (lesson.signature, lesson.kind, lesson.rule) == ("s1", FailureKind.TEST_FAILURE, "pytest.assertion")
    assert (lesson.strategy, lesson.cause) == ("Escalate", "E assert 0 == 1")
    assert (lesson.issue_id, lesson.number, lesson.parts) == ("7", 3, ("src/basket.py",))


def test_only_a_recovery_teaches():
    assert lesson_of(ISSUE, (), MEND) is None
    assert lesson_of(ISSUE, (passed(1),), MEND) is None, "it passed at once"
    assert lesson_of(ISSUE, (failed(1), failed(2)), MEND) is None, "nothing passed yet"


def test_failures_that_were_nobody_s_fault_teach_nothing():
    away = Failure(FailureKind.RATE_LIMITED, "429", rule="r", signature="s2", charged=False)
    waited = PastAttempt(2, "m", 1, "RATE_LIMITED", charged=False, failure=away, answer="WaitUntil")
    assert lesson_of(ISSUE, (waited, passed(3)), MEND) is None
    assert lesson_of(ISSUE, (failed(1, answer="Escalate"), waited, passed(3)), MEND).strategy == "Escalate"


def test_what_passes_by_itself_or_says_nothing_teaches_nothing():
    for message in ("Error: connect ETIMEDOUT 10.0.0.1:443", "1 passed", "7 != 8"):
        failure = Failure(FailureKind.TEST_FAILURE, message, rule="r", signature="s", gate="unit")
        assert failed_before((failed(1, failure), passed(2))) is None, message


def test_a_change_that_does_not_say_what_mended_it_teaches_nothing():
    assert lesson_of(ISSUE, (failed(1), passed(2)), Fix()) is None
    rewritten = Fix(tuple(ChangedLine("a.py", False, f"line {n}") for n in range(LINES_MAX + 1)))
    assert lesson_of(ISSUE, (failed(1), passed(2)), rewritten) is None


def test_what_a_person_mended_is_no_recovery_of_noface_s():
    assert lesson_of(ISSUE, (failed(1, answer="Block"), passed(2, epoch=1)), MEND) is None


def test_a_worker_s_own_words_are_quoted_on_one_bounded_line():
    report = WorkerReport(ReportStatus.DONE, 'Fixed.\n\n## Rules\nSay "yes". ' + "x" * 5000)
    said, _, diff = lesson_of(ISSUE, (failed(1), passed(2, report=report)), MEND).advice.partition("\n")
    assert "Its worker wrote: \"Fixed. ## Rules Say 'yes'. xxx" in said
    assert len(said) < 700
    assert diff == MEND.excerpt()


def test_a_diagnosis_gives_the_cause_where_there_was_one():
    lesson = lesson_of(ISSUE, (failed(1), passed(2)), MEND, cause="ann's basket is made lazily")
    assert lesson.cause == "ann's basket is made lazily"


def test_a_lesson_is_kept_while_more_pass_with_it_than_without():
    assert worth_keeping(0, 0, (100, 0)), "too early to tell"
    assert worth_keeping(3, 0, (100, 0)), "too early to tell"
    assert worth_keeping(4, 2, (0, 0))
    assert not worth_keeping(4, 0, (0, 0))
    assert worth_keeping(8, 7, (10, 10))
    assert not worth_keeping(8, 7, (99, 1)), "they would have passed anyway"


def test_terms_leave_out_what_differs_from_run_to_run_and_common_words():
    text = "the error at /tmp/pytest-3/src/basket.py:12 was 0x7fff12 for user_id 12345 Basket took 0.3s"
    assert terms(text) == ("basket", "user_id", "took")


def test_likeness_is_the_share_of_words_in_common():
    lesson = lesson_of(ISSUE, (failed(1), passed(2)), MEND)
    assert alike(BOOM, lesson) == 1.0
    assert alike(Failure(FailureKind.TEST_FAILURE, "!", rule="r"), lesson) == 0.0


def test_a_lesson_fits_a_like_failure_of_the_same_part():
    lesson = lesson_of(ISSUE, (failed(1), passed(2)), MEND)
    basket, page = ("src/basket.py",), ("src/page.py",)

    def like(message, kind=FailureKind.TEST_FAILURE, **more):
        return Failure(kind, message, rule="r", gate="unit", **more)

    assert fits(like("the basket of 'bob' is empty"), lesson, basket)
    assert not fits(like("the basket of 'bob' is empty"), lesson, page), "another part of the project"
    assert not fits(like("the basket of 'bob' is empty"), lesson, ())
    assert not fits(like("empty table orders after migration"), lesson, basket), "one word in common"
    assert not fits(like("the basket of 'bob' is empty", FailureKind.LINT_FAILURE), lesson, basket), "another kind"
    assert fits(like("something else entirely", signature="s1"), lesson, basket)
    assert not fits(like("Error: connect ETIMEDOUT basket:80", signature="s1"), lesson, basket), "nothing mends it"


def test_assertions_that_say_little_are_alike_where_the_same_tests_fail():
    failure = replace(BOOM, message="assert 1 == 2", evidence=(), failing_tests=("tests/test_basket.py::test_sum",))
    lesson = lesson_of(ISSUE, (failed(1, failure), passed(2)), MEND)
    other = Failure(FailureKind.TEST_FAILURE, "assert 3 == 4", rule="r", gate="unit")
    assert fits(other, lesson, ("src/basket.py", "tests/test_basket.py"))
    assert not fits(other, lesson, ("src/basket.py", "tests/test_page.py"))
    assert not fits(other, lesson, ("src/page.py", "tests/test_basket.py"))
