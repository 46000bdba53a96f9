"""Tells which imports are meant to be there though their module does not use them. Pure.

An unused import of the project's own code hides nothing wrong: it is there for others, as in an `__init__.py`, or for
what the module does when it is loaded. So is one that asks whether a library is there. What excuses such a line from
the rule of unused imports, and from no other rule, is none that anybody has to be asked about.
"""

import ast
import re
from collections.abc import Collection, Iterator
from posixpath import dirname

from noface.integrity.lexing import python_tree

_OF_UNUSED = re.compile(
    r"#\s*(?:noqa:\s*F401|pylint:\s*disable=(?:W0611|unused-import)|flake8:\s*noqa:\s*F401)", re.IGNORECASE
)
_NOT_THERE = frozenset({"ImportError", "ModuleNotFoundError"})


def excuses_unused_import(kind: str) -> bool:
    """True if an excuse names the rule of unused imports, and nothing else."""
    return _OF_UNUSED.fullmatch(kind) is not None


def meant_imports(path: str, text: str, tree: Collection[str]) -> frozenset[int]:
    """Return the lines, counted from 1, of imports that are there for others, for their effect, or as a probe.

    `tree` are the paths of the project.
    """
    module = python_tree(text)
    if module is None:
        return frozenset()
    probes = {id(node) for probe in ast.walk(module) if _is_probe(probe) for node in ast.walk(probe)}
    nodes = (node for node in ast.walk(module) if isinstance(node, (ast.Import, ast.ImportFrom)))
    meant = (node for node in nodes if id(node) in probes or any(place in tree for place in _places(path, node)))
    return frozenset(line for node in meant for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _is_probe(node: ast.AST) -> bool:
    """True if a statement tries something that may not be installed."""
    if not isinstance(node, ast.Try):
        return False
    caught = (each for handler in node.handlers if handler.type is not None for each in ast.walk(handler.type))
    return any(isinstance(each, ast.Name) and each.id in _NOT_THERE for each in caught)


def _places(path: str, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Yield the paths of the project at which what is imported may stand."""
    if isinstance(node, ast.ImportFrom) and node.level:
        folder = path
        for _ in range(node.level):
            folder = dirname(folder)
        folders = [folder]
    else:
        folders = [dirname(path)]
        while folders[-1]:
            folders.append(dirname(folders[-1]))
    modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    names = [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
    for folder in folders:
        for module in modules:
            place = "/".join(part for part in (folder, *module.split(".")) if part)
            inner = f"{place}/" if place else ""
            yield from (f"{place}.py", f"{inner}__init__.py", *(f"{inner}{name}.py" for name in names))
