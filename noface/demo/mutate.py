"""All single edits of a file that a tier knows, checked to be valid Python."""

import ast
import warnings
from collections.abc import Iterator
from typing import TypeGuard

from noface.demo.edits import Edit, Source, apply
from noface.demo.operators import FIRST_TIER, Change, Operator
from noface.demo.wider_operators import SECOND_TIER

OPERATORS: dict[int, tuple[Operator, ...]] = {1: FIRST_TIER, 2: (*FIRST_TIER, *SECOND_TIER)}


def single_edits(source: Source, tier: int) -> Iterator[Edit]:
    """Yield the edits in the order of the text; each gives a file that compiles and differs, and none twice."""
    seen: set[tuple[int, int, bytes]] = set()
    for node in source.repairable_nodes():
        if not _has_line(node):
            continue
        for operator in OPERATORS[tier]:
            for change in operator(source, node):
                key = (change.start, change.end, change.new)
                if key in seen or source.data[change.start : change.end] == change.new:
                    continue
                seen.add(key)
                edit = _edit(source, change, node.lineno)
                if compiles(source.path, apply({source.path: source.data}, [edit])[source.path]):
                    yield edit


def _has_line(node: ast.AST) -> TypeGuard[ast.expr | ast.stmt]:
    return hasattr(node, "lineno")


def _edit(source: Source, change: Change, line: int) -> Edit:
    return Edit(source.path, change.start, change.end, change.new, change.operator, line, change.weight)


def compiles(path: str, text: bytes) -> bool:
    """True where `text` is a valid Python file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
    return True
