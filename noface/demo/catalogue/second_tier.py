"""Bugs that need two edits at once, or something taken from elsewhere in the file."""

from noface.demo.catalogue.bug import Bug, BugClass

SECOND_TIER = (
    Bug(
        name="clamp-inside-out",
        kind=BugClass.SECOND_TIER,
        module="numbers",
        right="return max(low, min(value, high))",
        wrong="return min(low, max(value, high))",
        title="clamp always returns the lower bound",
        body="""\
`clamp(5, 0, 10)` is 0 and `clamp(11, 0, 10)` is 0 as well. The bounds seem to be used the wrong way round.""",
        acceptance="""\
from oddments.numbers import clamp


def test_clamp():
    assert clamp(5, 0, 10) == 5
    assert clamp(-1, 0, 10) == 0
    assert clamp(11, 0, 10) == 10
""",
        priority=1,
    ),
    Bug(
        name="percent-of-what",
        kind=BugClass.SECOND_TIER,
        module="numbers",
        right="return difference * 100 / old",
        wrong="return difference * 100 / new",
        title="percent_change is relative to the wrong value",
        body="""\
From 50 to 75 is a rise of 50 per cent. We get 33.3.""",
        acceptance="""\
from oddments.numbers import percent_change


def test_the_change_is_relative_to_the_old_value():
    assert percent_change(50, 75) == 50
    assert percent_change(80, 60) == -25
    assert percent_change(40, 41) == 2.5
""",
    ),
    Bug(
        name="moving-average-window",
        kind=BugClass.SECOND_TIER,
        module="numbers",
        right="""\
    for start in range(len(values) - window + 1):
        part = values[start : start + window]
""",
        wrong="""\
    for start in range(len(values) - window):
        part = values[start : start + window - 1]
""",
        title="moving_average is too small and too short",
        body="""\
`moving_average([2, 4, 6], 2)` should be `[3.0, 5.0]`. It is `[1.0]`: one mean is missing, and the one that is
there is wrong.""",
        acceptance="""\
from oddments.numbers import moving_average


def test_each_window_counts_whole():
    assert moving_average([2, 4, 6], 2)[0] == 3.0
    assert moving_average([2, 4, 6], 2) == [3.0, 5.0]
    assert moving_average([3, 6, 9], 3) == [6.0]
    assert moving_average([1, 5], 1) == [1.0, 5.0]
""",
    ),
    Bug(
        name="age-before-birthday",
        kind=BugClass.SECOND_TIER,
        module="dates",
        right="today.day < born.day:",
        wrong="today.day < born.month:",
        title="age is a year too high just before a birthday",
        body="""\
Born on 15 June 1990, she is 34 on 14 June 2025 and 35 a day later. `age` says 35 on both days.""",
        acceptance="""\
from datetime import date

from oddments.dates import age

BORN = date(1990, 6, 15)


def test_around_the_birthday():
    assert age(BORN, date(2025, 6, 14)) == 34
    assert age(BORN, date(2025, 6, 15)) == 35
    assert age(BORN, date(2025, 6, 3)) == 34
    assert age(BORN, date(2025, 6, 30)) == 35
""",
    ),
    Bug(
        name="first-duplicate-gives-up",
        kind=BugClass.SECOND_TIER,
        module="text",
        right="        seen.add(item)\n    return None\n",
        wrong="        seen.add(item)\n        return None\n",
        title="first_duplicate finds nothing",
        body="""\
`first_duplicate([3, 1, 3])` is None. It doesn't seem to look beyond the first item.""",
        acceptance="""\
from oddments.text import first_duplicate


def test_a_duplicate_is_found():
    assert first_duplicate([3, 1, 3]) == 3
    assert first_duplicate("abcb") == "b"
    assert first_duplicate("abc") is None
""",
        priority=1,
    ),
    Bug(
        name="intersect-swapped",
        kind=BugClass.SECOND_TIER,
        module="ranges",
        right="""\
    first = max(one[0], other[0])
    last = min(one[1], other[1])
""",
        wrong="""\
    first = min(one[0], other[0])
    last = max(one[1], other[1])
""",
        title="intersect returns the union",
        body="""\
`intersect((1, 5), (3, 9))` gives `(1, 9)`. What both cover is `(3, 5)`; and ranges that lie apart have nothing in
common, so the answer there is None.""",
        acceptance="""\
from oddments.ranges import intersect


def test_what_both_cover():
    assert intersect((1, 5), (3, 9)) == (3, 5)
    assert intersect((2, 3), (0, 10)) == (2, 3)
    assert intersect((1, 2), (4, 5)) is None
""",
    ),
)
