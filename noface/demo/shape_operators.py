"""The first tier's mutation operators on small expressions: negated, shifted by one, cut, swapped."""

import ast
from collections.abc import Iterator

from noface.demo.edits import Source
from noface.demo.operators import Change, Operator

_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Dict, ast.Set, ast.ListComp)


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
        yield from _swapped(source, node.left, node.right, "swapped operands")


def swapped_arguments(source: Source, node: ast.AST) -> Iterator[Change]:
    """Swap two neighbouring positional arguments."""
    if isinstance(node, ast.Call):
        for left, right in zip(node.args, node.args[1:], strict=False):
            if not isinstance(left, ast.Starred) and not isinstance(right, ast.Starred):
                yield from _swapped(source, left, right, "swapped arguments")


def _swapped(source: Source, left: ast.expr, right: ast.expr, operator: str) -> Iterator[Change]:
    (start, left_end), (right_start, end) = source.span(left), source.span(right)
    gap = source.data[left_end:right_start]
    if source.text(left) != source.text(right):
        yield Change(start, end, _operand(source, right) + gap + _operand(source, left), operator, 0.6)


def _operand(source: Source, node: ast.expr) -> bytes:
    return source.text(node) if isinstance(node, _ATOMS) else b"(" + source.text(node) + b")"


def loop_exit(source: Source, node: ast.AST) -> Iterator[Change]:
    """Swap `break` and `continue`."""
    if isinstance(node, ast.Break):
        yield Change(*source.span(node), b"continue", "loop exit", 0.5)
    if isinstance(node, ast.Continue):
        yield Change(*source.span(node), b"break", "loop exit", 0.5)


SHAPE_OPERATORS: tuple[Operator, ...] = (
    negation,
    sign,
    off_by_one,
    slice_bound,
    swapped_operands,
    swapped_arguments,
    loop_exit,
)
