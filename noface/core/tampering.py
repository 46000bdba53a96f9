"""Finds weakened tests in a diff (law 11): deleted, fewer assertions, newly skipped or focused.

It reads the patch as text, by the forms the common test frameworks share; a moved test counts as removed in one
file and added in another, so only the balance over all test files is held against the change. An assertion that takes
the place of another is compared with it: what asked for a value must not ask for less. What it cannot see: an assertion
that was removed while another was added elsewhere.
"""

import re
from dataclasses import dataclass

from noface.core.attempt import FileChange
from noface.core.patch_lines import Line, changed_lines, shown

_TEST_PATH = re.compile(
    r"(^|/)(tests?|spec|specs|__tests__|testing|acceptance)/|(^|/)(test_[^/]*|conftest)\.py$"
    r"|[._-](test|tests|spec)\.[A-Za-z0-9]+$|(^|/)[A-Z]\w*Tests?\.(java|kt|cs|swift|scala)$"
    r"|^tests?(\.\w+)+$|(^|/)tests?\.(rs|c|cc|cpp)$"
)
_CODE = re.compile(
    r"\.(py|js|jsx|ts|tsx|mjs|cjs|rs|go|java|kt|cs|rb|php|exs?|erl|c|cc|cpp|h|hpp|swift|scala|hs|sh|lua)$"
)
_TEST_CASE = re.compile(
    r"^\s*(async\s+)?def\s+test\w*\s*\(|^\s*func\s+[Tt]est\w*\s*\(|#\[(tokio::)?test\]|^\s*@(Parameterized)?Test\b"
    r"|^\s*(it|test|specify|scenario)(\.each\b[^(\"']*+|\s*+)[(\"']|^\s*test\s+\"|^\s*(public\s+)?function\s+test\w*\s*\("
    r"|\bTEST(_F|_P|_CASE)?\s*\(|^\s*\[(Test|Fact|Theory)\b"
)
_ASSERTION = re.compile(
    r"\bassert\w*[!(\s.]|\.assert\w*\(|\bexpect\w*\s*\(|\bself\.(assert|fail)\w*\(|\bt\.(Error|Fatal|Fail)\w*\("
    r"|\brequire\.\w+\(|\.should\b|\bshould[A-Z]\w*|\bpytest\.raises\b|\bEXPECT_\w+\(|\bASSERT_\w+\("
)
_NO_ASSERTION = re.compile(
    r"^\s*(import|from|use)\s|^\s*require\s*[(\"']|^\s*(const|let|var)\b[^=]*=\s*require\("
    r"|\bassert\s+(True|1)\s*$|\bassertTrue\(True\)|\bassert!?\(true\)|\bexpect\(true\)\.to"
)
_COMMENT = re.compile(r"^\s*(#(?![\[!])|//|/\*|--)")
_FOCUS = re.compile(r"\b(it|test|describe|context)\.only\b|^\s*(fit|fdescribe|fcontext)\s*\(")
_SKIP_ABOVE = re.compile(
    r"@pytest\.mark\.(skip|skipif|xfail)\b|@unittest\.(skip|expectedFailure)|#\[ignore|@Disabled\b|@Ignore\b|@tag\s+:skip"
)
_SKIP = re.compile(
    r"\bpytest\.mark\.(skip|skipif|xfail)\b|\bpytest\.(skip|xfail|importorskip)\s*\(|@unittest\.(skip|expectedFailure)"
    r"|\bself\.skipTest\(|\b(it|test|describe|context)\.(skip|todo|failing)\b|^\s*(xit|xdescribe|xtest)\s*\("
    r"|#\[ignore|@Disabled\b|@Ignore\b|\bt\.Skip\w*\(|\bmarkTestSkipped\(|@tag\s+:skip"
)


@dataclass(slots=True)
class _Balance:
    """Lines removed less lines added, over all test files; `skips_new` are those of tests that are new themselves."""

    cases: int = 0
    cases_removed: int = 0
    cases_added: int = 0
    assertions: int = 0
    skips: int = 0
    skips_new: int = 0
    focused: int = 0


def is_code(path: str) -> bool:
    """Tell whether a path looks like a file of code."""
    return _CODE.search(path) is not None


def is_test_file(path: str) -> bool:
    """Tell whether a path looks like a file of tests."""
    return _TEST_PATH.search(path) is not None and _CODE.search(path) is not None


