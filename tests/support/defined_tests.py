"""The tests that the ledgers (FAULTS.md, REQUIREMENTS.md) name by `folder/file.py::test`."""

import ast
from functools import cache

from . import TESTS


@cache
def defined(name: str) -> frozenset[str]:
    """Return the functions of a test file, named as seen from tests/."""
    tree = ast.parse((TESTS / name).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def missing(named: set[tuple[str, str]]) -> list[str]:
    """Return those of the named tests that do not exist."""
    files = {str(path.relative_to(TESTS)) for path in TESTS.rglob("test_*.py")}
    return [f"{file}::{test}" for file, test in sorted(named) if file not in files or test not in defined(file)]
