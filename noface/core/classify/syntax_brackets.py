"""Finds brackets that do not match, with tree-sitter's grammars (the extra `syntax`).

A grammar can be older than the language, and lets few projects' dialects through. So a tree with errors alone is no
finding: it must also hold a bracket that nothing closes or opens, which no version of these languages allows. C and
its kin are left out, since the preprocessor may take one of the two away.
"""

from importlib import import_module
from typing import Any

GRAMMARS = {
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
}
_CLOSED_BY = {"(": ")", "[": "]", "{": "}", "${": "}"}
_CLOSERS = frozenset(_CLOSED_BY.values())
_FLOW_WITHIN = 2_000


def check_brackets(language: str, data: bytes) -> tuple[int, str] | None:
    """Return line and message of a bracket without its other half; None where all match or there is no grammar."""
    parser = _parser(language)
    if parser is None or (language == "javascript" and b"@flow" in data[:_FLOW_WITHIN]):
        return None
    root = parser.parse(data).root_node
    return _unmatched(root, data) if root.has_error else None


def _parser(language: str) -> Any:
    """Return a parser, None where the extra is not installed, or its parts do not fit each other."""
    package, function = GRAMMARS[language]
    try:
        library: Any = import_module("tree_sitter")
        return library.Parser(library.Language(getattr(import_module(package), function)()))
    except (ImportError, AttributeError, ValueError, TypeError):
        return None


def _unmatched(root: Any, data: bytes) -> tuple[int, str] | None:
    open_ones: list[tuple[str, int]] = []
    for mark, line in _marks(root, data):
        if mark not in _CLOSERS:
            open_ones.append((mark, line))
        elif not open_ones:
            return line, f"unmatched '{mark}'"
        else:
            opened, at = open_ones.pop()
            if _CLOSED_BY[opened] != mark:
                return line, f"closing '{mark}' does not match opening '{opened}' on line {at}"
    if open_ones:
        mark, line = open_ones[-1]
        return line, f"'{mark}' was never closed"
    return None


def _marks(root: Any, data: bytes) -> list[tuple[str, int]]:
    """Return the brackets with their lines, in order: those that are tokens, not those in strings and comments."""
    found: list[tuple[str, int]] = []
    cursor = root.walk()
    while True:
        node = cursor.node
        if node.child_count == 0 and not node.is_missing:
            line = node.start_point[0] + 1
            if node.type in _CLOSED_BY or node.type in _CLOSERS:
                found.append((node.type, line))
            elif node.type == "ERROR":  # what the grammar could not even cut into tokens
                text = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
                found += [(mark, line) for mark in text if mark in _CLOSED_BY or mark in _CLOSERS]
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found
