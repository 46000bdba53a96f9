"""Finds the conditions of Python code that ask for nothing that a caller gave: their surroundings alone. Pure.

What decides may come from parameters and what is made of them, or from outside: modules that are loaded, the process,
the stack, the clock, chance, or state of the module that nothing but this code counts. The flow of data is followed
back to that by names, through locals, values of the module, and functions without a say of the caller in them. What
cannot be followed counts as given.
"""

import ast
import builtins
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from noface.data import table
from noface.integrity.lexing import TEXT_CHARS_MAX, python_tree

GIVEN = "given"
COUNTED = "its own "
_IMPURE = frozenset({"__file__", "globals", "hash", "id", "input", "locals", "object", "open", "vars"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES = (*_FUNCTIONS, ast.ClassDef)
Place = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition, or an operand or comparison that may be one: where it stands, its text, what it asks outside.

    A place is line, column, end line, end column, as Python's own parser counts them. In other languages `at` is where
    the text has it, and `then` where it goes on if the condition holds.
    """

    path: str
    place: Place
    text: str
    asks: frozenset[str]
    at: int = -1
    then: int = -1

    @property
    def line(self) -> int:
        """The line that it begins in."""
        return self.place[0]


def conditions(
    path: str,
    text: str,
    modules: Collection[str],
    change: Mapping[str, "ReadModule"] | None = None,
    lines: Collection[int] | None = None,
) -> tuple[Condition, ...]:
    """Return the conditions of Python code that ask for their surroundings alone.

    `modules` are the names of the project's own top-level modules, `change` what a change has in its files: functions
    and values of the others are followed by their names. Those that do not begin in these `lines` are left out.
    """
    known = change or read_modules({path: text})
    if path not in known:
        return ()
    others = (each for name, each in known.items() if name != path)
    try:
        return tuple(_conditions_in(path, text, _Flow(known[path], modules, others), lines))
    except RecursionError:
        return ()


def read_modules(texts: Mapping[str, str]) -> dict[str, "ReadModule"]:
    """Return what the Python files among these bind, each read once; what does not parse is left out."""
    read = {}
    for path, text in texts.items():
        tree = python_tree(text) if path.endswith(".py") and len(text) <= TEXT_CHARS_MAX else None
        if tree is not None:
            with suppress(RecursionError):
                read[path] = ReadModule(tree)
    return read


def _conditions_in(path: str, text: str, flow: "_Flow", lines: Collection[int] | None) -> Iterator[Condition]:
    for node, scope in flow.module.atoms:
        if not scope.of_function or (lines is not None and node.lineno not in lines) or _asks_import(node, scope):
            continue
        asks = flow.origins(node, scope)
        asked = frozenset(name for name in asks if not name.startswith(switches()))
        if asked and GIVEN not in asks:
            place = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
            words = " ".join((ast.get_source_segment(text, node) or "").split())
            yield Condition(path, place, words[:120], asked)


def _asks_import(node: ast.expr, scope: "_Scope") -> bool:
    """True if a condition is about what there is to import: whether a name of it is None, or a module has one."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hasattr":
        return bool(node.args) and isinstance(node.args[-1], ast.Constant)
    none = isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot))
    name = node.left if none and isinstance(node, ast.Compare) else node
    place = scope.place(name.id) if isinstance(name, ast.Name) else None
    values = place.values.get(name.id, []) if place is not None and isinstance(name, ast.Name) else []
    return any(isinstance(value, str) and not value.startswith(COUNTED) for _, value in values)


@cache
def switches() -> tuple[str, ...]:
    """Return what is the same for all that runs on a machine: who asks for it has a reason."""
    return tuple(table("integrity")["surroundings"]["switches"])


@dataclass(slots=True)
class _Scope:
    """A function, class or module: its names with their values, and what a caller learns of it.

    A value is an expression with the scope to read it in, or a word that says where it comes from.
    """

    parent: "_Scope | None" = None
    params: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    is_class: bool = False
    values: dict[str, list["_Value"]] = field(default_factory=lambda: defaultdict(list))
    out: list["_Value"] = field(default_factory=list)

    @property
    def of_function(self) -> bool:
        """True inside a function: what a module asks when it is loaded, such as which library is there, is its own."""
        return self.parent is not None and (not self.is_class or self.parent.of_function)

    def place(self, name: str) -> "_Scope | None":
        """Return the scope in which a name that is used here is found."""
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.params or (name in scope.values and (scope is self or not scope.is_class)):
                return scope
            scope = scope.parent
        return None


