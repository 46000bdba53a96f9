"""Bugs whose report is thin: an edit that satisfies it is easily found, and wrong."""

from noface.demo.catalogue.bug import Bug, BugClass

FEEDBACK = (
    Bug(
        name="leap-2000",
        kind=BugClass.FEEDBACK,
        module="dates",
        right="year % 400 == 0",
        wrong="year // 400 == 0",
        title="2000 was a leap year",
        body="""\
`is_leap(2000)` is False, but there was a 29 February 2000. I was born on it.""",
        acceptance="""\
from oddments.dates import is_leap


def test_2000_was_a_leap_year():
    assert is_leap(2000)
""",
        priority=1,
    ),
    Bug(
        name="median-of-two",
        kind=BugClass.FEEDBACK,
        module="numbers",
        right="return (ordered[middle] + ordered[middle - 1]) / 2",
        wrong="return (ordered[middle] - ordered[middle - 1]) / 2",
        title="The median of two equal values is zero",
        body="""\
    >>> median([2, 2])
    0.0""",
        acceptance="""\
from oddments.numbers import median


def test_two_equal_values():
    assert median([2, 2]) == 2
""",
    ),
    Bug(
        name="shortage-of-everything",
        kind=BugClass.FEEDBACK,
        module="stock",
        right="return max(0, minimum - level)",
        wrong="return max(0, level - minimum)",
        title="shortage is 0 although the shelf is empty",
        body="""\
No bolts left, the minimum is 12, and `shortage(0, 12)` says that nothing has to be ordered.""",
        acceptance="""\
from oddments.stock import shortage


def test_an_empty_shelf():
    assert shortage(0, 12) == 12
""",
        priority=0,
    ),
    Bug(
        name="late-at-midnight",
        kind=BugClass.FEEDBACK,
        module="dates",
        right="return max(0, arrived - due)",
        wrong="return max(0, due - arrived)",
        title="The night train is never late",
        body="""\
It was due at midnight (0) and came at 00:05. `minutes_late(0, 5)` is 0; five was five too many for my bus.""",
        acceptance="""\
from oddments.dates import minutes_late


def test_the_night_train():
    assert minutes_late(0, 5) == 5
""",
    ),
)
