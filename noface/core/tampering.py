"""Finds weakened tests in a diff (law 11): deleted, fewer assertions, newly skipped or focused.

It reads the patch as text, by the forms the common test frameworks share; a moved test counts as removed in one
file and added in another, so only the balance over all test files is held against the change.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from noface.core.model import FileChange

_TEST_PATH = re.compile(
    r"(^|/)(tests?|spec|specs|__tests__|testing|acceptance)/|(^|/)(test_[^/]*|conftest)\.py$"
    r"|[._-](test|tests|spec)\.[A-Za-z0-9]+$|(^|/)[A-Z]\w*Tests?\.(java|kt|cs|swift|scala)$"
)
_CODE = re.compile(
    r"\.(py|js|jsx|ts|tsx|mjs|cjs|rs|go|java|kt|cs|rb|php|exs?|erl|c|cc|cpp|h|hpp|swift|scala|hs|sh|lua)$"
)
_TEST_CASE = re.compile(
    r"^\s*(async\s+)?def\s+test\w*\s*\(|^\s*func\s+Test\w*\s*\(|#\[(tokio::)?test\]|^\s*@Test\b"
    r"|^\s*(it|test|specify|scenario)\s*[(\"']|^\s*test\s+\"|^\s*(public\s+)?function\s+test\w*\s*\(|\bTEST(_F|_P)?\s*\("
)
_ASSERTION = re.compile(
    r"\bassert\w*[!(\s.]|\.assert\w*\(|\bexpect\w*\s*\(|\bself\.(assert|fail)\w*\(|\bt\.(Error|Fatal|Fail)\w*\("
    r"|\brequire\.\w+\(|\bshould\b|\bpytest\.raises\b|\bEXPECT_\w+\(|\bASSERT_\w+\("
)
_SKIP = re.compile(
    r"@?pytest\.mark\.(skip|skipif|xfail)\b|\bpytest\.(skip|xfail)\s*\(|@unittest\.(skip|expectedFailure)|\bself\.skipTest\("
    r"|\b(it|test|describe|context)\.(skip|only|todo|failing)\b|^\s*(xit|xdescribe|xtest|fit|fdescribe)\s*\("
    r"|#\[ignore|@Disabled\b|@Ignore\b|\bt\.Skip\w*\(|\bmarkTestSkipped\(|@tag\s+:skip"
)


@dataclass(slots=True)
class _Balance:
    """Lines removed less lines added, over all test files."""

    cases: int = 0
    assertions: int = 0
    skips: int = 0


def is_test_file(path: str) -> bool:
    """Tell whether a path looks like a file of tests."""
    return _TEST_PATH.search(path) is not None and _CODE.search(path) is not None


def weakened_tests(changes: tuple[FileChange, ...], patch: str) -> tuple[str, ...]:
    """Return what was weakened, each as a short phrase; empty where nothing was."""
    tests = {change.path: change for change in changes if is_test_file(change.path)}
    if not tests:
        return ()
    balance = _Balance()
    for path, sign, text in _changed_lines(patch):
        if path not in tests:
            continue
        step = 1 if sign == "-" else -1
        balance.cases += step * bool(_TEST_CASE.search(text))
        balance.assertions += step * bool(_ASSERTION.search(text))
        balance.skips -= step * bool(_SKIP.search(text))
    found = []
    if balance.cases > 0:
        gone = [path for path, change in tests.items() if change.status == "D"]
        where = f" ({', '.join(gone)} deleted)" if gone else ""
        found.append(f"{balance.cases} test(s) removed{where}")
    if balance.assertions > 0:
        found.append(f"{balance.assertions} assertion(s) fewer")
    if balance.skips > 0:
        found.append(f"{balance.skips} test(s) newly skipped, focused or expected to fail")
    return tuple(found)


def _changed_lines(patch: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, sign and text of each changed line of a git patch."""
    old = new = ""
    in_hunk = False
    for line in patch.splitlines():
        if line.startswith("diff --git "):
            old = new = ""
            in_hunk = False
        elif not in_hunk and line.startswith("--- "):
            old = _named(line[4:])
        elif not in_hunk and line.startswith("+++ "):
            new = _named(line[4:])
        elif line.startswith("@@ "):
            in_hunk = True
        elif in_hunk and line[:1] in ("+", "-"):
            yield (new or old), line[0], line[1:]


def _named(field: str) -> str:
    name = field.rstrip("\t").strip('"')
    return "" if name == "/dev/null" else name[2:]
