"""Where the fault may lie: spectrum-based fault localisation with the Ochiai coefficient.

A line that failing tests run and passing tests don't is suspicious:
    ochiai(line) = failed(line) / sqrt(all failed * (failed(line) + passed(line)))
after Abreu, Zoeteweij and van Gemund, "On the accuracy of spectrum-based fault localization" (TAIC PART 2007).
"""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from noface.demo.edits import FunctionNode, Source
from noface.demo.outcome import Lines

CONSTANT_SHARE = 0.8
"""How suspicious a module's constant is, as a share of the most suspicious line that uses it."""
FAINT = 0.02
"""How suspicious any other line is that ran at import."""
UNNAMED = 0.1
"""How suspicious a function's lines are where nothing could be traced and the output doesn't name it."""

_TEST_FOLDERS = {"tests", "test", "testing", "acceptance"}


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Lines of a file, each with its suspicion above 0 and up to 1."""

    lines: Mapping[tuple[str, int], float]

    def of(self, source: Source, line: int) -> float:
        """Return the suspicion of a line, or of the statement it belongs to; 0 where there is none."""
        spots = ((source.path, line), (source.path, source.first_line(line)))
        return max(self.lines.get(spot, 0.0) for spot in spots)

    @property
    def paths(self) -> list[str]:
        """The files, most suspicious first."""
        best: dict[str, float] = {}
        for (path, _), value in self.lines.items():
            best[path] = max(value, best.get(path, 0.0))
        return sorted(best, key=lambda path: (-best[path], path))


def repairable(path: str, allowed: tuple[str, ...], named: Iterable[str]) -> bool:
    """Return True for a Python file that a patch may touch: no test, named by no command, within the issue's paths."""
    parts = PurePosixPath(path)
    is_test = (
        not _TEST_FOLDERS.isdisjoint(parts.parts[:-1])
        or fnmatch(parts.name, "test_*.py")
        or fnmatch(parts.name, "*_test.py")
        or parts.name in {"conftest.py", "setup.py", "noxfile.py"}
        or path in named
    )
    within = not allowed or any(_covers(pattern, path) for pattern in allowed)
    return parts.suffix == ".py" and not is_test and within


def _covers(pattern: str, path: str) -> bool:
    pattern = pattern.removeprefix("./").rstrip("/")
    return path == pattern or path.startswith(pattern + "/") or fnmatch(path, pattern.replace("**/", "*"))


def ochiai(lines: Lines, failing: frozenset[str]) -> dict[tuple[str, int], float]:
    """Return the coefficient of every line that a failing test runs."""
    failed: Counter[tuple[str, int]] = Counter()
    passed: Counter[tuple[str, int]] = Counter()
    for test, files in lines.items():
        spots = [(path, line) for path, numbers in files.items() for line in numbers]
        (failed if test in failing else passed).update(spots)
    total = sum(test in failing for test in lines)
    return {spot: count / math.sqrt(total * (count + passed[spot])) for spot, count in failed.items()}


def with_imported(suspicion: Suspicion, source: Source) -> Suspicion:
    """Add the lines outside functions: they ran at import, before any test, so no test's trace has them."""
    used: dict[str, float] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            used[node.id] = max(suspicion.of(source, node.lineno), used.get(node.id, 0.0))
    lines = dict(suspicion.lines)
    for statement in _outside_functions(source.tree):
        names = [
            node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        value = max(FAINT, CONSTANT_SHARE * max((used.get(name, 0.0) for name in names), default=0.0))
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
            lines.setdefault((source.path, line), value)
    return Suspicion(lines)


def _outside_functions(tree: ast.Module) -> list[ast.stmt]:
    """Return the simple statements of a module and of its classes."""
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    compound = (ast.ClassDef, ast.If, ast.Try, ast.With, *FunctionNode.__args__)
    return [statement for body in bodies for statement in body if not isinstance(statement, compound)]


def everywhere(paths: Iterable[str], root: Path, output: str) -> dict[tuple[str, int], float]:
    """Return every line of these files, where nothing could be traced: functions that the output names come first."""
    words = set(re.findall(r"\w+", output))
    spots: dict[tuple[str, int], float] = {}
    for path in paths:
        try:
            tree = ast.parse((root / path).read_bytes())
        except (SyntaxError, ValueError):
            continue
        functions = [node for node in ast.walk(tree) if isinstance(node, FunctionNode)]
        for function in functions:
            value = 1.0 if function.name in words else UNNAMED
            lines = range(function.lineno, (function.end_lineno or function.lineno) + 1)
            spots.update({(path, line): max(value, spots.get((path, line), 0.0)) for line in lines})
    return spots
