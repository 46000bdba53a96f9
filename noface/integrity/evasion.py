"""Finds the ways around a check that stand in the change itself, beside its tests; reads the added lines and paths.

Self-awareness: the product asks whether it is being tested, or reaches into the tests. Code under test shares its
process with what tests it, so no report can tell an answer that it gives to tests alone. Not seen: a
table of the answers that the tests want.

Shadows: a file takes the place of what a gate has from outside the tree, as `pytest.py` or `random.py` do. A name that
resolved outside the tree on main may not resolve inside it.

And for a gate that changes the files it checks: the option by which its tool only looks.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable

from noface.data import pattern, table
from noface.integrity.judges import Part, part_of
from noface.integrity.tampering import is_code, is_test_file
from noface.integrity.uses import names_file
from noface.model.attempt import ABSENT, FileChange
from noface.model.patch import ChangedLine

# A word in two pieces, such as "MAKE" "LEVEL" or 'py' + 'test'.
_SPLIT = re.compile(r"(?<=\w)([\"'])\s*[+.]?\s*\1(?=\w)")
_COMMENT = re.compile(r"^\s*(#(?![\[!])|//|\*|/\*|--)")


def _aware(key: str) -> re.Pattern[str]:
    return pattern("integrity", "self_aware", key)


def self_aware(lines: Iterable[ChangedLine], of_tests: Callable[[str], bool]) -> dict[str, str]:
    """Return the added lines of the product that know of the tests, as phrases, with the word that gave each away.

    `of_tests` tells whether main has a folder of tests by a name. A line that the change only moves is none of them.
    Where the word is "" it does not matter whether main has it, too.
    """
    added: dict[str, list[str]] = defaultdict(list)
    removed: set[str] = set()
    for line in lines:
        if line.removed:
            removed.add(line.text.strip())
        elif is_code(line.path) and part_of(line.path) in (Part.PRODUCT, Part.SOFT):
            added[line.path].append(line.text)
    result: dict[str, str] = {}
    for path, texts in added.items():
        fresh = [text for text in texts if text.strip() not in removed and not _COMMENT.match(text)]
        frames = any(_aware("frames").search(text) for text in fresh)
        for text in fresh:
            why, word = _why(text, of_tests, frames=frames)
            if why:
                result[f"{path} {why}: `{' '.join(text.split())[:120]}`"] = word
    return result


def _why(line: str, of_tests: Callable[[str], bool], *, frames: bool) -> tuple[str, str]:
    text = _SPLIT.sub("", line)
    asks = _aware("asks").search(text)
    if asks is not None:
        return "asks whether it is being tested", asks[0]
    if (_aware("looks").search(text) or frames) and _aware("test_word").search(text):
        return "asks whether it is being tested", ""
    place = _aware("test_place").search(text)
    if place is not None and _aware("reads").search(text) and of_tests(place[1]):
        return "reaches into the tests", place[0]
    return "", ""


_FLAG = r"_*[A-Z][A-Z0-9_]{2,60}"
_QUOTED_FLAG = re.compile(
    rf"[\"'`]({_FLAG})[\"'`]|\benv(?:iron)?\W{{1,3}}({_FLAG})\b|\b(?:globalThis|global|window)\.({_FLAG})\b"
)


def flags_asked(lines: Iterable[ChangedLine]) -> dict[str, ChangedLine]:
    """Return the names of flags that added lines of code ask for: variables, keys of settings, globals in capitals."""
    result: dict[str, ChangedLine] = {}
    for line in lines:
        if not line.removed and is_code(line.path) and not _COMMENT.match(line.text):
            for match in _QUOTED_FLAG.finditer(line.text):
                result.setdefault(next(filter(None, match.groups())), line)
    return result


def sets_flag(text: str, flag: str) -> bool:
    """True if a text sets a flag: as a variable of the environment, a key of settings, or a global."""
    name = re.escape(flag)
    as_key = rf"[\"'`]{name}[\"'`]\s*\]?\s*(?:=(?!=)|:|,)|\b(?:env|global|globalThis|window)\.{name}\s*=(?!=)"
    return re.search(rf"{as_key}|(?<![\w.-]){name}\s*=(?!=)", text) is not None


_FRAMEWORK = (
    r"(?:_pytest|pytest|unittest2?|nose2|mocha|chai|jest|@jest/[\w-]+|vitest|(?:node:)?(?:assert|test)(?:/\w+)?)"
)
_IMPORTS = re.compile(
    rf"^\s*import\s+(?P<module>{_FRAMEWORK})(?:\.[\w.]+\s+as\s+(?P<as>\w+)|\s+as\s+(?P<alias>\w+))?\s*$"
    rf"|^\s*from\s+{_FRAMEWORK}(?:\.[\w.]+)?\s+import\s+(?P<names>[\w, ]{{1,300}})"
    rf"|\b(?:import|const|let|var)\s+(?P<script>[\w$*{{}},: ]{{1,300}})\s*(?:=|\bfrom\b)[^\"']{{0,60}}"
    rf"[\"']{_FRAMEWORK}[\"']"
)
_NAMED = re.compile(r"^\s*(?:(?:const|let|var)\s+)?(\w+)\s*=\s*(\w+)[\w.]*\s*;?\s*$")
_REPLACES = re.compile(
    r"^\s*(\w+)(?:\.\w+|\[[^\]]{1,80}\])*[.\]]\w*\s*=(?!=)"
    r"|\b(?:setattr|Object\.(?:assign|defineProperty))\(\s*(\w+)|\b(\w+)\.extend\("
)
_GLOBALS = frozenset({"expect", "it", "describe", "assert", "jest", "vi"})


def replaced_frameworks(lines: Iterable[ChangedLine]) -> tuple[str, ...]:
    """Return the added lines by which the product replaces something of a framework for tests, as phrases."""
    known: dict[str, set[str]] = defaultdict(lambda: {*_GLOBALS})
    found = dict[str, None]()
    for line in lines:
        if line.removed or not is_code(line.path) or part_of(line.path) not in (Part.PRODUCT, Part.SOFT):
            continue
        names = known[line.path]
        if imports := _IMPORTS.search(line.text):
            module = imports["as"] or imports["alias"] or imports["module"] or ""
            names.update(re.findall(r"\w+", f"{module} {imports['names'] or ''} {imports['script'] or ''}"))
        elif (named := _NAMED.match(line.text)) and named[2] in names:
            names.add(named[1])
        elif (replaces := _REPLACES.search(line.text)) and names & {*filter(None, replaces.groups())}:
            found[f"{line.path} replaces a part of its test framework: `{' '.join(line.text.split())[:120]}`"] = None
    return tuple(found)


_MODULES = (".py", ".pyc", ".so", ".pyd")
_SOURCE_FOLDERS = ("", "src", "lib", "python")
_COMPILED_TO_SCRIPT = (".ts", ".tsx", ".mts", ".cts", ".coffee")
_SCRIPT = (".js", ".jsx", ".mjs", ".cjs")
_COMPILED = (".pyc", ".pyo")
_PYTHON_STARTS = (".pth", ".egg-link")


def shadowing(
    changes: Collection[FileChange], main: Collection[str], outside: Collection[str], words: str = ""
) -> tuple[str, ...]:
    """Return what a change puts in the place of modules and packages from outside, each as a phrase.

    `main` are the paths of main's tree: what it has under such a name already is the project's own. `outside` are the
    names of modules that the gates' Python has by itself. A module of these that the issue, in `words`, names as a
    file is its work.
    """
    added = [change.path for change in changes if change.old_mode == ABSENT and change.new_mode != ABSENT]
    gone = {change.path for change in changes if change.new_mode == ABSENT}
    shadows, tools = [], table("integrity")["shadows"]["modules"]
    for path in added:
        name = _module(path, (*main, *added))
        own_by_issue = path in words or (not path.endswith("__init__.py") and names_file(words, path))
        meant = name in tools or (name in outside and not own_by_issue)
        if name and meant and not _has_module(name, main):
            shadows.append(f"{path} takes the place of the module {name}, which the gates have from outside the tree")
        elif "node_modules" in path.split("/"):
            shadows.append(f"{path} takes the place of a package that the gates have from outside the tree")
        elif path.endswith(_SCRIPT) and (source := _compiled_to(path, main, gone)):
            shadows.append(f"{path} takes the place of {source} where both can be meant")
        elif path.endswith(_COMPILED):
            shadows.append(f"{path} is compiled code, which is run in place of the source beside it")
        elif path.endswith(_PYTHON_STARTS):
            shadows.append(f"{path} would be run by Python when it starts")
    return tuple(dict.fromkeys(shadows))


def _compiled_to(script: str, main: Collection[str], gone: Collection[str]) -> str:
    """Return the file that is compiled to a script of this name, "" if there is none or it goes."""
    sources = (script.rpartition(".")[0] + end for end in _COMPILED_TO_SCRIPT)
    return next((source for source in sources if source in main and source not in gone), "")


def _has_module(name: str, main: Collection[str]) -> bool:
    # Whether tests stand beside a file takes a walk over the tree: it is asked of files of this name only.
    named = (path for path in main if f"/{path}".rpartition("/")[2].startswith((f"{name}.", "__init__.")))
    return any(_module(path, main) == name for path in named if name in path)


def _module(path: str, tree: Iterable[str]) -> str:
    """Return the name under which Python imports a file, or the package that it begins, from where tests run; or ""."""
    folder, _, name = path.rpartition("/")
    stem, dot, _ = name.rpartition(".")
    if not dot or not name.endswith(_MODULES):
        return ""
    if stem == "__init__":
        folder, _, stem = folder.rpartition("/")
    top = folder in _SOURCE_FOLDERS or _holds_tests(folder, tree)
    return stem.partition(".")[0] if top else ""


def _holds_tests(folder: str, tree: Iterable[str]) -> bool:
    """True if tests stand in a folder itself: its modules are imported by their bare names then."""
    start = f"{folder}/"
    return any(path.startswith(start) and "/" not in path[len(start) :] and is_test_file(path) for path in tree)


def only_checking(command: str) -> str:
    """Return what to do about a command that changes files: have its tool only check, and how, if that is known."""
    rows = table("integrity")["only_checks"]["commands"]
    option = next((option for tool, option in rows if re.search(tool, command)), "")
    return f"have it only check: {option}" if option else "have it only check"
