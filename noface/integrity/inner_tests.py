"""Tests inside source files: the change's code with main's tests, so that main's tests judge it.

They are Rust's test modules, what a C file has between `#ifdef …TEST…` and its `#endif`, and the examples in
documentation that doctest and rustdoc run. CMake's files say what CTest runs, and what that has to print. Of the
examples, only what both have is compared: one that is gone is missed by its id, and a new one judges nothing of main's.
"""

import ast
import re
from collections.abc import Iterator

from noface.integrity.lexing import python_tree

RUST, PYTHON = ".rs", ".py"
_DOC = re.compile(r"(?:^[ \t]*//[/!][^\n]*\n)+", re.MULTILINE)
_ITEM = re.compile(r"(?:[ \t]*(?:#\[[^\n]*|//[^\n]*)?\n)*(?P<item>[^\n{;=]*)")
_Documentation = dict[str, tuple[int, int, str]]


def with_main_examples(path: str, main: str, change: str) -> str | None:
    """Return the change's source with main's documentation where examples differ; None if none does, or none shows.

    A text that cannot be parsed has no examples.
    """
    find = _python if path.endswith(PYTHON) else _rust if path.endswith(RUST) else None
    if find is None or (marks := ">>>" if path.endswith(PYTHON) else "```") not in main:
        return None
    old, new = find(main), find(change)
    raw = change.encode()
    differing = [
        (start, end, old[name][2])
        for name, (start, end, text) in new.items()
        if name in old and marks in old[name][2] and _run(old[name][2], marks) != _run(text, marks)
    ]
    for start, end, theirs in sorted(differing, reverse=True):
        raw = raw[:start] + theirs.encode() + raw[end:]
    return raw.decode() if differing else None


def _run(text: str, marks: str) -> tuple[str, ...]:
    """Return what is run of a documentation: the lines from each example's first to the blank line or fence behind."""
    inside, run = False, []
    for line in text.splitlines():
        words = line.strip().removeprefix("///").removeprefix("//!").strip()
        if marks == "```":
            if words.startswith(marks):
                inside = not inside
                run.append(words)
            elif inside:
                run.append(words)
            continue
        inside = bool(words) and (inside or words.startswith(marks))
        if inside:
            run.append(words)
    return tuple(run)


def _python(text: str) -> _Documentation:
    """Return the docstrings by what they describe, as places in the encoded text and their source."""
    tree, raw = python_tree(text), text.encode()
    starts = [0]
    for line in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    result: _Documentation = {}
    pending: list[tuple[str, ast.AST]] = [("", tree)] if tree is not None else []
    while pending:
        name, node = pending.pop()
        body = getattr(node, "body", None)
        if not isinstance(body, list) or not body:
            continue
        first = body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            value = first.value
            start = starts[value.lineno - 1] + value.col_offset
            end = starts[(value.end_lineno or value.lineno) - 1] + (value.end_col_offset or 0)
            result[name] = (start, end, raw[start:end].decode())
        named = (n for n in body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))
        pending += [(f"{name}.{each.name}", each) for each in named]
    return result


def _rust(text: str) -> _Documentation:
    """Return the documentation by the item behind it and how often such a one stood before."""
    result: _Documentation = {}
    seen: dict[str, int] = {}
    for doc in _DOC.finditer(text):
        item = _ITEM.match(text, doc.end())
        name = "module" if "//!" in doc[0].split("\n", 1)[0] else " ".join(item["item"].split()) if item else ""
        seen[name] = seen.get(name, 0) + 1
        start = len(text[: doc.start()].encode())
        result[f"{name} {seen[name]}"] = (start, start + len(doc[0].encode()), doc[0])
    return result


_MODULE = re.compile(
    r"^[ \t]*#\[cfg\((?:test|all\(test[^\]\n]*)\)\][^\n]*\n(?:[ \t]*#\[[^\n]*\n){0,20}[ \t]*mod\s+(?P<name>\w+)\s*\{",
    re.MULTILINE,
)
# What may hold braces that open nothing: strings, raw strings, characters, comments.
_OPAQUE = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|r(?P<hashes>#*)".*?(?:"(?P=hashes)|\Z)|"(?:\\.|[^"\\])*+"?|\'(?:\\.[^\']*|[^\'\\])\'|[{}]',
    re.DOTALL,
)
_C = (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".m")
# The condition holds a word of its own for tests; `NTEST` or `LATEST` is none.
_CONDITION = re.compile(
    r"^[ \t]*#[ \t]*if(?:def\b|[ \t]+defined\b)[ \t(]*"
    r"(?P<name>(?:\w+_)?(?:(?:UNIT)?TESTS?(?:_\w+|ING)?|SELFTEST(?:_\w+)?))\b[^\n]*\n",
    re.MULTILINE,
)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?P<word>if|else|elif|endif)\w*[^\n]*(?:\n|\Z)", re.MULTILINE)
_Blocks = dict[str, tuple[int, str]]
_CMAKE = ("CMakeLists.txt", ".cmake")
_COMMAND = re.compile(
    r"^[ \t]*(?:(?:add_test|set_tests_properties)\s*\(|set_property\s*\(\s*TEST\b)"
    r"[^()]*(?:\([^()]*\)[^()]*){0,20}\)[^\n]*\n",
    re.MULTILINE | re.IGNORECASE,
)
HOLDERS = (RUST, PYTHON, *_C, *_CMAKE)
"""How the names of files end that may hold tests beside the product."""


