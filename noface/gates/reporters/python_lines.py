"""Writes down which added lines of a change are run, and how its conditions turn out, in a Python process of a gate.

Only the files that the change touches are followed (`line_hook.py`): their code notes each line and condition once, and
all other code is as it was. Beside it stands `follow.json`: {"into", "files": {path: {"lines", "conditions"}}}. A
process writes a line {"file", "probes"} for each of these files that it loads, and {"hit": number} or {"hit", "is"} for
each of these probes, at once: an os._exit cuts nothing off. It imports nothing of noface, serves Python 3.8 and newer,
and never raises anything of its own.
"""

from __future__ import annotations

import ast
import builtins
import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType
    from typing import Any

_FOLDER = os.path.dirname(__file__)  # noqa: PTH120
_NAME = "<noface>"
"""The name of what notes; no code can have it, since it is no identifier."""
_CALLS = (os.open, os.write, os.close)
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Pass)
_FIXED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)

with open(os.path.join(_FOLDER, "follow.json"), encoding="utf-8") as _file:  # noqa: PTH118, PTH123
    _settings = json.load(_file)
_path = os.path.join(_settings["into"], f"{os.getpid()}-{os.urandom(8).hex()}.jsonl")  # noqa: PTH118
_seen: set[object] = set()
_count = [0]


def _write(text: str) -> None:
    opened, write, close = _CALLS
    try:
        descriptor = opened(_path, _APPEND, 0o600)
        try:
            write(descriptor, (text + "\n").encode())
        finally:
            close(descriptor)
    except OSError:  # the tests go on, and it stays unknown
        pass


def _note(number: int, *value: Any) -> Any:
    """Note that a line is run, or how a condition turns out, which is returned."""
    if not value:
        if number not in _seen:
            _seen.add(number)
            _write(f'{{"hit": {number}}}')
        return None
    try:
        key = (number, bool(value[0]))
        if key not in _seen:
            _seen.add(key)
            _write(f'{{"hit": {number}, "is": {str(key[1]).lower()}}}')
    except Exception:  # noqa: BLE001, S110 - what cannot be asked whether it is true stays unknown
        pass
    return value[0]


class _Probes(ast.NodeTransformer):
    """Puts a call before each added statement, and one around each condition that is followed."""

    def __init__(self, lines: Iterable[int], conditions: Iterable[list[int]]) -> None:
        self.lines, self.conditions = frozenset(lines), {tuple(each) for each in conditions}
        self.probes: list[tuple[str, list[int]]] = []
        self.first = _count[0]

    def _call(self, at: Any, kind: str, where: list[int], *more: Any) -> Any:
        self.probes.append((kind, where))
        number = self.first + len(self.probes) - 1
        call = ast.Call(ast.Name(_NAME, ast.Load()), [ast.Constant(number), *more], [])
        return ast.copy_location(call, at)

    def generic_visit(self, node: Any) -> Any:
        """Return a node with all that is to be noted in it."""
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, self._body(value, holder=node))
            elif isinstance(value, list):
                value[:] = [self.visit(each) if isinstance(each, ast.AST) else each for each in value]
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        place = tuple(getattr(node, key, 0) for key in ("lineno", "col_offset", "end_lineno", "end_col_offset"))
        if isinstance(node, ast.expr) and place in self.conditions:
            self.conditions.discard(place)
            return self._call(node, "condition", list(place), node)
        return node

    def _body(self, statements: list[Any], holder: Any) -> list[Any]:
        stretches: list[Any] = []
        open_probe: list[int] | None = None
        may_describe = isinstance(holder, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        for position, each in enumerate(statements):
            text = getattr(getattr(each, "value", None), "value", None) if isinstance(each, ast.Expr) else None
            described = may_describe and position == 0 and isinstance(text, str)
            if described or isinstance(each, _FIXED) or each.lineno not in self.lines:
                open_probe = None
            elif open_probe is None:
                call = self._call(each, "lines", [each.lineno])
                stretches.append(ast.copy_location(ast.Expr(call), each))
                open_probe = self.probes[-1][1]
            else:
                open_probe.append(each.lineno)
            if not isinstance(each, _SIMPLE):
                open_probe = None
            stretches.append(self.visit(each))
        return stretches


def with_probes(path: str, name: str, data: bytes) -> CodeType:
    """Return the code of a file with all that is to be noted in it. Raises what compiling it raises."""
    tree = compile(data, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    asked = _settings["files"][name]
    probes = _Probes(asked["lines"], asked["conditions"])
    tree = ast.fix_missing_locations(probes.visit(tree))
    code: CodeType = compile(tree, path, "exec", dont_inherit=True)
    _count[0] += len(probes.probes)
    _write(json.dumps({"file": name, "first": probes.first, "probes": probes.probes}))
    return code


setattr(builtins, _NAME, _note)
