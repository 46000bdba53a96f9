"""tests/FAULTS.md names a test for every fault, each of these tests exists, and no fault stands there twice."""

import re

from support import TESTS
from support.defined_tests import missing

GROUPS = (
    "Crash",
    "Storage",
    "The user's repository",
    "Agent against git",
    "Agent as a process",
    "Gate",
    "Input",
    "GitHub",
    "Many hosts",
)
ROWS_MIN = 100
CELLS = 3
NAMED = re.compile(r"((?:\w+/)?test_\w+\.py)::(test_\w+)(?:\[[^\]]*\])?")


def groups() -> dict[str, list[tuple[str, ...]]]:
    """Return the rows of each group: fault, what noface does, tests."""
    found: dict[str, list[tuple[str, ...]]] = {}
    group = ""
    for line in (TESTS / "FAULTS.md").read_text().splitlines():
        if line.startswith("## "):
            group = line.removeprefix("## ")
        elif line.startswith("| ") and line != "| fault | what noface does | tests |":
            found.setdefault(group, []).append(tuple(cell.strip() for cell in line.strip("|").split(" | ")))
    return found


def rows() -> list[tuple[str, ...]]:
    return [row for each in groups().values() for row in each]


def test_every_group_of_faults_is_there():
    assert set(GROUPS) <= set(groups())


def test_at_least_100_faults_are_named():
    assert len(rows()) >= ROWS_MIN


def test_every_row_says_what_noface_does_and_names_a_test():
    assert [row for row in rows() if len(row) != CELLS or not all(row) or not NAMED.search(row[2])] == []


def test_no_fault_stands_there_twice():
    faults = [row[0].casefold() for row in rows()]
    assert sorted({fault for fault in faults if faults.count(fault) > 1}) == []


def test_every_test_that_is_named_exists():
    named = {test for row in rows() for test in NAMED.findall(row[-1])}
    assert missing(named) == []


def test_nothing_but_tests_stands_in_the_last_column():
    odd = [row[2] for row in rows() if NAMED.sub("", row[2]).replace(",", "").strip()]
    assert odd == []
