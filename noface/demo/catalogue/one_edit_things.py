"""Bugs that one small edit repairs, in the modules on ranges and stock."""

from noface.demo.catalogue.bug import Bug, BugClass

ONE_EDIT_THINGS = (
    Bug(
        name="merge-touching",
        kind=BugClass.ONE_EDIT,
        module="ranges",
        right="if merged and first <= merged[-1][1]:",
        wrong="if merged and first < merged[-1][1]:",
        title="merge leaves ranges apart that share an end",
        body="""\
The docstring says that ranges which share an end are joined, but `merge([(1, 3), (3, 5)])` returns both.""",
        acceptance="""\
from oddments.ranges import merge


def test_a_shared_end_joins():
    assert merge([(1, 3), (3, 5)]) == [(1, 5)]


def test_ranges_apart_stay_apart():
    assert merge([(4, 5), (1, 3)]) == [(1, 3), (4, 5)]
    assert merge([]) == []
""",
    ),
    Bug(
        name="chunk-loses-last",
        kind=BugClass.ONE_EDIT,
        module="ranges",
        right="for start in range(0, len(items), size):",
        wrong="for start in range(0, len(items) - 1, size):",
        title="chunk drops the last item",
        body="""\
`chunk([1, 2, 3], 2)` returns `[[1, 2]]`; the 3 is lost. We lost the last line of an export to this.""",
        acceptance="""\
from oddments.ranges import chunk


def test_a_single_item_at_the_end_is_kept():
    assert chunk([1, 2, 3], 2) == [[1, 2], [3]]
    assert chunk([1], 5) == [[1]]


def test_nothing_is_added():
    assert chunk([1, 2, 3, 4], 2) == [[1, 2], [3, 4]]
""",
        priority=0,
    ),
    Bug(
        name="parse-last-number",
        kind=BugClass.ONE_EDIT,
        module="ranges",
        right="range(int(first), int(last) + 1)",
        wrong="range(int(first), int(last))",
        title="parse_ranges leaves out the end of a range",
        body="""\
`parse_ranges("1-3")` gives `[1, 2]`. People who print pages 1-3 expect page 3.""",
        acceptance="""\
from oddments.ranges import parse_ranges


def test_the_end_belongs_to_the_range():
    assert parse_ranges("1-3") == [1, 2, 3]
    assert parse_ranges("2-4, 9") == [2, 3, 4, 9]
    assert parse_ranges("5-5") == [5]
""",
        priority=1,
    ),
    Bug(
        name="take-everything",
        kind=BugClass.ONE_EDIT,
        module="stock",
        right="if count > self.level(name):",
        wrong="if count >= self.level(name):",
        title="The last piece on the shelf cannot be sold",
        body="""\
With two nuts in stock, `take("nut", 2)` raises "only 2 of nut left". Two is enough for two.""",
        acceptance="""\
import pytest

from oddments.stock import Stock


def test_the_shelf_can_be_emptied():
    stock = Stock()
    stock.receive("nut", 2)
    stock.take("nut", 2)
    assert stock.level("nut") == 0


def test_no_more_than_there_is():
    stock = Stock()
    stock.receive("nut", 2)
    with pytest.raises(ValueError, match="only 2"):
        stock.take("nut", 3)
""",
        priority=0,
    ),
    Bug(
        name="boxes-part-empty",
        kind=BugClass.ONE_EDIT,
        module="stock",
        right="return full + 1",
        wrong="return full - 1",
        title="boxes returns -1",
        body="""\
One thing in boxes of ten: `boxes(1, 10)` says -1. Full boxes are counted well; it is the part-empty one.""",
        acceptance="""\
from oddments.stock import boxes


def test_the_last_box_may_be_part_empty():
    assert boxes(1, 10) == 1
    assert boxes(21, 10) == 3
    assert boxes(29, 10) == 3
    assert boxes(30, 10) == 3
""",
    ),
)