_Value = tuple[_Scope, ast.AST | str]


class ReadModule:
    """What a module binds its names to, the scopes in it, and its conditions, each with its scope."""

    def __init__(self, tree: ast.Module) -> None:
        self.atoms: list[tuple[ast.expr, _Scope]] = []
        self.inner: dict[ast.AST, _Scope] = {}
        self.scope = module = _Scope()
        self._changes: list[tuple[_Scope, str, tuple[ast.AST | str, ...], tuple[ast.expr, ...]]] = []
        self._scan(tree, module, ())
        for scope, name, values, controls in self._changes:
            place = scope.place(name)
            if place is None or name in place.params or all(isinstance(v, str) for _, v in place.values[name]):
                continue  # a function of a module that is imported changes nothing of it
            place.values[name] += [(scope, each) for each in (*values, *(controls if place is not module else ()))]
            if place is module and scope is not module:
                place.values[name].append((module, f"{COUNTED}{name}"))

    def _scan(self, node: ast.AST, scope: _Scope, controls: tuple[ast.expr, ...]) -> None:
        """Note what a node binds its names to, and its conditions; `controls` decide whether it is run."""
        for name, values, changed in _bound(node):
            if changed:
                self._changes.append((scope, name, values, controls))
                continue
            place = self.scope if name in scope.shared else scope
            place.values[name] += [(scope, each) for each in values]
            if place is not self.scope:
                place.values[name] += [(scope, each) for each in controls]
            elif scope is not place:
                place.values[name].append((place, f"{COUNTED}{name}"))
        self.atoms += [(atom, scope) for atom in _atoms(node)]
        if isinstance(node, ast.Return) and node.value is not None:
            scope.out += [(scope, each) for each in (node.value, *controls)]
        if isinstance(node, _SCOPES):
            inner = self.inner[node] = _Scope(scope, _parameters(node), _shared(node), isinstance(node, ast.ClassDef))
            body = [node.body] if isinstance(node, ast.Lambda) else node.body
            for each in ast.iter_child_nodes(node):
                self._scan(each, inner if each in body else scope, () if each in body else controls)
            if isinstance(node, ast.Lambda):
                inner.out.append((inner, node.body))
            if inner.is_class:
                inner.out += [value for values in inner.values.values() for value in values]
            return
        deciding = _deciding(node)
        for each in ast.iter_child_nodes(node):
            self._scan(each, scope, controls if each in deciding else (*controls, *deciding))


class _Flow:
    """Where the values of a module come from; `modules` are the project's, `others` those that a change has beside."""

    def __init__(self, module: ReadModule, modules: Collection[str], others: Iterable[ReadModule]) -> None:
        self.module, self.modules = module, modules
        self.beside: dict[str, list[_Value]] = {}
        self._inner = dict(module.inner)
        for other in others:
            self.beside |= other.scope.values
            self._inner |= other.inner

    def origins(self, node: ast.AST, scope: _Scope) -> frozenset[str]:
        """Return where the value of an expression comes from, GIVEN alone if any of it is given."""
        names, seen = set[str](), set[tuple[int, bool]]()
        left: list[tuple[_Scope, ast.AST | str, bool]] = [(scope, node, False)]
        while left:
            inner, each, own = left.pop()
            if isinstance(each, str):
                names.add(each)
            elif (id(each), own) not in seen:
                seen.add((id(each), own))
                left += self._made_of(each, inner, own)
            if GIVEN in names:
                return frozenset({GIVEN})
        return frozenset(names)

    def _made_of(self, node: ast.AST, scope: _Scope, own: bool) -> Iterator[tuple[_Scope, ast.AST | str, bool]]:
        """Yield what an expression is made of; `own`: parameters of its function say nothing."""
        if isinstance(node, ast.Name):
            yield from self._of_name(node.id, scope, own)
        elif isinstance(node, (ast.Yield, ast.YieldFrom)):
            yield scope, GIVEN, own
        elif isinstance(node, _SCOPES):
            yield from ((inner, value, True) for inner, value in self._inner[node].out)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            for inner, value, mine in self._of_name(node.value.id, scope, own):
                is_module = isinstance(value, str) and value != GIVEN and value.isidentifier()
                yield inner, f"{value}.{node.attr}" if is_module else value, mine
        else:
            yield from ((scope, each, own) for each in ast.iter_child_nodes(node))

    def _of_name(self, name: str, scope: _Scope, own: bool) -> Iterator[tuple[_Scope, ast.AST | str, bool]]:
        place = scope.place(name)
        if place is not None and name in place.params:
            yield from () if own else ((scope, GIVEN, own),)
        elif place is not None:
            for inner, value in place.values[name]:
                yield from self._of_word(value, own) if isinstance(value, str) else ((inner, value, own),)
        elif name in _IMPURE or not hasattr(builtins, name):
            yield scope, name if name in _IMPURE else GIVEN, own

    def _of_word(self, word: str, own: bool) -> Iterator[tuple[_Scope, ast.AST | str, bool]]:
        """Yield what a name from elsewhere is; what others of the project's modules hold is given, unless it is new."""
        is_own = word.startswith(".") or word.partition(".")[0] in self.modules
        beside = self.beside.get(word.rpartition(".")[2]) if is_own else None
        if beside is None:
            yield self.module.scope, GIVEN if is_own else word, own
        for inner, value in beside or ():
            outside = (
                isinstance(value, str) and not value.startswith(".") and value.partition(".")[0] not in self.modules
            )
            yield inner, value if outside or not isinstance(value, str) else GIVEN, own


