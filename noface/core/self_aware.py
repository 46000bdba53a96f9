"""Finds lines of the product that ask whether it is being tested, reach into the tests, or bend what compares.

Code under test shares its process with what tests it: no report can tell an answer that it gives to tests alone. These
rules read the added lines; what they cannot see is a table of the answers that the tests want.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable

from noface.core.judges import Part, part_of
from noface.core.patch_lines import Line
from noface.core.tampering import is_code

_RUNNERS = (
    "pytest|unittest|nose2?|jest|mocha|vitest|jasmine|ava|karma|cypress|rspec|minitest|phpunit|ctest|gtest|bats|trial"
)
_ASKS = re.compile(
    r"\bPYTEST_\w+|\bNODE_TEST_CONTEXT\b|\bJEST_WORKER_ID\b|\bVITEST\w*\b|\bnpm_lifecycle_\w+|\bRUST_TEST_\w+|\bBATS_\w+"
    r"|\bGTEST_\w+|\bCARGO_TARGET_TMPDIR\b|\bNODE_ENV\b[^\n]*\btest\b|\bimport\.meta\.(vitest|env\.TEST)"
    rf"|\bmodules\b[^\n]*[\"'](_?(?:{_RUNNERS}))\b|[\"'](?:{_RUNNERS})[\"']\s+in\s|\bcfg!\((not\()?(test|debug_assertions)\b|\bcfg\(not\((test|debug_assertions)\b"
    r"|\btesting\.(Testing|Short)\(\)|\bflag\.Lookup\([\"']test\.|\btypeof\s+(it|describe|test|expect|jest|vi|suite|before)\b"
    r"|\b(globalThis|global|window|self)\.(it|describe|test|expect|jest|vi|suite|__karma__|__coverage__)\b"
    r"|\b__debug__\b|\bsys\.flags\.optimize\b|\bRAILS_ENV\b[^\n]*\btest\b|\bMIX_ENV\b[^\n]*\btest\b|\bMix\.env\b"
    r"|\bgettrace\(\)|\bMAKELEVEL\b|\bcurrent_exe\(\)[^\n]*\bdeps\b"
)
_LOOKS = re.compile(
    r"\b(stack\w*|argv|_?getframe|currentframe|f_code|f_back|caller\w*|current_exe|current_thread|thread\w*|main_module"
    r"|__main__|require\.main|process\.title|env::args|os\.Args|backtrace|getpid|cmdline|environ|process\.env|getenv)\b"
)
_TEST_WORD = re.compile(rf"(?i)(?<![a-z])(tests?|specs?|__tests__|{_RUNNERS})(?![a-z])")
_FRAMES = re.compile(
    r"\b(_getframe|inspect\.(stack|currentframe)|new Error\(\)\.stack|captureStackTrace|runtime\.Callers?)\b"
)
_TEST_PLACE = re.compile(r"[\"'/`](tests?|__tests__|specs?|testdata|__snapshots__|__fixtures__|fixtures)[\"'/`]")
_BENDS = re.compile(
    rf"^\s*(?:(?:{_RUNNERS}|assert|expect|chai|should|sinon)(?:\.\w+)+|\w*(?:TestCase|TestResult|TestSuite|TestRunner)(?:\.\w+)+)"
    r"\s*=(?!=)|\bsetattr\(\s*(?:unittest|pytest|assert)|\bmodules\[[\"'](?:_?pytest|unittest|assert)"
    r"|\b(?:builtins|__builtins__)\.\w+\s*=(?!=)|\bObject\.(?:defineProperty|assign)\(\s*(?:assert|expect|globalThis)\b"
)
_ALWAYS_EQUAL = re.compile(
    r"\bdef __eq__\([^\n]*\n(?:\s*(?:\"\"\"[^\n]*\"\"\"|#[^\n]*)?\n)*\s*return (?:True|isinstance\([^\n]*\))\s*$"
    r"|\bfn eq\([^)]*\)\s*->\s*bool\s*\{\s*true\s*\}|\bequals\([^)]*\)\s*\{\s*return true;"
    r"|\boperator\s*==\s*\([^)]*\)[^{;]*\{\s*return true;",
    re.MULTILINE,
)
# A word in two pieces, such as "MAKE" "LEVEL" or 'py' + 'test'.
_SPLIT = re.compile(r"(?<=\w)([\"'])\s*[+.]?\s*\1(?=\w)")
_COMMENT = re.compile(r"^\s*(#(?![\[!])|//|\*|/\*|--)")


def self_aware(lines: Iterable[Line], folders: Collection[str]) -> dict[str, str]:
    """Return the added lines of the product that know of the tests, as phrases, with the word that gave each away.

    `folders` are main's folders of tests. A line that the change only moves is none of them. Where the word is "" it
    does not matter whether main has it, too.
    """
    added: dict[str, list[str]] = defaultdict(list)
    removed: set[str] = set()
    for line in lines:
        if line.removed:
            removed.add(line.text.strip())
        elif is_code(line.path) and part_of(line.path) in (Part.PRODUCT, Part.SOFT):
            added[line.path].append(line.text)
    found: dict[str, str] = {}
    for path, texts in added.items():
        fresh = [text for text in texts if text.strip() not in removed and not _COMMENT.match(text)]
        frames = any(_FRAMES.search(text) for text in fresh)
        for text in fresh:
            why, word = _why(text, folders, frames=frames)
            if why:
                found[f"{path} {why}: `{' '.join(text.split())[:120]}`"] = word
        if _ALWAYS_EQUAL.search("\n".join(fresh)):
            found[f"{path} defines an equality that is always true"] = ""
    return found


def _why(line: str, folders: Collection[str], *, frames: bool) -> tuple[str, str]:
    text = _SPLIT.sub("", line)
    asks = _ASKS.search(text)
    if asks is not None:
        return "asks whether it is being tested", asks[0]
    if (_LOOKS.search(text) or frames) and _TEST_WORD.search(text):
        return "asks whether it is being tested", ""
    if _BENDS.search(text):
        return "changes what the tests compare with", ""
    place = _TEST_PLACE.search(text)
    if place is not None and place[1] in folders:
        return "reaches into the tests", place[0]
    return "", ""
