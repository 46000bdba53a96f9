"""Finds the words by which a change excuses its own code from a check: `# noqa`, `@ts-ignore`, `#[allow(…)]` (law 11).

The words stand in the table `excuses` of integrity.toml. Only new occurrences count, and only in the product.
"""

import re
from collections.abc import Collection, Iterable

from noface.data import pattern
from noface.integrity.judges import Part, part_of
from noface.integrity.tampering import is_code
from noface.model.attempt import ABSENT, FileChange
from noface.model.gate import GateKind, GateSpec
from noface.model.patch import ChangedLine

_LINE_CHARS_MAX = 1_000
_SHOWN_MAX = 120
_COVERAGE = re.compile(r"\b(cov|coverage|nyc|c8|istanbul)\b")


def checks_of(gates: Iterable[GateSpec]) -> tuple[str, ...]:
    """Return from which kinds of checks code can be excused: keys of the table."""
    hard = [gate for gate in gates if gate.hard and not gate.accept]
    checks = ["check"] * any(gate.kind is not GateKind.TEST for gate in hard)
    return (
        *checks,
        *["coverage"] * any(gate.kind is GateKind.TEST and _COVERAGE.search(gate.command) for gate in hard),
    )


def excuses_in(text: str, checks: Iterable[str]) -> frozenset[str]:
    """Return the words in a text that excuse code from these checks, with the rules that they name."""
    lines = [line[:_LINE_CHARS_MAX] for line in text.split("\n")]
    found = (
        match for check in checks for line in lines for match in pattern("integrity", "excuses", check).finditer(line)
    )
    return frozenset(match[0].strip() for match in found)


def excused_lines(lines: Iterable[ChangedLine], checks: Collection[str]) -> dict[str, str]:
    """Return the added lines of the product that excuse code, as phrases, each with its words; what moves is none."""
    product = [line for line in lines if is_code(line.path) and part_of(line.path) in (Part.PRODUCT, Part.SOFT)]
    removed = {line.text.strip() for line in product if line.removed}
    return {
        f"{line.path} excuses its code from a check: `{' '.join(line.text.split())[:_SHOWN_MAX]}`": words
        for line in product
        if not line.removed and line.text.strip() not in removed
        for words in excuses_in(line.text, checks)
    }


def stubs_beside(changes: Iterable[FileChange], tree: Collection[str]) -> tuple[str, ...]:
    """Return the new stubs that type checkers read in place of the source beside them, as phrases."""
    new = [each.path for each in changes if each.old_mode == ABSENT and each.path.endswith(".pyi")]
    return tuple(f"{path} has type checkers read it in place of {path[:-1]}" for path in new if path[:-1] in tree)
