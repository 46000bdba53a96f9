"""The first tier's mutation operators: one token, or one small expression, replaced by its near relative.

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
    **{"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"},
    **{"startswith": "endswith", "endswith": "startswith", "find": "rfind", "rfind": "find"},
    **{"index": "rindex", "rindex": "index", "upper": "lower", "lower": "upper", "ljust": "rjust"},
    **{"rjust": "ljust", "split": "rsplit", "rsplit": "split", "partition": "rpartition"},
    **{"rpartition": "partition", "append": "extend", "extend": "append", "add": "discard", "lstrip": "rstrip"},
    **{"rstrip": "lstrip", "strip": "rstrip", "keys": "values", "values": "keys", "intersection": "union"},
    **{"union": "intersection", "bisect_left": "bisect_right", "bisect_right": "bisect_left"},
}
_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Dict, ast.Set, ast.ListComp)


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


def negation(source: Source, node: ast.AST) -> Iterator[Change]:
    """Drop a `not`, or negate a whole condition."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        start, end = source.span(node)
        yield Change(start, end, source.data[start + 3 : end].strip(), "negation", 0.8)
    conditions: list[ast.expr] = []
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        conditions = [node.test]
    elif isinstance(node, ast.comprehension):
        conditions = node.ifs
    for test in conditions:
        if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
            yield Change(*source.span(test), b"not (" + source.text(test) + b")", "negation", 0.55)


def sign(source: Source, node: ast.AST) -> Iterator[Change]:
    """Drop a minus, or add one to what is returned."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield Change(*source.span(node), source.text(node.operand), "sign", 0.7)
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Name | ast.Call | ast.BinOp):
        yield Change(*source.span(node.value), b"-(" + source.text(node.value) + b")", "sign", 0.3)


def relative_name(source: Source, node: ast.AST) -> Iterator[Change]:
    """Replace a function or method by its opposite: min by max, startswith by endswith."""
    if isinstance(node, ast.Name) and node.id in _NAMES:
        yield Change(*source.span(node), _NAMES[node.id].encode(), "opposite", 0.8)
    if isinstance(node, ast.Attribute) and node.attr in _NAMES:
        _, end = source.span(node)
        yield Change(end - len(node.attr.encode()), end, _NAMES[node.attr].encode(), "opposite", 0.75)


def off_by_one(source: Source, node: ast.AST) -> Iterator[Change]:
    """Drop a `+ constant`, or add or take one where counts and positions are used."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and isinstance(node.right, ast.Constant):
        yield Change(*source.span(node), source.text(node.left), "off by one", 0.7)
    places: list[ast.expr] = []
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice | ast.Tuple):
        places = [node.slice]
    elif isinstance(node, ast.Slice):
        places = [bound for bound in (node.lower, node.upper) if bound is not None]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        places = node.args
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Name | ast.Call | ast.BinOp | ast.Attribute):
        places = [node.value]
    elif isinstance(node, ast.Compare):
        places = node.comparators
    for place in places:
        if isinstance(place, ast.Name | ast.Call | ast.BinOp | ast.Attribute):
            _, end = source.span(place)
            for tail in (b" + 1", b" - 1"):
                yield Change(end, end, tail, "off by one", 0.6)


def slice_bound(source: Source, node: ast.AST) -> Iterator[Change]:
    """Drop a bound of a slice."""
    if isinstance(node, ast.Slice):
        for bound in (node.lower, node.upper):
            if bound is not None:
                yield Change(*source.span(bound), b"", "slice", 0.5)


def swapped_operands(source: Source, node: ast.AST) -> Iterator[Change]:
    """Swap the operands where their order matters."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow):
        yield _swapped(source, node.left, node.right, "swapped operands", 0.6)


def swapped_arguments(source: Source, node: ast.AST) -> Iterator[Change]:
    """Swap two neighbouring positional arguments."""
    if isinstance(node, ast.Call):
        for left, right in zip(node.args, node.args[1:], strict=False):
            if not isinstance(left, ast.Starred) and not isinstance(right, ast.Starred):
                yield _swapped(source, left, right, "swapped arguments", 0.6)


def _swapped(source: Source, left: ast.expr, right: ast.expr, operator: str, weight: float) -> Change:
    (start, left_end), (right_start, end) = source.span(left), source.span(right)
    gap = source.data[left_end:right_start]
    return Change(start, end, _operand(source, right) + gap + _operand(source, left), operator, weight)


def _operand(source: Source, node: ast.expr) -> bytes:
    return source.text(node) if isinstance(node, _ATOMS) else b"(" + source.text(node) + b")"


def loop_exit(source: Source, node: ast.AST) -> Iterator[Change]:
    """Swap `break` and `continue`."""
    if isinstance(node, ast.Break):
        yield Change(*source.span(node), b"continue", "loop exit", 0.5)
    if isinstance(node, ast.Continue):
        yield Change(*source.span(node), b"break", "loop exit", 0.5)


FIRST_TIER: tuple[Operator, ...] = (
    comparison,
    constant,
    arithmetic,
    boolean,
    negation,
    relative_name,
    sign,
    off_by_one,
    slice_bound,
    swapped_operands,
    swapped_arguments,
    loop_exit,
)
