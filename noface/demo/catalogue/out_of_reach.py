"""Requests that no small edit fulfils. The right code is nowhere, here neither: they end with a person."""

from noface.demo.catalogue.bug import Bug, BugClass

OUT_OF_REACH = (
    Bug(
        name="easter",
        kind=BugClass.OUT_OF_REACH,
        module="dates",
        right="",
        wrong="",
        title="Add easter(year)",
        body="""\
The holiday planner needs the date of Easter Sunday in the Gregorian calendar: `easter(2024)` is 31 March.""",
        acceptance="""\
from datetime import date

from oddments.dates import easter


def test_easter_sundays():
    assert easter(2024) == date(2024, 3, 31)
    assert easter(2025) == date(2025, 4, 20)
    assert easter(2038) == date(2038, 4, 25)
""",
        labels=("feature",),
        priority=3,
    ),
    Bug(
        name="edit-distance",
        kind=BugClass.OUT_OF_REACH,
        module="text",
        right="",
        wrong="",
        title="Add edit_distance(one, other)",
        body="""\
For "did you mean" we need the number of letters to insert, delete or replace to get from one word to another.""",
        acceptance="""\
from oddments.text import edit_distance


def test_known_distances():
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("", "abc") == 3
    assert edit_distance("same", "same") == 0
""",
        labels=("feature",),
        priority=3,
    ),
    Bug(
        name="share-out-remainder",
        kind=BugClass.OUT_OF_REACH,
        module="stock",
        right="",
        wrong="",
        title="share_out loses things",
        body="""\
Ten things shared by three are 3, 3 and 3, and one is gone. The shares should be whole numbers that add up to
the total, and none should be further than one from its exact part.""",
        acceptance="""\
import pytest

from oddments.stock import share_out


@pytest.mark.parametrize(("total", "weights"), [(10, [1, 1, 1]), (100, [3, 3, 1]), (7, [5, 1, 1, 1]), (1, [1, 1])])
def test_nothing_is_lost(total, weights):
    shares = share_out(total, weights)
    assert all(isinstance(share, int) for share in shares)
    assert sum(shares) == total
    assert all(abs(share - total * weight / sum(weights)) < 1 for share, weight in zip(shares, weights))
""",
        priority=3,
    ),
)
