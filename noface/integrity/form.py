"""Tells a change of a file's form from one of what it says: by Python's own tree, elsewhere by ends of lines. Pure.

Blanks say something in one language or another, such as in `rm -rf $BUILD /` and in YAML; comments stand in no tree.
"""

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from contextlib import suppress

from noface.data import pattern

_NAME = "noface-reformatted-source"
_UNREADABLE = (ValueError, SyntaxError, RecursionError, MemoryError, OverflowError, tokenize.TokenError)
_PYTHON = (".py", ".pyi")
_LAID_OUT = frozenset(",;()")
_COMMENT = re.compile(r"\s*(//|/\*|\*(\s|/|$)|$)")


def same_but_for_form(path: str, old: bytes, new: bytes) -> bool:
    """True if two contents of a file say the same. False for what is no text, or cannot be read."""
    if b"\0" in old or b"\0" in new:
        return False
    if old.replace(b"\r\n", b"\n") == new.replace(b"\r\n", b"\n"):
        return True
    if not path.lower().endswith(_PYTHON):
        return False
    try:
        before, after = old.decode("utf-8-sig"), new.decode("utf-8-sig")
        return _tree(before) == _tree(after) and [*_signs(before)] == [*_signs(after)]
    except _UNREADABLE:
        return False


def same_but_for_comments(path: str, old: bytes, new: bytes) -> bool:
    """True if two contents of code differ in docstrings, and in comments that have lines for themselves, at most."""
    if pattern("integrity", "form", "commented").search(path) is None:
        return False
    before, after = old.decode("utf-8-sig", "replace"), new.decode("utf-8-sig", "replace")
    if not path.lower().endswith(_PYTHON):
        return _code(before) == _code(after)
    try:
        return _tree(before, documented=False) == _tree(after, documented=False)
    except _UNREADABLE:
        return False


def _tree(text: str, *, documented: bool = True) -> str:
    warnings.filterwarnings("ignore", module=_NAME)
    tree = parsed(text, f"{_NAME}.py")
    for node in () if documented else ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            if ast.get_docstring(node) is not None:
                node.body.pop(0)
            node.body.insert(0, ast.Pass())
    return ast.dump(tree)


def _signs(text: str) -> Iterator[str | tuple[str, bool]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.rstrip(), bool(token.line[: token.start[1]].strip())
        elif token.type == tokenize.NAME or (token.type == tokenize.OP and token.string not in _LAID_OUT):
            yield token.string


def _code(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if not _COMMENT.match(line)]


_TRIES = 20


def parsed(text: str, name: str = "<unknown>") -> ast.Module:
    """Return the syntax tree of Python code, as `ast.parse` does; in several threads at once.

    Up to Python 3.11.7 and 3.12.1 they share a counter (python/cpython#106905): one in another's way tries anew.
    """
    for _ in range(_TRIES):
        with suppress(SystemError):
            return ast.parse(text, name)
    return ast.parse(text, name)


def python_tree(text: str) -> ast.Module | None:
    """Return the syntax tree of Python code, None of what does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the project's escapes, say
            return parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def string_lines(text: str) -> frozenset[str]:
    """Return the lines of Python code, stripped, that lie in strings of several lines, as examples in docstrings do."""
    tree, rows = python_tree(text), text.split("\n")
    nodes = ast.walk(tree) if tree is not None else ()
    strings = (node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return frozenset(row.strip() for node in strings for row in rows[node.lineno : node.end_lineno])
