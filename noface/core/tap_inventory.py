"""Reads the names of tests out of TAP, flat or nested: prove -v, bats, tape, node --test and kin."""

import re
from dataclasses import dataclass, field

from noface.core.inventory import Inventory, Outcome, inventory

_VERSION = re.compile(r"^TAP version 1[34]$")
_PLAN = re.compile(r"^(?P<indent> *)1\.\.(?P<n>\d+)\b")
_POINT = re.compile(r"^(?P<indent> *)(?P<bad>not )?ok\b(?: +(?P<n>\d+))?(?: +-)? *(?P<name>.*)$")
_DIRECTIVE = re.compile(r"(?<!\\)\s# ?(?P<word>skip|todo|time=|in \d)\S*.*$", re.IGNORECASE)
_FILE = re.compile(r"^(?P<name>\S+\.(?:t|bats|sh|pl)) \.+ *$")
_BAIL = re.compile(r"^Bail out!")


@dataclass(slots=True)
class _Points:
    """The points of one stream, each with its indent. A parent's point comes after those of its children."""

    tests: list[tuple[int, str, Outcome]] = field(default_factory=list)
    begun: int = 0
    at_top: int = 0

    def add(self, indent: int, name: str, outcome: Outcome) -> None:
        """Take one point; the deeper ones just before it are its children."""
        first = len(self.tests)
        while first > self.begun and self.tests[first - 1][0] > indent:
            first -= 1
            _, inner, ended = self.tests[first]
            self.tests[first] = (indent, f"{name} > {inner}", ended)
        self.tests.append((indent, name, outcome))
        self.at_top += indent == 0


def read_tap_tests(lines: list[str]) -> Inventory | None:
    """Return the points of TAP by name, None where the lines are no TAP or name nothing.

    Each stream states how many points it has, before or after them; where that is not so, it was cut off.
    """
    plans = [int(plan["n"]) for line in lines if (plan := _PLAN.match(line)) and not plan["indent"]]
    if not plans and not any(_VERSION.match(line) for line in lines):
        return None
    points, file = _Points(), ""
    for line in lines:
        if header := _FILE.match(line):
            file, points.begun = f"{header['name']}::", len(points.tests)
        elif (point := _POINT.match(line)) and (point["n"] or point["name"]):
            directive = _DIRECTIVE.search(f" {point['name']}")
            left_out = directive is not None and directive["word"].lower() in {"skip", "todo"}
            name = _DIRECTIVE.sub("", f" {point['name']}").strip() or f"point {point['n']}"
            outcome = Outcome.SKIPPED if left_out else Outcome.FAILED if point["bad"] else Outcome.PASSED
            points.add(len(point["indent"]), file + name, outcome)
    if not points.tests:
        return None
    whole = sum(plans) == points.at_top and not any(_BAIL.match(line) for line in lines)
    return inventory(((name, outcome) for _, name, outcome in points.tests), "tap", complete=whole)
