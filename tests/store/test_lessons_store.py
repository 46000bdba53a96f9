"""Lessons in the state database: learnt, looked up, counted, dropped (S7). Real SQLite."""

import dataclasses
import functools

import pytest

from noface.knowledge.lessons import Lesson
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind
from noface.store.database import Database
from noface.store.lessons import LessonStore

PARTS = ("src/a.py",)


@pytest.fixture
def database(tmp_path):
    opened = Database.open(tmp_path / "state.db")
    yield opened
    opened.close()


class Store(LessonStore):
    """Looks up for a failure in src/a.py, which the lessons here are about."""

    look_up = functools.partialmethod(LessonStore.look_up, parts=PARTS)


@pytest.fixture
def store(database):
    return Store(database)


def lesson(signature="s1", message="the basket of ann is empty", strategy="Escalate", number=3, **more):
    values = {
        "signature": signature,
        "kind": FailureKind.TEST_FAILURE,
        "rule": "pytest.assertion",
        "message": message,
        "cause": "E assert 0 == 1",
        "strategy": strategy,
        "advice": f"In issue 7 it was fixed by changing src/a.py (strategy: {strategy})",
        "issue_id": "7",
        "number": number,
        "parts": PARTS,
    }
    return Lesson(**{**values, **more})


def failure(message="the basket of ann is empty", signature="s1", kind=FailureKind.TEST_FAILURE):
    return Failure(kind, message, rule="r", signature=signature, gate="unit")


def told(store, lesson_id, number, *, passed, same_failure=False, issue="8"):
    store.quote((lesson_id,), f"token-{number}", issue, number)
    return store.judged(issue, number, passed=passed, same_failure=same_failure, at=100.0 + number)


def test_a_lesson_comes_back_as_it_was_learnt(store):
    kept = store.learn(lesson(), 1.0)
    (found,) = store.look_up(failure())
    assert found == dataclasses.replace(lesson(), id=kept)
    assert store.recent() == (found,)


def test_the_same_recovery_is_one_lesson_and_has_the_newer_advice(store):
    first = store.learn(lesson(), 1.0)
    assert store.learn(lesson(number=5, advice="Change src/b.py", issue_id="9"), 2.0) == first
    (found,) = store.recent()
    assert (found.learned, found.advice, found.issue_id) == (2, "Change src/b.py", "9")


def test_the_same_signature_comes_before_similar_words(store):
    store.learn(lesson("s2", "the basket of ann is empty"), 1.0)
    store.learn(lesson("s1", "something else entirely"), 2.0)
    assert [found.signature for found in store.look_up(failure(signature="s1"))] == ["s1", "s2"]


def test_another_kind_or_part_is_not_like_it(store):
    store.learn(lesson("s2", kind=FailureKind.RUNTIME_ERROR), 1.0)
    store.learn(lesson("s3", parts=("src/b.py",)), 1.0)
    store.learn(lesson("s4"), 1.0)
    assert [found.signature for found in store.look_up(failure(signature="s9"))] == ["s4"]


def test_one_word_in_common_is_no_likeness(store):
    store.learn(lesson("s2", "the basket of ann is empty"), 1.0)
    assert store.look_up(failure("empty migration of table orders cannot begin", signature="s9")) == ()


def test_failures_without_a_signature_or_words_find_nothing(store):
    store.learn(lesson(), 1.0)
    assert store.look_up(failure("!", signature="")) == ()


def test_a_lesson_is_counted_by_what_became_of_those_it_was_told(store):
    kept = store.learn(lesson(), 1.0)
    told(store, kept, 1, passed=True)
    told(store, kept, 2, passed=False, same_failure=True)
    told(store, kept, 3, passed=False, same_failure=False)
    (found,) = store.recent()
    assert (found.hits, found.successes) == (2, 1), "nobody can tell by the third"


def test_an_attempt_counts_once_however_often_it_is_judged(store):
    kept = store.learn(lesson(), 1.0)
    told(store, kept, 1, passed=True)
    told(store, kept, 1, passed=True)
    assert store.recent()[0].hits == 1


