"""Tests inside source files: the change's code with main's tests, so that main's tests judge it.

They are Rust's test modules, and what a C file has between `#ifdef …TEST…` and its `#endif`. CMake's files say what
CTest runs, and what that has to print.
"""

import re

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
_RUST = ".rs"
_Blocks = dict[str, tuple[int, str]]
_CMAKE = ("CMakeLists.txt", ".cmake")
_COMMAND = re.compile(
    r"^[ \t]*(?:(?:add_test|set_tests_properties)\s*\(|set_property\s*\(\s*TEST\b)"
    r"[^()]*(?:\([^()]*\)[^()]*){0,20}\)[^\n]*\n",
    re.MULTILINE | re.IGNORECASE,
)
HOLDERS = (_RUST, *_C, *_CMAKE)
"""How the names of files end that may hold tests beside the product."""


def with_main_tests(path: str, main: str, change: str) -> str | None:
    """Return the change's source with the tests of main's; None if they are the same, or cannot be found.

    Tests that main does not have are taken out; those that the change has lost are put back at the end.
    """
    find = _modules if path.endswith(_RUST) else _conditional if path.endswith(_C) else None
    find = _commands if path.endswith(_CMAKE) else find
    return _with_blocks(find(main), find(change), change) if find is not None else None


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
