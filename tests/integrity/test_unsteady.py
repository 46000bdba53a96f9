"""Whose a failure is that came and went, and what is remembered of it."""

import pytest

from noface.integrity.inventory import Inventory, Outcome
from noface.integrity.unsteady import after_run, of_the_change
from noface.model.unsteady import UnsteadyTest

KNOWN = {"a": UnsteadyTest("unit", "a", 1.0, 1.0, 1, 2)}
MAIN = Inventory((("tests/test_a.py::test_a", Outcome.PASSED), ("shop::TestA", Outcome.PASSED)))


def runs(*outcomes, forget_after=3):
    known = KNOWN
    for number, passed in enumerate(outcomes):
        failed, ok = ((), ("a",)) if passed else (("a",), ())
        known = after_run(known, failed, ok, 10.0 + number, forget_after)
    return known


def test_each_run_on_main_is_counted_and_passes_in_a_row_let_it_be_forgotten():
    (record,) = runs(True, False).values()
    assert (record.failed, record.runs, record.last_at, record.steady, record.red) == (2, 4, 11.0, 0, 1)
    assert runs(True, True, False, True)["a"].steady == 1
    assert runs(True, True, True) == {}


def test_what_fails_each_time_on_main_is_not_unsteady():
    assert runs(False, False, False) == {}


def test_a_run_without_the_test_says_nothing_of_it():
    assert after_run(KNOWN, ("b",), ("c",), 9.0, 1) == KNOWN


@pytest.mark.parametrize(
    ("test", "changed", "own"),
    [
        ("tests/test_a.py::test_a", {"src/a.py"}, False),
        ("tests/test_a.py::test_a", {"tests/test_a.py"}, True),
        ("tests/test_a.py::test_new", {"src/a.py"}, True),
        ("shop::TestA", {"shop.go"}, False),
        ("shop::TestA", {"shop_test.go"}, True),  # its file is not known
    ],
)
def test_a_test_is_the_change_s_own_where_it_adds_it_or_touches_its_file(test, changed, own):
    assert of_the_change((test,), MAIN, changed) == ((test,) if own else ())