def test_a_lesson_that_stops_helping_is_dropped_and_its_row_stays(store):
    kept = store.learn(lesson(), 1.0)
    dropped = [told(store, kept, number, passed=False, same_failure=True) for number in range(1, 5)]
    assert dropped == [(), (), (), (kept,)]
    assert store.look_up(failure()) == ()
    assert store.look_up(failure(signature="s9")) == ()
    (found,) = store.recent()
    assert (found.dropped, found.hits) == (True, 4)


def past(database, issue, number, outcome, signature=""):
    with database.transaction() as connection:
        connection.execute(
            "INSERT INTO attempts (token, issue_id, number, epoch, run_id, model, tier, slot, main, start, directory,"
            " started_at, charged, outcome, signature) VALUES (?, ?, ?, 0, '', 'm', 1, 0, '', '', '',"
            " 0, 1, ?, ?)",
            (f"{issue}-{number}", issue, number, outcome, signature),
        )


def test_the_lift_is_measured_against_retries_that_read_no_lesson(database, store):
    kept = store.learn(lesson(), 1.0)
    for issue, outcome, signature in (("1", "PASSED", ""), ("2", "TEST_FAILURE", "t"), ("3", "TEST_FAILURE", "other")):
        past(database, issue, 1, "TEST_FAILURE", "t")
        past(database, issue, 2, outcome, signature)
    past(database, "4", 1, "LINT_FAILURE", "l")
    past(database, "4", 2, "PASSED")
    past(database, "8", 1, "TEST_FAILURE", "t")
    past(database, "8", 2, "PASSED")
    told(store, kept, 2, passed=True)
    assert store.untold(FailureKind.TEST_FAILURE) == (1, 1)
    assert store.untold(FailureKind.LINT_FAILURE) == (1, 0)
    assert store.untold(FailureKind.SYNTAX_ERROR) == (0, 0)


def test_a_lesson_with_which_no_more_pass_than_without_is_dropped(database, store):
    for issue in map(str, range(100, 120)):
        past(database, issue, 1, "TEST_FAILURE", "t")
        past(database, issue, 2, "PASSED")
    kept = store.learn(lesson(), 1.0)
    dropped = [told(store, kept, number, passed=number != 1, same_failure=True) for number in range(1, 5)]
    assert dropped[-1] == (kept,), "three of four passed with it, all of twenty without"


def test_a_lesson_that_helps_stays(store):
    kept = store.learn(lesson(), 1.0)
    for number in range(1, 9):
        told(store, kept, number, passed=number % 2 == 1, same_failure=True)
    assert [found.id for found in store.look_up(failure())] == [kept]


def test_a_dropped_lesson_that_works_again_begins_anew(store):
    kept = store.learn(lesson(), 1.0)
    for number in range(1, 5):
        told(store, kept, number, passed=False, same_failure=True)
    assert store.learn(lesson(number=9), 2.0) == kept
    (found,) = store.look_up(failure())
    assert (found.dropped, found.hits) == (False, 0)


def test_a_cure_is_known_by_its_signature_and_dropped_once_it_fails_more_often_than_it_helps(store):
    unknown = failure(kind=FailureKind.UNKNOWN)
    cure = store.learn(lesson(strategy="retry_modified", kind=FailureKind.UNKNOWN, parts=()), 1.0)
    store.learn(lesson(), 2.0)
    assert [found.id for found in store.cures(unknown)] == [cure]
    assert store.cures(failure(signature="s2", kind=FailureKind.UNKNOWN)) == ()
    assert cure not in [found.id for found in store.look_up(failure())], "it is told as a diagnosis"
    assert told(store, cure, 1, passed=True) == ()
    assert told(store, cure, 2, passed=False) == (), "failed in another way"
    assert told(store, cure, 3, passed=False, same_failure=True) == ()
    assert told(store, cure, 4, passed=False, same_failure=True) == (cure,)
    assert store.cures(unknown) == ()
    store.learn(lesson(strategy="retry_modified", kind=FailureKind.UNKNOWN, parts=(), number=9), 3.0)
    assert [found.id for found in store.cures(unknown)] == [cure], "it has helped again"
