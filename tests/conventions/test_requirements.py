"""tests/REQUIREMENTS.md names a test for every row of the specifications, and each of these tests exists."""

import re

from support import TESTS
from support.defined_tests import missing

ROWS = {"N": 16, "L": 14, "S": 9, "K": 10, "P": 10, "C": 5}
NAMED = re.compile(r"((?:\w+/)?test_\w+\.py)::(test_\w+)")


def rows() -> dict[str, list[tuple[str, str]]]:
    lines = (TESTS / "REQUIREMENTS.md").read_text().splitlines()
    cells = [line.split("|") for line in lines if re.match(r"\| [A-Z]\d+ \|", line)]
    return {row[1].strip(): NAMED.findall(row[3]) for row in cells}


def test_every_row_is_there_and_names_a_test():
    found = rows()
    assert set(found) == {f"{letter}{number}" for letter, most in ROWS.items() for number in range(1, most + 1)}
    assert [row for row, tests in found.items() if not tests] == []


def test_every_test_that_is_named_exists():
    named = {test for tests in rows().values() for test in tests}
    assert missing(named) == []
