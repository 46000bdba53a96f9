"""Bugs that show in full only when another one is repaired."""

from noface.demo.catalogue.bug import Bug, BugClass

DEPENDENT = (
    Bug(
        name="line-count-width",
        kind=BugClass.DEPENDENT,
        module="text",
        right="lines = wrap(text, width)\n",
        wrong="lines = wrap(text, width - 1)\n",
        title="line_count disagrees with wrap",
        body="""\
`line_count` should be the number of lines that `wrap` makes, but it counts as if the page were narrower. To be
checked with a text that fills its lines, so `wrap` has to be right first.""",
        acceptance="""\
from oddments.text import line_count, wrap


def test_full_lines():
    assert line_count("to be or not", 5) == len(wrap("to be or not", 5))
    assert line_count("to be or not", 5) == 3
    assert line_count("a b c", 3) == 2
    assert line_count("word", 4) == 1
""",
        needs="wrap-full-line",
    ),
    Bug(
        name="add-roman-subtracts",
        kind=BugClass.DEPENDENT,
        module="roman",
        right="from_roman(one) + from_roman(other)",
        wrong="from_roman(one) - from_roman(other)",
        title="add_roman subtracts",
        body="""\
II and III should make V. `add_roman` returns an empty string. Reading the two numerals is reported separately.""",
        acceptance="""\
from oddments.roman import add_roman


def test_sums():
    assert add_roman("II", "III") == "V"
    assert add_roman("XL", "II") == "XLII"
    assert add_roman("M", "MXX") == "MMXX"
""",
        needs="roman-repeated",
    ),
    Bug(
        name="format-splits-runs",
        kind=BugClass.DEPENDENT,
        module="ranges",
        right="number - runs[-1][1] == 1:",
        wrong="number - runs[-1][0] == 1:",
        title="format_ranges splits longer runs",
        body="""\
`format_ranges([1, 2, 3, 7])` gives "1-2,3,7" where "1-3,7" is meant. Once `parse_ranges` reads the ends of ranges,
writing and reading should give back the same numbers.""",
        acceptance="""\
from oddments.ranges import format_ranges, parse_ranges


def test_writing_and_reading_gives_back_the_same():
    numbers = [1, 2, 3, 7, 10, 11, 12, 13]
    assert format_ranges(numbers) == "1-3,7,10-13"
    assert parse_ranges(format_ranges(numbers)) == numbers
""",
        needs="parse-last-number",
    ),
)
