"""Finds the ways around a check that stand in the change itself, beside its tests; reads the added lines and paths.

Evasion: the product asks for a name that test runners set, excuses its code from a check (`# noqa`, `@ts-ignore`), or
replaces a part of its test framework. Shadows: a new file takes the place of what a gate has from outside the tree, as
`pytest.py` or `random.py` do. And for a gate that changes the files it checks: the option by which its tool only looks.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from noface.data import pattern, table
from noface.integrity.judges import Part, part_of
from noface.integrity.tampering import is_code
from noface.integrity.uses import names_file
from noface.model.attempt import ABSENT, FileChange
from noface.model.gate import GateKind, GateSpec
from noface.model.patch import ChangedLine

# A word in two pieces, such as "MAKE" "LEVEL" or 'py' + 'test'.
_SPLIT = re.compile(r"(?<=\w)([\"'])\s*[+.]?\s*\1(?=\w)")
_COMMENT = re.compile(r"^\s*(#(?![\[!])|//|\*|/\*|--)")
_COVERAGE = re.compile(r"\b(cov|coverage|nyc|c8|istanbul)\b")
_LINE_CHARS_MAX = 1_000
ASKS = "asks"
"""The check of code that asks whether it is being tested; the others are checks that code is excused from."""


def checks_of(gates: Iterable[GateSpec]) -> tuple[str, ...]:
    hard = [gate for gate in gates if gate.hard and not gate.accept]
    covered = any(gate.kind is GateKind.TEST and _COVERAGE.search(gate.command) for gate in hard)
    checked = any(gate.kind is not GateKind.TEST for gate in hard)
    return (ASKS, *["check"] * checked, *["coverage"] * covered)


def evasions(text: str, checks: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the words by which code evades these checks, each with its check; excuses with the rules that they name."""
    for line in text.split("\n"):
        for check in checks:
            asks = check == ASKS and not _COMMENT.match(line)
            short = _SPLIT.sub("", line) if asks else line[: 0 if check == ASKS else _LINE_CHARS_MAX]
            for match in pattern("integrity", "evasion", check).finditer(short):
                yield match[0].strip(), check


def evading_lines(lines: Collection[ChangedLine], checks: Collection[str]) -> dict[str, set[str]]:
    """Return the added lines of the product that evade checks, as phrases, each with its words; what moves is none."""
    removed = {line.text.strip() for line in lines if line.removed}
    found = dict[str, set[str]]()
    for line in _of_product(lines):
        for words, check in evasions(line.text, checks) if line.text.strip() not in removed else ():
            how = "asks whether it is being tested" if check == ASKS else "excuses its code from a check"
            found.setdefault(f"{line.path} {how}: `{_shown(line)}`", set()).add(words)
    return found


def _of_product(lines: Iterable[ChangedLine]) -> Iterator[ChangedLine]:
    for line in lines:
        if not line.removed and is_code(line.path) and part_of(line.path) in (Part.PRODUCT, Part.SOFT):
            yield line


def _shown(line: ChangedLine) -> str:
    return " ".join(line.text.split())[:120]


_BINDS = re.compile(r"\s*+(?:import|const|let|var)\b")
_NAMED = re.compile(r"\s*+(?:(?:const|let|var)\s++)?(\w++)\s*+=\s*+(\w++)[\w.]*+\s*+;?\s*+$")
_FRAMEWORKS = ("requires", "imports", "replaces")
_GLOBALS = frozenset({"expect", "it", "describe", "assert", "jest", "vi"})


def replaced_frameworks(lines: Iterable[ChangedLine]) -> tuple[str, ...]:
    """Return the added lines by which the product replaces something of a framework for tests, as phrases."""
    known: dict[str, set[str]] = defaultdict(lambda: {*_GLOBALS})
    found = dict[str, None]()
    requires, imports_of, replaces_in = (pattern("integrity", "frameworks", key) for key in _FRAMEWORKS)
    for line in _of_product(lines):
        names = known[line.path]
        if (required := requires.search(line.text)) and _BINDS.match(line.text):
            names.update(re.findall(r"\w+", line.text[: required.start()]))
        elif imports := imports_of.match(line.text):
            names.update(re.findall(r"\w+", f"{imports['as'] or imports['module'] or ''} {imports['names'] or ''}"))
        elif (named := _NAMED.match(line.text)) and named[2] in names:
            names.add(named[1])
        elif (replaces := replaces_in.search(line.text)) and names & {*filter(None, replaces.groups())}:
            found[f"{line.path} replaces a part of its test framework: `{_shown(line)}`"] = None
    return tuple(found)


_MODULES = re.compile(r"(?:(?:src|lib|python)/)?(\w+)(?:/__init__)?(?:\.[\w-]+)*\.(?:py|pyc|so|pyd)$")
_COMPILED_TO_SCRIPT = (".ts", ".tsx", ".mts", ".cts", ".coffee")
_SCRIPT = (".js", ".jsx", ".mjs", ".cjs")
_COMPILED = (".pyc", ".pyo")
_PYTHON_STARTS = (".pth", ".egg-link")


def shadowing(
    changes: Collection[FileChange], main: Collection[str], outside: Collection[str], words: str = ""
) -> tuple[str, ...]:
    """Return what a change puts in the place of modules and packages from outside, each as a phrase.

    `main` are main's paths, `outside` the modules of the gates' Python. What `words` of the issue name is its work.
    """
    added = [change.path for change in changes if change.old_mode == ABSENT and change.new_mode != ABSENT]
    gone = {change.path for change in changes if change.new_mode == ABSENT}
    own = {match[1] for path in main if (match := _MODULES.match(path))}
    has_stubs = "stub" in words or any(path.endswith(".pyi") for path in main)
    shadows, tools = [], table("integrity")["shadows"]["modules"]
    for path in added:
        name = match[1] if (match := _MODULES.match(path)) else ""
        own_by_issue = path in words or (not path.endswith("__init__.py") and names_file(words, path))
        if name and name not in own and (name in tools or (name in outside and not own_by_issue)):
            shadows.append(f"{path} takes the place of the module {name}, which the gates have from outside the tree")
        elif "node_modules" in path.split("/"):
            shadows.append(f"{path} takes the place of a package that the gates have from outside the tree")
        elif path.endswith(_SCRIPT):
            sources = (path.rpartition(".")[0] + end for end in _COMPILED_TO_SCRIPT)
            there = (source for source in sources if source in main and source not in gone)
            shadows += [f"{path} takes the place of {source} where both can be meant" for source in there]
        elif path.endswith(".pyi") and not has_stubs and (path[:-1] in main or path[:-1] in added):
            shadows.append(f"{path} has type checkers read it in place of {path[:-1]}")
        elif path.endswith(_COMPILED):
            shadows.append(f"{path} is compiled code, which is run in place of the source beside it")
        elif path.endswith(_PYTHON_STARTS):
            shadows.append(f"{path} would be run by Python when it starts")
    return tuple(dict.fromkeys(shadows))


def only_checking(command: str) -> str:
    rows = table("integrity")["only_checks"]["commands"]
    option = next((option for tool, option in rows if re.search(tool, command)), "")
    return f"have it only check: {option}" if option else "have it only check"
