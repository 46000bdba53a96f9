"""Minimal text edits at the positions of syntax nodes, so that the rest of a file stays as its author wrote it."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the bytes [start, end) of a file by `new`. `weight` is the operator's prior, above 0, at most 1."""

    path: str
    start: int
    end: int
    new: bytes
    operator: str
    line: int
    weight: float

    def clashes(self, other: "Edit") -> bool:
        """Return True where both edits touch the same bytes of the same file."""
        return self.path == other.path and self.start < other.end and other.start < self.end


def apply(texts: dict[str, bytes], edits: Iterable[Edit]) -> dict[str, bytes]:
    """Return the files that change, with their new text. Edits must not clash."""
    changed: dict[str, bytes] = {}
    for edit in sorted(edits, key=lambda e: (e.path, -e.start)):
        text = changed.get(edit.path, texts[edit.path])
        changed[edit.path] = text[: edit.start] + edit.new + text[edit.end :]
    return changed


def describe(edit: Edit, text: bytes) -> str:
    """One line for a person: where, the line before and after, and by which operator."""
    first = text.rfind(b"\n", 0, edit.start) + 1
    last = text.find(b"\n", edit.end) % (len(text) + 1)
    old = text[first:last]
    new = text[first : edit.start] + edit.new + text[edit.end : last]
    shown = [" ".join(part.decode("utf-8", "replace").split()) for part in (old, new)]
    return f"{edit.path}:{edit.line}: `{shown[0]}` -> `{shown[1]}` ({edit.operator})"


class Source:
    """A parsed file: syntax nodes with their byte positions, parents and texts.

    Raises SyntaxError or ValueError where the file is not Python or not UTF-8.
    """

    def __init__(self, path: str, data: bytes) -> None:
        data.decode("utf-8")
        self.path = path
        self.data = data
        self._bom = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        self.tree = ast.parse(data)
        self._starts = [self._bom]
        for line in data[self._bom :].splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
        self._first_lines = _first_lines(self.tree)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the bytes [start, end) of a node, without parentheses around it."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[end_line - 1] + end_column

    def text(self, node: ast.expr | ast.stmt) -> bytes:
        """Return a node's text."""
        start, end = self.span(node)
        return self.data[start:end]

    @property
    def line_count(self) -> int:
        """How many lines the file has."""
        return len(self._starts)

    @cached_property
    def constants(self) -> list[ast.Constant]:
        """The constants worth borrowing."""
        return [node for node in self.repairable_nodes() if isinstance(node, ast.Constant)]

    def line_start(self, line: int) -> int:
        """Return the offset of a line, counted from 1."""
        return self._starts[line - 1]

    def first_line(self, line: int) -> int:
        """Return the first line of the statement, or of the header of the block, that a line belongs to."""
        return self._first_lines.get(line, line)

    def enclosing_function(self, node: ast.AST) -> FunctionNode | None:
        """Return the innermost function around a node."""
        above = self.parents.get(node)
        while above is not None and not isinstance(above, FunctionNode):
            above = self.parents.get(above)
        return above

    def repairable_nodes(self) -> Iterator[ast.AST]:
        """Nodes worth editing, in the order of the text.

        Not docstrings, annotations, decorators, imports, nor the inside of f-strings, whose positions Python 3.11
        gets wrong.
        """
        yield from _walk(self.tree)


def _first_lines(tree: ast.Module) -> dict[int, int]:
    lines: dict[int, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            lines.update(dict.fromkeys(range(node.lineno, max(end, node.lineno) + 1), node.lineno))
    return lines


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Global | ast.Nonlocal):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_docstring(node, child):
                yield from _walk(child)


def _is_docstring(parent: ast.AST, node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        and isinstance(parent, ast.Module | ast.ClassDef | FunctionNode)
    )
