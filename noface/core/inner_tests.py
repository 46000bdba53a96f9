"""Tests inside source files (Rust): the change's code with main's test modules, so that main's tests judge it."""

import re

_HEAD = re.compile(
    r"^[ \t]*#\[cfg\((?:test|all\(test[^\]]*)\)\][^\n]*\n(?:[ \t]*#\[[^\n]*\n)*[ \t]*mod\s+(?P<name>\w+)\s*\{",
    re.MULTILINE,
)
# What may hold braces that open nothing: strings, raw strings, characters, comments.
_OPAQUE = re.compile(
    r'//[^\n]*|/\*.*?\*/|r(?P<hashes>#*)".*?"(?P=hashes)|"(?:\\.|[^"\\])*"|\'(?:\\.[^\']*|[^\'\\])\'|[{}]', re.DOTALL
)


def with_main_tests(main: str, change: str) -> str | None:
    """Return the change's source with the test modules of main's; None where they are the same, or cannot be found.

    A module that main does not have is taken out; one that the change has lost is put back at the end.
    """
    old, new = _modules(main), _modules(change)
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


def _modules(text: str) -> dict[str, tuple[int, str]] | None:
    """Return the test modules by name, with where they begin and their whole text; None where one does not end."""
    found = {}
    for head in _HEAD.finditer(text):
        end = _end(text, head.end())
        if end is None:
            return None
        found[head["name"]] = (head.start(), text[head.start() : end])
    return found


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
