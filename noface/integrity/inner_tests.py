"""Tests inside source files of Rust, C and CMake: the change's code with main's tests, so that main's judge it."""

import re
from collections import Counter
from collections.abc import Callable
from functools import partial

from noface.data import pattern

_known = partial(pattern, "integrity", "inner_tests")
_C = (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".m")
_RUST = ".rs"
_Blocks = dict[str, tuple[int, str]]
_CMAKE = ("CMakeLists.txt", ".cmake")
HOLDERS = (_RUST, *_C, *_CMAKE)
"""How the names of files end that may hold tests beside the product."""


def with_main_tests(path: str, main: str, change: str) -> str | None:
    """Return the change's source with the tests of main's; None if they are the same, or cannot be found.

    Tests that main does not have are taken out; those that the change has lost are put back at the end.
    """
    find = next((find for ends, find in _FINDERS if path.endswith(ends)), None)
    old, new = (find(main), find(change)) if find is not None else (None, None)
    if old is None or new is None or {n: t for n, (_, t) in old.items()} == {n: t for n, (_, t) in new.items()}:
        return None
    made, shift = change, 0
    for name, (start, text) in sorted(new.items(), key=lambda item: item[1][0]):
        theirs = old[name][1] if name in old else ""
        place = start + shift
        made = made[:place] + theirs + made[place + len(text) :]
        shift += len(theirs) - len(text)
    return "\n\n".join((made, *(text for name, (_, text) in old.items() if name not in new)))


def _modules(text: str) -> _Blocks | None:
    result: _Blocks = {}
    for head in _known("module", re.MULTILINE).finditer(text):
        depth, end = 1, 0
        for token in _known("opaque", re.DOTALL).finditer(text, head.end()):
            depth += (token[0] == "{") - (token[0] == "}")
            if depth == 0:
                end = token.end()
                break
        if not end:
            return None
        result[head["name"]] = (head.start(), text[head.start() : end])
    return result


def _commands(text: str) -> _Blocks:
    result: _Blocks = {}
    for command in _known("command", re.MULTILINE | re.IGNORECASE).finditer(text):
        name = " ".join(re.split(r"\b(?:COMMAND|PROPERTIES|PROPERTY)\b", command[0])[0].split()).lower()
        result[f"{name} {sum(key.startswith(name) for key in result)}"] = (command.start(), command[0])
    return result


def _conditional(text: str) -> _Blocks | None:
    """Return what is compiled for tests only, by its condition and how often that stood before.

    What has an `#else` is left out: that is the product.
    """
    result: _Blocks = {}
    seen = Counter[str]()
    at = 0
    while head := _known("condition", re.MULTILINE).search(text, at):
        depth, whole, start, at = 1, True, head.start(), 0
        for directive in _known("directive", re.MULTILINE).finditer(text, head.end()):
            whole = whole and (depth > 1 or directive["word"] in ("if", "endif"))
            depth += (directive["word"] == "if") - (directive["word"] == "endif")
            if depth == 0:
                at = directive.end()
                break
        if not at:
            return None
        seen[head["name"]] += 1
        if whole:
            result[f"{head['name']} {seen[head['name']]}"] = (start, text[start:at])
    return result


_FINDERS: tuple[tuple[tuple[str, ...], Callable[[str], _Blocks | None]], ...] = (
    ((_RUST,), _modules),
    (_C, _conditional),
    (_CMAKE, _commands),
)