def _bound(node: ast.AST) -> Iterator[tuple[str, tuple[ast.AST | str, ...], bool]]:
    """Yield the names that a node binds, or changes the values of, and what to."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0], (alias.name,), False
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, (f"{'.' * node.level}{node.module or ''}.{alias.name}",), False
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name, (node,), False
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name, (GIVEN,), False
    elif isinstance(node, ast.Call):
        args = (*node.args, *(each.value for each in node.keywords))
        holder = _holder(node.func) if isinstance(node.func, ast.Attribute) else ""
        if holder:
            yield holder, args, True
        for arg in args:
            if isinstance(arg, ast.Name) and len(args) > 1:
                yield arg.id, tuple(each for each in args if each is not arg), True
    else:
        targets = getattr(node, "targets", None) or [
            getattr(node, "target", None) or getattr(node, "optional_vars", None)
        ]
        value: Any = getattr(node, "value", None) or getattr(node, "iter", None) or getattr(node, "context_expr", None)
        for target in targets if value is not None else ():
            for each in ast.walk(target) if isinstance(target, ast.AST) else ():
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                    yield each.id, (value,), False
                elif isinstance(each, (ast.Attribute, ast.Subscript)) and (holder := _holder(each)):
                    yield holder, (value, *([each.slice] if isinstance(each, ast.Subscript) else ())), True


def _holder(node: ast.AST) -> str:
    """Return the name that an attribute or an item is reached by, however far below it is."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _parameters(node: ast.AST) -> frozenset[str]:
    if isinstance(node, ast.ClassDef):
        return frozenset()
    args = node.args  # type: ignore[attr-defined]
    every = (*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg)))
    return frozenset(each.arg for each in every)


def _shared(node: ast.AST) -> frozenset[str]:
    return frozenset(name for each in ast.walk(node) if isinstance(each, ast.Global) for name in each.names)


def _deciding(node: ast.AST) -> tuple[ast.expr, ...]:
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        return (node.test,)
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return (node.iter,)
    return (node.subject,) if isinstance(node, ast.Match) else ()


def _atoms(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what is true or not in a node by itself: tests, operands of `and` and `or`, comparisons."""
    tests: list[ast.expr] = []
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        tests = [node.test]
    elif isinstance(node, ast.comprehension):
        tests = node.ifs
    elif isinstance(node, ast.BoolOp):
        tests = node.values[:-1]  # the last one may be a mere value
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        tests = [node.operand]
    elif isinstance(node, ast.Compare):
        yield node
    for test in tests:
        last = test
        while isinstance(last, ast.BoolOp):
            last = last.values[-1]
        inner = isinstance(last, ast.UnaryOp) and isinstance(last.op, ast.Not)
        if not inner and not isinstance(last, (ast.Compare, ast.Constant)):
            yield last
