"""The second tier's operators: they take what they put in from elsewhere in the same file.

That the fix's ingredients are often in the file already is the assumption behind GenProg (Le Goues et al., 2012).
"""

import ast
from collections.abc import Iterator

from noface.demo.edits import Source
from noface.demo.operators import Change, Operator

INGREDIENTS_MAX = 12
_WRAPPERS = ("abs", "sorted", "set", "int")


def variable(source: Source, node: ast.AST) -> Iterator[Change]:
    """Read another variable of the same function."""
    if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
        return
    if not _is_called(source, node) and node.id in local_names(source, node):
        for name in local_names(source, node):
            if name != node.id:
                yield Change(*source.span(node), name.encode(), "variable", 0.6)


def local_names(source: Source, node: ast.AST) -> list[str]:
    """Return the parameters and variables of the function around a node, in order of appearance."""
    function = source.enclosing_function(node)
    if function is None:
        return []
    names = [a.arg for a in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]]
    inner = (n for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    names += [n.id for n in sorted(inner, key=lambda n: (n.lineno, n.col_offset))]
    return [name for name in dict.fromkeys(names) if name not in {"self", "cls", "_"}][:INGREDIENTS_MAX]


def borrowed_constant(source: Source, node: ast.AST) -> Iterator[Change]:
    """Use another constant of the same type from the same file, nearest first."""
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool) or node.value is None:
        return
    others = [o for o in source.constants if type(o.value) is type(node.value) and o.value != node.value]
    others.sort(key=lambda other: abs(other.lineno - node.lineno))
    texts = dict.fromkeys(source.text(other) for other in others)
    for text in list(texts)[:INGREDIENTS_MAX]:
        yield Change(*source.span(node), text, "borrowed constant", 0.5)


def attribute(source: Source, node: ast.AST) -> Iterator[Change]:
    """Read another attribute that the same function reads of its variables."""
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)) or _is_called(source, node):
        return
    read = [
        other
        for other in ast.walk(source.enclosing_function(node) or source.tree)
        if isinstance(other, ast.Attribute) and isinstance(other.value, ast.Name) and not _is_called(source, other)
    ]
    read.sort(key=lambda other: (abs(other.lineno - node.lineno), other.attr))
    _, end = source.span(node)
    for name in list(dict.fromkeys(other.attr for other in read))[:INGREDIENTS_MAX]:
        yield Change(end - len(node.attr.encode()), end, name.encode(), "attribute", 0.45)


def _is_called(source: Source, node: ast.expr) -> bool:
    parent = source.parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is node


def dropped_clause(source: Source, node: ast.AST) -> Iterator[Change]:
    """Drop one clause of an `and` or `or`."""
    if isinstance(node, ast.BoolOp) and len(node.values) == 2:  # noqa: PLR2004 - left and right
        for kept in node.values:
            yield Change(*source.span(node), source.text(kept), "dropped clause", 0.6)


def borrowed_clause(source: Source, node: ast.AST) -> Iterator[Change]:
    """Join another condition of the same function to a condition."""
    if not isinstance(node, ast.If | ast.While):
        return
    function = source.enclosing_function(node)
    if function is None:
        return
    tests = [n for n in ast.walk(function) if isinstance(n, ast.Compare)]
    tests.sort(key=lambda n: abs(n.lineno - node.lineno))
    own = source.text(node.test)
    for text in list(dict.fromkeys(source.text(n) for n in tests if source.text(n) not in own))[:4]:
        for word in (b"or", b"and"):
            yield Change(*source.span(node.test), b"(" + own + b") " + word + b" " + text, "borrowed clause", 0.3)


def dropped_call(source: Source, node: ast.AST) -> Iterator[Change]:
    """Put a call's first argument, or the object of a method call, in place of the call."""
    if isinstance(node, ast.Call) and node.args:
        yield Change(*source.span(node), source.text(node.args[0]), "dropped call", 0.4)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        yield Change(*source.span(node), source.text(node.func.value), "dropped call", 0.4)


def added_call(source: Source, node: ast.AST) -> Iterator[Change]:
    """Wrap what is returned or assigned in a plain conversion."""
    value = node.value if isinstance(node, ast.Return | ast.Assign) else None
    if isinstance(value, ast.Name | ast.BinOp | ast.Call | ast.Attribute):
        for name in _WRAPPERS:
            text = name.encode() + b"(" + source.text(value) + b")"
            yield Change(*source.span(value), text, "added call", 0.25)


def dropped_statement(source: Source, node: ast.AST) -> Iterator[Change]:
    """Make a simple statement do nothing."""
    simple = isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.Break | ast.Continue)
    if simple and isinstance(node, ast.stmt) and source.enclosing_function(node):
        yield Change(*source.span(node), b"pass", "dropped statement", 0.4)


def swapped_statements(source: Source, node: ast.AST) -> Iterator[Change]:
    """Swap two simple statements that follow each other."""
    if not isinstance(node, ast.FunctionDef | ast.For | ast.While | ast.If):
        return
    simple = (ast.Assign, ast.AugAssign, ast.Expr)
    for one, two in zip(node.body, node.body[1:], strict=False):
        if isinstance(one, simple) and isinstance(two, simple):
            (start, one_end), (two_start, end) = source.span(one), source.span(two)
            gap = source.data[one_end:two_start]
            yield Change(start, end, source.text(two) + gap + source.text(one), "swapped statements", 0.45)


def dedented_statement(source: Source, node: ast.AST) -> Iterator[Change]:
    """Move the last statement of a block out of it: a `return` that stands inside its loop."""
    if not isinstance(node, ast.For | ast.While | ast.If) or len(node.body) == 1 or node.orelse:
        return
    last = node.body[-1]
    if isinstance(last, ast.Return | ast.Assign | ast.AugAssign | ast.Expr) and last.lineno == last.end_lineno:
        start = source.line_start(last.lineno)
        yield Change(start, start + last.col_offset, b" " * node.col_offset, "dedented statement", 0.5)


WIDER_OPERATORS: tuple[Operator, ...] = (
    variable,
    borrowed_constant,
    attribute,
    dropped_clause,
    borrowed_clause,
    dropped_call,
    added_call,
    dropped_statement,
    swapped_statements,
    dedented_statement,
)
