"""The tests that the ledgers (FAULTS.md, REQUIREMENTS.md) name by `file.py::test`, whatever folder the file is in."""

import ast
from functools import cache

from . import TESTS


@cache
def defined(name: str) -> frozenset[str]:
    """Return the functions of the test file of this name."""
    (path,) = (path for path in TESTS.rglob(name) if "projects" not in path.parts)
    return frozenset(node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef))


def missing(named: set[tuple[str, str]]) -> list[str]:
    """Return those of the named tests that do not exist."""
    files = {path.name for path in TESTS.rglob("test_*.py")}
    return [f"{file}::{test}" for file, test in sorted(named) if file not in files or test not in defined(file)]
