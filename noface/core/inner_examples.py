"""Examples in documentation that are run as tests (doctest, rustdoc): the change's code with main's examples.

Only what both have is compared: an example that is gone is missed by its id, and a new one judges nothing of main's.
"""

import ast
import re
import warnings

RUST, PYTHON = ".rs", ".py"
_DOC = re.compile(r"(?:^[ \t]*//[/!][^\n]*\n)+", re.MULTILINE)
_ITEM = re.compile(r"(?:[ \t]*(?:#\[[^\n]*|//[^\n]*)?\n)*(?P<item>[^\n{;=]*)")
_Found = dict[str, tuple[int, int, str]]


def with_main_examples(path: str, main: str, change: str) -> str | None:
    """Return the change's source with main's documentation where examples differ; None where none does, or none shows.

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
    inside, found = False, []
    for line in text.splitlines():
        words = line.strip().removeprefix("///").removeprefix("//!").strip()
        if marks == "```":
            if words.startswith(marks):
                inside = not inside
                found.append(words)
            elif inside:
                found.append(words)
            continue
        inside = bool(words) and (inside or words.startswith(marks))
        if inside:
            found.append(words)
    return tuple(found)


def _python(text: str) -> _Found:
    """Return the docstrings by what they describe, as places in the encoded text and their source."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the project's escapes, say
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    raw = text.encode()
    starts = [0]
    for line in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: _Found = {}
    pending: list[tuple[str, ast.AST]] = [("", tree)]
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
            found[name] = (start, end, raw[start:end].decode())
        named = (n for n in body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))
        pending += [(f"{name}.{each.name}", each) for each in named]
    return found


def _rust(text: str) -> _Found:
    """Return the documentation by the item behind it and how often such a one stood before."""
    found: _Found = {}
    seen: dict[str, int] = {}
    for doc in _DOC.finditer(text):
        item = _ITEM.match(text, doc.end())
        name = "module" if "//!" in doc[0].split("\n", 1)[0] else " ".join(item["item"].split()) if item else ""
        seen[name] = seen.get(name, 0) + 1
        start = len(text[: doc.start()].encode())
        found[f"{name} {seen[name]}"] = (start, start + len(doc[0].encode()), doc[0])
    return found
