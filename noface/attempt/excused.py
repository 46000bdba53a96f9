"""Tells which lines a text adds, and which gates measure coverage."""

import re
from collections import Counter

from noface.model.gate import GateKind, GateSpec

_COVERAGE = re.compile(r"\b(cov|coverage|nyc|c8|istanbul)\b")


def measures(gate: GateSpec) -> bool:
    """True if a test gate also measures coverage, which a comment can excuse code from."""
    return gate.kind is GateKind.TEST and _COVERAGE.search(gate.command) is not None


def added_lines(old: str, new: str) -> frozenset[int]:
    """Return the numbers of the lines that stand more often in the new text, counted from 1."""
    left = Counter(old.split("\n"))
    added: set[int] = set()
    for number, line in enumerate(new.split("\n"), 1):
        left[line] -= 1
        if left[line] < 0:
            added.add(number)
    return frozenset(added)
