"""Shell scripts of CI for one combination of a matrix: settled conditions are left out, known values put in."""

import re
import shlex
from collections.abc import Iterator

_IF = re.compile(r"^(?P<word>if|elif)\s+(?P<test>.*?)\s*(;\s*then)?$")
_ASSIGNMENT = re.compile(r"^(?:export\s+)?([A-Za-z_]\w*)=(\"[^\"$`]*\"|'[^'$`]*'|[\w./+:=-]*)$")
_USED = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def settled(script: str) -> str:
    """Return a script without conditions that compare what is written out; as it is where another one is in it."""
    lines = [line.strip() for line in script.replace("\\\n", " ").split("\n")]
    if not any(_IF.match(line) for line in lines):
        return script
    try:
        return "\n".join(_branches(lines))
    except ValueError:
        return script


def _branches(lines: list[str]) -> Iterator[str]:
    """Yield the lines that run. Raise ValueError where that can't be told."""
    # Of each condition that is open: whether its branch runs, and whether one of its branches has been found.
    open_: list[tuple[bool, bool]] = []
    values: dict[str, str] = {}
    for line in lines:
        runs = all(branch for branch, _ in open_)
        if condition := _IF.match(line):
            found = open_.pop()[1] if condition["word"] == "elif" and open_ else False
            outer = all(branch for branch, _ in open_)
            holds = outer and not found and _holds(filled_in(condition["test"], values))
            open_.append((holds, found or holds))
        elif line == "else" and open_:
            found = open_.pop()[1]
            open_.append((not found, True))
        elif line == "fi" and open_:
            open_.pop()
        elif runs and line != "then":
            filled = filled_in(line, values)
            values |= assigned(filled)
            yield filled
    if open_:
        raise ValueError("a condition without an end")


def assigned(line: str) -> dict[str, str]:
    """Return the variable that a line sets to what is written out there, if it does."""
    found = _ASSIGNMENT.match(line)
    return {found[1]: found[2].strip("\"'")} if found else {}


def filled_in(line: str, values: dict[str, str]) -> str:
    """Return a line with the values that are known in the place of their variables."""
    return _USED.sub(lambda match: values.get(match[1] or match[2], match[0]), line)


def _holds(test: str) -> bool:
    if re.search(r"[$`;&|(]", test):
        raise ValueError(test)
    match shlex.split(test):
        case ["[" | "[[", one, "=" | "==", other, "]" | "]]"]:
            return one == other
        case ["[" | "[[", one, "!=", other, "]" | "]]"]:
            return one != other
        case ["[" | "[[", ("-n" | "-z") as asks, one, "]" | "]]"]:
            return bool(one) == (asks == "-n")
        case _:
            raise ValueError(test)
