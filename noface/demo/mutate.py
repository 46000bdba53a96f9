"""All single edits of a file that a tier knows."""

import ast
import warnings
from collections.abc import Callable, Iterator

from noface.demo.edits import Edit, Source
from noface.demo.operators import TOKEN_OPERATORS, Change, Operator
from noface.demo.shape_operators import SHAPE_OPERATORS
from noface.demo.wider_operators import WIDER_OPERATORS

FIRST_TIER = (*TOKEN_OPERATORS, *SHAPE_OPERATORS)
OPERATORS: dict[int, tuple[Operator, ...]] = {1: FIRST_TIER, 2: (*FIRST_TIER, *WIDER_OPERATORS)}


def single_edits(source: Source, tier: int, wanted: Callable[[int], bool]) -> Iterator[Edit]:
    """Yield the edits of the wanted lines in the order of the text; each changes something, none comes twice.

    A few don't compile (a swap that breaks a precedence, a name Python reserves): `compiles` tells, and is asked
    only for candidates that are about to be tried, since it costs milliseconds on a large file.
    """
    seen: set[tuple[int, int, bytes]] = set()
    for node in source.repairable_nodes():
        line = _line(node)
        if line is None or not wanted(line):
            continue
        for operator in OPERATORS[tier]:
            for change in operator(source, node):
                key = (change.start, change.end, change.new)
                if key not in seen and source.data[change.start : change.end] != change.new:
                    seen.add(key)
                    yield _edit(source, change, line)


def _line(node: ast.AST) -> int | None:
    """Return the line of a node; a comprehension's `for` has none of its own."""
    placed = node.target if isinstance(node, ast.comprehension) else node
    line: int | None = getattr(placed, "lineno", None)
    return line


def _edit(source: Source, change: Change, line: int) -> Edit:
    return Edit(source.path, change.start, change.end, change.new, change.operator, line, change.weight)


def compiles(path: str, text: bytes) -> bool:
    """Return True where `text` is a valid Python file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
    return True
