"""Bugs that one small edit repairs, in the modules on text, numbers and dates."""

from noface.demo.catalogue.bug import Bug, BugClass

ONE_EDIT_VALUES = (
    Bug(
        name="truncate-exact-width",
        kind=BugClass.ONE_EDIT,
        module="text",
        right="if len(text) <= width:",
        wrong="if len(text) < width:",
        title="truncate shortens text that fits exactly",
        body="""\
A title of exactly the allowed width comes back with dots:

    >>> truncate("exactly ten", 11)
    'exactly...'

It fits, so nothing should be cut.""",
        acceptance="""\
from oddments.text import truncate


def test_text_that_fits_exactly_is_left_alone():
    assert truncate("exactly ten", 11) == "exactly ten"
    assert truncate("abc", 3) == "abc"


def test_longer_text_is_still_cut():
    assert truncate("abcdefgh", 5) == "ab..."
""",
    ),
    Bug(
        name="wrap-full-line",
        kind=BugClass.ONE_EDIT,
        module="text",
        right="len(line) + 1 + len(word) > width:",
        wrong="len(line) + 1 + len(word) >= width:",
        title="wrap never fills a line to its full width",
        body="""\
`wrap("to be or not", 5)` gives four lines. "to be" is five characters and fits, so there should be three.""",
        acceptance="""\
from oddments.text import wrap


def test_a_line_may_be_as_wide_as_allowed():
    assert wrap("to be or not", 5) == ["to be", "or", "not"]
    assert wrap("a b c", 3) == ["a b", "c"]


def test_a_line_is_never_wider():
    assert wrap("aa bb cc", 4) == ["aa", "bb", "cc"]
""",
    ),
    Bug(
        name="common-prefix-crash",
        kind=BugClass.ONE_EDIT,
        module="text",
        right="shortest = min(words, key=len)",
        wrong="shortest = max(words, key=len)",
        title="common_prefix raises IndexError",
        body="""\
    >>> common_prefix(["car", "carpet"])
    IndexError: string index out of range

Happens whenever one word is the beginning of another. Expected "car".""",
        acceptance="""\
from oddments.text import common_prefix


def test_a_word_may_be_the_beginning_of_another():
    assert common_prefix(["car", "carpet"]) == "car"
    assert common_prefix(["carpet", "cart", "car"]) == "car"
    assert common_prefix(["dog", "carpet"]) == ""
""",
        priority=1,
    ),
    Bug(
        name="prime-squares",
        kind=BugClass.ONE_EDIT,
        module="numbers",
        right="range(2, isqrt(number) + 1)",
        wrong="range(2, isqrt(number))",
        title="9 is not a prime number",
        body="""\
`is_prime(9)` and `is_prime(25)` are True. It looks as if all squares of primes were affected; 4 too.""",
        acceptance="""\
from oddments.numbers import is_prime


def test_squares_are_not_prime():
    assert [n for n in (4, 9, 25, 49, 121) if is_prime(n)] == []


def test_primes_up_to_thirty():
    assert [n for n in range(30) if is_prime(n)] == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
""",
    ),
    Bug(
        name="quarter-off",
        kind=BugClass.ONE_EDIT,
        module="dates",
        right="(month - 1) // 3 + 1",
        wrong="(month + 1) // 3 + 1",
        title="February is reported in the second quarter",
        body="""\
Our report puts February and March into Q2, and December into a fifth quarter. January is right.""",
        acceptance="""\
from oddments.dates import quarter


def test_every_month_of_the_year():
    assert [quarter(month) for month in range(1, 13)] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
""",
        priority=1,
    ),
    Bug(
        name="overlap-one-day-short",
        kind=BugClass.ONE_EDIT,
        module="dates",
        right="return (last - first).days + 1",
        wrong="return (last - first).days",
        title="overlap_days is one day short",
        body="""\
Two bookings that share only the 31st should overlap by one day, since both ends are included. We get 0.""",
        acceptance="""\
from datetime import date

from oddments.dates import overlap_days

JANUARY = (date(2025, 1, 1), date(2025, 1, 31))


def test_both_ends_count():
    assert overlap_days(JANUARY, (date(2025, 1, 31), date(2025, 2, 9))) == 1
    assert overlap_days(JANUARY, JANUARY) == 31


def test_neighbours_share_nothing():
    assert overlap_days(JANUARY, (date(2025, 2, 1), date(2025, 2, 9))) == 0
""",
    ),
    Bug(
        name="roman-repeated",
        kind=BugClass.ONE_EDIT,
        module="roman",
        right="if following and value < following[0]:",
        wrong="if following and value <= following[0]:",
        title="from_roman reads II as nothing",
        body="""\
    >>> from_roman("II")
    0
    >>> from_roman("XX")
    0

Numerals without a repeated letter are fine.""",
        acceptance="""\
from oddments.roman import from_roman


def test_repeated_letters_add_up():
    assert from_roman("II") == 2
    assert from_roman("XXX") == 30
    assert from_roman("MMXXIV") == 2024


def test_a_smaller_letter_before_is_taken_off():
    assert from_roman("XCIX") == 99
""",
    ),
)
