"""The first tier's mutation operators on tokens: one token replaced by its near relative.

Each operator takes a node and yields changes. The weights are priors: slips of one token (a boundary, an
off-by-one, a wrong sign) come before wider ones, as studies of real one-line fixes find them far more often. They
order the search, nothing else.
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from noface.demo.edits import Source


@dataclass(frozen=True, slots=True)
class Change:
    """Replace bytes [start, end) by `new`."""

    start: int
    end: int
    new: bytes
    operator: str
    weight: float


Operator = Callable[[Source, ast.AST], Iterator[Change]]

_COMPARISONS: dict[type[ast.cmpop], tuple[bytes, tuple[tuple[bytes, float], ...]]] = {
    ast.Lt: (b"<", ((b"<=", 1.0), (b">", 0.7), (b">=", 0.6))),
    ast.LtE: (b"<=", ((b"<", 1.0), (b">=", 0.7), (b">", 0.6))),
    ast.Gt: (b">", ((b">=", 1.0), (b"<", 0.7), (b"<=", 0.6))),
    ast.GtE: (b">=", ((b">", 1.0), (b"<=", 0.7), (b"<", 0.6))),
    ast.Eq: (b"==", ((b"!=", 0.85), (b">=", 0.6), (b"<=", 0.6))),
    ast.NotEq: (b"!=", ((b"==", 0.85), (b">", 0.6), (b"<", 0.6))),
    ast.In: (b"in", ((b"not in", 0.8),)),
    ast.NotIn: (b"not in", ((b"in", 0.8),)),
    ast.Is: (b"is", ((b"is not", 0.8),)),
    ast.IsNot: (b"is not", ((b"is", 0.8),)),
}
_ARITHMETIC: dict[type[ast.operator], tuple[bytes, tuple[tuple[bytes, float], ...]]] = {
    ast.Add: (b"+", ((b"-", 0.85), (b"*", 0.4))),
    ast.Sub: (b"-", ((b"+", 0.85), (b"//", 0.3))),
    ast.Mult: (b"*", ((b"/", 0.5), (b"//", 0.5), (b"+", 0.45))),
    ast.Div: (b"/", ((b"//", 0.6), (b"*", 0.5))),
    ast.FloorDiv: (b"//", ((b"%", 0.65), (b"/", 0.6))),
    ast.Mod: (b"%", ((b"//", 0.65),)),
    ast.Pow: (b"**", ((b"*", 0.6),)),
    ast.BitAnd: (b"&", ((b"|", 0.6),)),
    ast.BitOr: (b"|", ((b"&", 0.6),)),
    ast.LShift: (b"<<", ((b">>", 0.6),)),
    ast.RShift: (b">>", ((b"<<", 0.6),)),
}
_NAMES = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "floor": "ceil",
    "ceil": "floor",
    "startswith": "endswith",
    "endswith": "startswith",
    "find": "rfind",
    "rfind": "find",
    "index": "rindex",
    "rindex": "index",
    "upper": "lower",
    "lower": "upper",
    "ljust": "rjust",
    "rjust": "ljust",
    "split": "rsplit",
    "rsplit": "split",
    "partition": "rpartition",
    "rpartition": "partition",
    "append": "extend",
    "extend": "append",
    "add": "discard",
    "lstrip": "rstrip",
    "rstrip": "lstrip",
    "strip": "rstrip",
    "keys": "values",
    "values": "keys",
    "intersection": "union",
    "union": "intersection",
    "bisect_left": "bisect_right",
    "bisect_right": "bisect_left",
}


def _gap_token(source: Source, left: ast.expr, right: ast.expr, token: bytes) -> tuple[int, int] | None:
    """Where an operator's token stands between its operands; None where a comment makes that unsure."""
    start, end = source.span(left)[1], source.span(right)[0]
    gap = source.data[start:end]
    words = rb"\s+".join(re.escape(word) for word in token.split())
    found = re.search(words, gap)
    if b"#" in gap or found is None:
        return None
    return start + found.start(), start + found.end()


def comparison(source: Source, node: ast.AST) -> Iterator[Change]:
    """Move a comparison's boundary, turn it round, or negate it."""
    if isinstance(node, ast.Compare):
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            token, others = _COMPARISONS[type(op)]
            place = _gap_token(source, left, right, token)
            if place:
                for new, weight in others:
                    yield Change(*place, new, "comparison", weight)
            left = right


def arithmetic(source: Source, node: ast.AST) -> Iterator[Change]:
    """Replace an arithmetic operator, also in `+=` and its like."""
    if isinstance(node, ast.BinOp):
        pair: tuple[ast.expr, ast.expr] = (node.left, node.right)
    elif isinstance(node, ast.AugAssign):
        pair = (node.target, node.value)
    else:
        return
    token, others = _ARITHMETIC.get(type(node.op), (b"", ()))
    place = _gap_token(source, *pair, token) if token else None
    if place:
        for new, weight in others:
            yield Change(*place, new, "arithmetic", weight)


def boolean(source: Source, node: ast.AST) -> Iterator[Change]:
    """Swap `and` and `or`."""
    if isinstance(node, ast.BoolOp):
        token, new = (b"and", b"or") if isinstance(node.op, ast.And) else (b"or", b"and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            place = _gap_token(source, left, right, token)
            if place:
                yield Change(*place, new, "boolean", 0.8)


def constant(source: Source, node: ast.AST) -> Iterator[Change]:
    """Step an integer by one, flip a truth value."""
    if not isinstance(node, ast.Constant):
        return
    place = source.span(node)
    if isinstance(node.value, bool):
        yield Change(*place, str(not node.value).encode(), "constant", 0.75)
    elif isinstance(node.value, int):
        parent = source.parents.get(node)
        summand = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add | ast.Sub)
        for value, weight in ((node.value + 1, 0.9), (node.value - 1, 0.9), (0, 0.4)):
            if value != node.value and (value or not summand):
                text = str(value) if value >= 0 else f"({value})"
                yield Change(*place, text.encode(), "constant", weight)


def relative_name(source: Source, node: ast.AST) -> Iterator[Change]:
    """Replace a function or method by its opposite: min by max, startswith by endswith."""
    if isinstance(node, ast.Name) and node.id in _NAMES:
        yield Change(*source.span(node), _NAMES[node.id].encode(), "opposite", 0.8)
    if isinstance(node, ast.Attribute) and node.attr in _NAMES:
        _, end = source.span(node)
        yield Change(end - len(node.attr.encode()), end, _NAMES[node.attr].encode(), "opposite", 0.75)


TOKEN_OPERATORS: tuple[Operator, ...] = (comparison, constant, arithmetic, boolean, relative_name)
