"""Tells whether a file of fixtures that tests share only grows: it keeps all of main's. Pure.

A `conftest.py` acts on each test in its folder, so a change of it is undone. A fixture that only new tests name is as
harmless as one in their own file, if nothing of main's tests meets it: no hook, nothing that runs by itself, no name
that stands for something already. Main's own tests are judged with main's file besides.
"""

import ast
import builtins
import re
from collections.abc import Iterator

from noface.data import table
from noface.integrity.lexing import python_tree
from noface.integrity.tampering import is_test_file

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
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
    old, new = before.body, after.body
    imported = {*_imported(old)}
    if missing := imported - {*_imported(new)}:
        return f"it no longer imports {min(missing)[-1]}"
    kept, more = [each for each in old if not _imports(each)], []
    for each in new:
        if kept and ast.dump(each) == ast.dump(kept[0]):
            del kept[0]
        else:
            more.append(each)
    if kept:
        return f"it changes line {kept[0].lineno} of main's"
    names = set[str]()
    taken = {*_bound(old), *dir(builtins), *table("integrity")["fixtures"]["built_in"]}
    for each in more:
        new_ones = (name for *_, name in {*_imported([each])} - imported) if _imports(each) else _bound([each])
        added = {name.partition(".")[0] for name in new_ones}
        if why := _acts(each) or next((_meets(name) for name in sorted(added) if name in taken or _is_hook(name)), ""):
            return why
        names |= added
    return frozenset(names)


def asked_for(text: str, names: frozenset[str]) -> frozenset[str]:
    """Return which fixtures of these `names` tests of this text ask for: as parameters, or by their names as text."""
    asks = r"def\s+\w+\([^)]{{0,2000}}\b{0}\b|def\s+{0}\b|[\"']{0}[\"']"
    return frozenset(name for name in names if re.search(asks.format(re.escape(name)), text))


def _meets(name: str) -> str:
    return f"`{name}` is a hook" if _is_hook(name) else f"`{name}` stands for something already"


def _is_hook(name: str) -> bool:
    return name.startswith(_HOOKS)


def _imports(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom))


def _imported(body: list[ast.stmt]) -> Iterator[tuple[str, str, str]]:
    """Yield what is imported, one by one: from where, what, and under which name."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (("", alias.name, alias.asname or alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            place = "." * node.level + (node.module or "")
            yield from ((place, alias.name, alias.asname or alias.name) for alias in node.names)


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements bind, as far as they can be read; "*" for all of a module's."""
    for node in body:
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        else:
            yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _acts(node: ast.stmt) -> str:
    """Say what a new statement does that nobody asks for, "" if it only defines."""
    match node:
        case ast.Import():
            return ""
        case ast.ImportFrom():
            return "it imports all of a module" if any(alias.name == "*" for alias in node.names) else ""
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return _acts_by_itself(node)
        case ast.Assign(value=value, targets=[ast.Name()]) | ast.AnnAssign(target=ast.Name(), value=value):
            return "" if value is None or _is_literal(value) else f"line {node.lineno} runs code"
        case ast.Expr(value=ast.Constant()):
            return ""
        case _:
            return f"line {node.lineno} runs code"


def _acts_by_itself(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    for each in node.decorator_list:
        called, words = (each.func, each.keywords) if isinstance(each, ast.Call) else (each, [])
        values = [*(each.args if isinstance(each, ast.Call) else ()), *(word.value for word in words)]
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        known = name in _DECORATORS and all(word.arg in _KEYWORDS for word in words) and all(map(_is_literal, values))
        if not known:
            return f"`{node.name}` has the decorator `{ast.unparse(each)}`"
    given = (*node.args.defaults, *filter(None, node.args.kw_defaults))
    return "" if all(map(_is_literal, given)) else f"`{node.name}` has a default that runs code"


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except _UNREADABLE:
        return False
    return True
