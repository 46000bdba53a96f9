"""Tells whether a file of fixtures that tests share only grows, so that no test of main meets what is new. Pure."""

import ast
import builtins
import re
from collections.abc import Iterator

from noface.data import table
from noface.integrity.form import python_tree
from noface.integrity.tampering import is_test_file

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_HOOKS = ("pytest_", "collect_ignore", "__")
_DECORATORS = frozenset({"fixture", "contextmanager", "asynccontextmanager", "cache", "lru_cache"})
_KEYWORDS = frozenset({"scope", "params", "ids", "loop_scope", "maxsize"})


def may_be_new(path: str) -> bool:
    """True if such a file may be there that main does not have: in a folder of tests it moves no imports."""
    return is_test_file(f"{path.rpartition('/')[0]}/a.py") if "/" in path else False


def growth(main: str, now: str) -> frozenset[str] | str:
    """Return the names that a file of fixtures gains, or why it does not only grow."""
    before, after = python_tree(main), python_tree(now)
    if before is None or after is None:
        return "it cannot be parsed"
    old, new = [*_statements(before)], [*_statements(after)]
    imported = {text: node for text, node in old if isinstance(node, _IMPORTS)}
    kept = [(text, node) for text, node in reversed(old) if text not in imported]
    more = list[ast.stmt]()
    for text, node in new:
        if kept and text == kept[-1][0]:
            kept.pop()
        elif text not in imported:
            more.append(node)
    missing = imported.keys() - {text for text, _ in new}
    if lost := [node for _, node in kept[-1:]] + [node for text, node in imported.items() if text in missing]:
        return f"it changes line {lost[0].lineno} of main's"
    taken = {name for _, node in old for name in _bound(node)} | {*dir(builtins)}
    taken.update(table("integrity")["fixtures"]["built_in"])
    names = set[str]()
    for node in more:
        if not _only_defines(node):
            return f"line {node.lineno} does more than define a name"
        for name in _bound(node):
            if name in taken or name.startswith(_HOOKS):
                return f"`{name}` is a hook or stands for something already"
            names.add(name)
    return frozenset(names)


def _statements(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield what each statement says, and the statement; names that are imported together one by one."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            parts: list[ast.stmt] = [ast.Import([alias], lineno=node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = [ast.ImportFrom(node.module, [alias], node.level, lineno=node.lineno) for alias in node.names]
        else:
            parts = [node]
        yield from ((ast.dump(part), part) for part in parts)


def asked_for(text: str, names: frozenset[str]) -> frozenset[str]:
    """Return which fixtures of these `names` tests of this text ask for: as parameters, or by their names as text."""
    asks = r"def\s+\w+\([^)]{{0,2000}}\b{0}\b|def\s+{0}\b|[\"']{0}[\"']"
    return frozenset(name for name in names if re.search(asks.format(re.escape(name)), text))


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        yield node.name
    elif isinstance(node, _IMPORTS):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    else:
        yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _only_defines(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.Expr(value=ast.Constant()):
            return True
        case ast.ImportFrom(names=[alias]):
            return alias.name != "*"
        case ast.FunctionDef(decorator_list=decorators) | ast.AsyncFunctionDef(decorator_list=decorators):
            defaults = (*node.args.defaults, *filter(None, node.args.kw_defaults))
            return all(map(_is_known, decorators)) and all(map(_is_literal, defaults))
        case ast.Assign(value=value, targets=[ast.Name()]) | ast.AnnAssign(target=ast.Name(), value=value):
            return value is None or _is_literal(value)
        case _:
            return False


def _is_known(decorator: ast.expr) -> bool:
    called, words, values = decorator, list[ast.keyword](), list[ast.expr]()
    if isinstance(decorator, ast.Call):
        called, words = decorator.func, decorator.keywords
        values = [*decorator.args, *(word.value for word in words)]
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name in _DECORATORS and all(word.arg in _KEYWORDS for word in words) and all(map(_is_literal, values))


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except _UNREADABLE:
        return False
    return True