# What an assertion asks for, the most exact first; without any of them it asks whether something is there.
_EXACT = re.compile(
    r"[=!]==?(?!=)|\b(assert_?(Equals?|Count_?Equal|List_?Equal|Dict_?Equal|Same|Is|eq|ne|matches)!?|assertEquals?)\b"
    r"|\.(toBe|toEqual|toStrictEqual|toHaveLength|toMatch(Inline)?Snapshot|equals?|eql|deep|strict\w*|is)\("
    r"|\.(not)?(deep|same|loose)(Strict)?(Equals?|Equivalent)?\(|\.not(Strict)?(Equals?|Same)\(|\.(throws|rejects)\w*\("
    r"|(?<!\.not)\.toThrow\w*\("
    r"|\b(EXPECT|ASSERT)_(EQ|STREQ|FLOAT_EQ|DOUBLE_EQ|THROW)\b|\bassert_(eq|ne)!|\bEqual\w*\(|\braises\(|\bassertRaises",
    re.IGNORECASE,
)
_PARTLY = re.compile(
    r"[<>]=?(?![<>])|\bin\b|\b(assert_?(In|Greater|Less|Almost|Regex|Not|Contains|Isinstance|Is_?Instance)\w*)\b|\bisinstance\("
    r"|\.(toContain\w*|toMatch\w*|toBeGreater\w*|toBeLess\w*|toBeClose\w*|includes?|contains?|match\w*|doesNotMatch|startsWith|endsWith)\("
    r"|\b(EXPECT|ASSERT)_(LT|GT|LE|GE|NEAR)\b|\bapprox\(|\bassert!\(matches!",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Weakened:
    """What was weakened in tests, each as a short phrase.

    `rewritten`: nothing else is found than what who knows the tests by their ids can tell when they have run. Tests and
    assertions are fewer, and some were rewritten: parametrised or merged, perhaps. Or tests are skipped, perhaps only
    where they cannot run.
    """

    found: tuple[str, ...] = ()
    rewritten: bool = False


def weakened_tests(changes: tuple[FileChange, ...], patch: str) -> Weakened:
    """Return what was weakened in the tests of a change."""
    tests = {shown(change.path): change for change in changes if is_test_file(change.path)}
    if not tests:
        return Weakened()
    lines = [line for line in changed_lines(patch) if line.path in tests]
    balance = _weighed(lines)
    found = []
    settled = True
    if balance.cases > 0:
        gone = [path for path, change in tests.items() if change.status == "D"]
        where = f" ({', '.join(gone)} deleted)" if gone else ""
        found.append(f"{balance.cases} test(s) removed{where}")
    if balance.assertions > 0:
        found.append(f"{balance.assertions} assertion(s) fewer")
    if found:
        settled = balance.cases_added > 0
    # A skip on a new test weakens nothing; but where tests were removed too, it may be on one of them, moved.
    skips = balance.skips - (0 if balance.cases_removed else balance.skips_new) + balance.focused
    if skips > 0:
        found.append(f"{skips} test(s) newly skipped, focused or expected to fail")
        settled = settled and balance.focused <= 0
    counted = len(found)
    found += _made_weaker(lines)
    elsewhere = {change.new_oid for change in changes if change.status == "A"}
    deleted = [path for path, change in tests.items() if change.status == "D" and change.old_oid not in elsewhere]
    if deleted and not balance.cases_removed:  # tests of a kind that cannot be counted, as in a shell script
        found.append(f"test file(s) deleted: {', '.join(deleted)}")
    opaque = [path for path, change in tests.items() if change.status == "M" and _unreadable(change)]
    if opaque:
        found.append(f"tests that can no longer be compared as text: {', '.join(opaque)}")
    return Weakened(tuple(found), rewritten=bool(found) and len(found) == counted and settled)


def _unreadable(change: FileChange) -> bool:
    return change.added is None and change.old_oid != change.new_oid


def _made_weaker(lines: list[Line]) -> list[str]:
    """Return the assertions that take the place of more exact ones, where as many stand there as before."""
    words: dict[tuple[str, int], list[list[str]]] = {}
    for line in lines:
        here = words.setdefault((line.path, line.stretch), [])
        if _COMMENT.search(line.text) or _NO_ASSERTION.search(line.text):
            continue
        if _ASSERTION.search(line.text):
            here.append(line.text.split())
        elif here:  # an assertion goes on over several lines
            here[-1] += line.text.split()
    stretches = {place: [" ".join(each) for each in texts] for place, texts in words.items()}
    removed = {(line.path, line.stretch) for line in lines if line.removed}
    gone = {text for place, texts in stretches.items() if place in removed for text in texts}
    moved = gone & {text for place, texts in stretches.items() if place not in removed for text in texts}
    found = []
    for (path, stretch), old_texts in stretches.items():
        before = [text for text in old_texts if text not in moved]
        after = [text for text in stretches.get((path, stretch + 1), []) if text not in moved]
        if (path, stretch) in removed and (path, stretch + 1) not in removed and len(before) == len(after):
            pairs = zip(before, after, strict=True)
            found += [f"{path}: `{old}` became `{new}`, which asks for less" for old, new in pairs if _less(old, new)]
    return found


def _less(old: str, new: str) -> bool:
    return _exactness(new) < _exactness(old)


def _exactness(assertion: str) -> int:
    return 2 if _EXACT.search(assertion) else 1 if _PARTLY.search(assertion) else 0


def _weighed(lines: list[Line]) -> _Balance:
    balance = _Balance()
    for index, line in enumerate(lines):
        if _COMMENT.search(line.text):
            continue
        step = 1 if line.removed else -1
        case = _TEST_CASE.search(line.text) is not None
        balance.cases += step * case
        balance.cases_removed += line.removed and case
        balance.cases_added += not line.removed and case
        balance.assertions += step * (
            _ASSERTION.search(line.text) is not None and _NO_ASSERTION.search(line.text) is None
        )
        balance.focused -= step * (_FOCUS.search(line.text) is not None)
        if _SKIP.search(line.text):
            balance.skips -= step
            balance.skips_new += not line.removed and _on_new_test(lines, index)
    return balance


def _on_new_test(lines: list[Line], index: int) -> bool:
    """Tell whether the added skip at `index` stands above, or in, a test added in the same stretch of lines."""
    step = 1 if _SKIP_ABOVE.search(lines[index].text) else -1
    here = index
    while 0 <= here + step < len(lines) and lines[here + step].stretch == lines[index].stretch:
        here += step
        if _TEST_CASE.search(lines[here].text):
            return True
    return False