MARKS = (">>> ", "#[cfg(", "/// ```", "//! ```", "TEST")
"""One of these stands in each source with tests inside."""


def inner_spans(path: str, text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield where the tests inside a source begin and end, and whether they are examples in its documentation."""
    blocks = _modules(text) if path.endswith(RUST) else _conditional(text) if path.endswith(_C) else None
    for start, block in (blocks or {}).values():
        yield start, start + len(block), False
    documented = _python(text) if path.endswith(PYTHON) else _rust(text) if path.endswith(RUST) else {}
    raw = text.encode()
    for begin, _, block in documented.values():
        start = len(raw[:begin].decode())
        if ">>>" in block or "```" in block:
            yield start, start + len(block), True


def with_main_tests(path: str, main: str, change: str) -> str | None:
    """Return the change's source with the tests of main's; None if they are the same, or cannot be found.

    Tests that main does not have are taken out; those that the change has lost are put back at the end.
    """
    find = _modules if path.endswith(RUST) else _conditional if path.endswith(_C) else None
    find = _commands if path.endswith(_CMAKE) else find
    tested = _with_blocks(find(main), find(change), change) if find is not None else None
    return with_main_examples(path, main, tested or change) or tested


def _with_blocks(old: _Blocks | None, new: _Blocks | None, change: str) -> str | None:
    if old is None or new is None or {n: t for n, (_, t) in old.items()} == {n: t for n, (_, t) in new.items()}:
        return None
    made, shift = change, 0
    for name, (start, text) in sorted(new.items(), key=lambda item: item[1][0]):
        theirs = old[name][1] if name in old else ""
        place = start + shift
        made = made[:place] + theirs + made[place + len(text) :]
        shift += len(theirs) - len(text)
    lost = [text for name, (_, text) in old.items() if name not in new]
    return "\n\n".join((made, *lost)) if lost else made


def _modules(text: str) -> _Blocks | None:
    """Return the test modules by name, with where they begin and their whole text; None if one does not end."""
    result = {}
    for head in _MODULE.finditer(text):
        end = _end(text, head.end())
        if end is None:
            return None
        result[head["name"]] = (head.start(), text[head.start() : end])
    return result


def _end(text: str, start: int) -> int | None:
    depth = 1
    for token in _OPAQUE.finditer(text, start):
        if token[0] == "{":
            depth += 1
        elif token[0] == "}":
            depth -= 1
            if depth == 0:
                return token.end()
    return None


def _commands(text: str) -> _Blocks:
    """Return CMake's commands that say what is a test, by what stands before what they run or ask for."""
    result: _Blocks = {}
    for command in _COMMAND.finditer(text):
        words = re.split(r"\b(?:COMMAND|PROPERTIES|PROPERTY)\b", command[0])[0].split()
        name = " ".join(words).lower()
        result[f"{name} {sum(key.startswith(name) for key in result)}"] = (command.start(), command[0])
    return result


def _conditional(text: str) -> _Blocks | None:
    """Return what is compiled for tests only, by its condition and how often that stood before; None as above.

    What has an `#else` is left out: that is the product.
    """
    result: _Blocks = {}
    seen: dict[str, int] = {}
    at = 0
    while head := _CONDITION.search(text, at):
        end, whole = _endif(text, head.end())
        if not end:
            return None
        name = head["name"]
        seen[name] = seen.get(name, 0) + 1
        if whole:
            result[f"{name} {seen[name]}"] = (head.start(), text[head.start() : end])
        at = end
    return result


def _endif(text: str, start: int) -> tuple[int, bool]:
    """Return where the block ends, 0 if it does not, and whether it has no other branch."""
    depth, whole = 1, True
    for directive in _DIRECTIVE.finditer(text, start):
        if directive["word"] == "endif":
            depth -= 1
        elif directive["word"] == "if":
            depth += 1
        elif depth == 1:
            whole = False
        if depth == 0:
            return directive.end(), whole
    return 0, False
