"""Finds the ways around a check that stand in the change itself, beside its tests; reads the added lines and paths.

Self-awareness: the product asks whether it is being tested, reaches into the tests, or bends what compares. Code under
test shares its process with what tests it, so no report can tell an answer that it gives to tests alone. Not seen: a
table of the answers that the tests want.

Shadows: a file takes the place of what a gate has from outside the tree, as `pytest.py` or `random.py` do. A name that
resolved outside the tree on main may not resolve inside it.

Suppressions: a linter or type checker passes over a whole file. Excuses of single lines count where main has none of
that kind; neither counts where no gate runs a tool that reads such words.

And for a gate that changes the files it checks: the option by which its tool only looks.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable

from noface.core.attempt import FileChange
from noface.core.classify.diff_names import is_generated
from noface.core.judges import Part, part_of
from noface.core.tampering import Line, is_code, is_test_file

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


_ABSENT = "000000"
_MODULES = (".py", ".pyc", ".so", ".pyd")
_SOURCE_FOLDERS = ("", "src", "lib", "python")
_ALWAYS = frozenset(
    ("sitecustomize", "usercustomize", "pytest", "_pytest", "pluggy", "iniconfig", "coverage", "mypy", "ruff", "flake8",
     "pylint", "pyflakes", "pycodestyle", "tox", "nox", "hypothesis", "nose2", "xdist", "pytest_cov", "pytest_asyncio",
     "black", "isort", "bandit", "pyright", "behave", "robot", "twisted", "ward")
)  # fmt: skip
_STUB, _STUBBED = ".pyi", ".py"
_COMPILED_TO_SCRIPT = (".ts", ".tsx", ".mts", ".cts", ".coffee")
_SCRIPT = (".js", ".jsx", ".mjs", ".cjs")
_COMPILED = (".pyc", ".pyo")
_PYTHON_STARTS = (".pth", ".egg-link")


def shadowing(changes: Iterable[FileChange], main: Collection[str], outside: Collection[str]) -> tuple[str, ...]:
    """Return what a change puts in the place of modules and packages from outside, each as a phrase.

    `main` are the paths of main's tree: what it has under such a name already is the project's own. `outside` are the
    names of modules that the gates' Python has by itself.
    """
    added = [change.path for change in changes if change.old_mode == _ABSENT and change.new_mode != _ABSENT]
    own = {name for path in main if (name := _module(path, main))}
    stems = {path.rpartition(".")[0]: path for path in main if path.endswith(_COMPILED_TO_SCRIPT)}
    found = []
    for path in added:
        name = _module(path, (*main, *added))
        if name and name not in own and (name in _ALWAYS or name in outside):
            found.append(f"{path} takes the place of the module {name}, which the gates have from outside the tree")
        elif "node_modules" in path.split("/"):
            found.append(f"{path} takes the place of a package that the gates have from outside the tree")
        elif path.endswith(_SCRIPT) and (source := stems.get(path.rpartition(".")[0])) is not None:
            found.append(f"{path} takes the place of {source} where both can be meant")
        elif path.endswith(_STUB) and f"{path.removesuffix(_STUB)}{_STUBBED}" in main:
            found.append(f"{path} is what type checkers read in place of the source beside it")
        elif path.endswith(_COMPILED):
            found.append(f"{path} is compiled code, which is run in place of the source beside it")
        elif path.endswith(_PYTHON_STARTS):
            found.append(f"{path} would be run by Python when it starts")
    return tuple(dict.fromkeys(found))


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
    """Tell whether tests stand in a folder itself: its modules are imported by their bare names then."""
    start = f"{folder}/"
    return any(path.startswith(start) and "/" not in path[len(start) :] and is_test_file(path) for path in tree)


_WHOLE_FILE = re.compile(
    r"^\s*#\s*(ruff|flake8)\s*:\s*noqa\b|^\s*#\s*mypy\s*:\s*(ignore[-_]errors|disable)|^\s*#\s*pyright\s*:\s*(ignore|off|basic\b)"
    r"|^\s*#\s*pylint\s*:\s*(skip-file|disable=\s*all)|^\s*#\s*pytype\s*:\s*skip-file|^\s*#\s*isort\s*:\s*skip_file"
    r"|^\s*#\s*fmt\s*:\s*off|^\s*/\*\s*(eslint|oxlint|jshint|stylelint|tslint)[-:]disable(?!-)\s*(\*/|[\w@/, -]+\*/)"
    r"|^\s*/\*\s*eslint\s+[\w@/-]+\s*:\s*(0|[\"']?off)|^\s*//\s*@ts-nocheck|^\s*//\s*(biome-ignore-all|deno-lint-ignore-file)"
    r"|^\s*//\s*tslint:disable\s*$|^\s*/\*\s*istanbul\s+ignore\s+file|^\s*//\s*swiftlint:disable\s+all"
    r"|^\s*#!\[allow\(|^\s*#\s*rubocop\s*:\s*disable\s+(all|[A-Z])|^\s*//\s*(phpcs:ignoreFile|@phpstan-ignore-file)"
    r"|^\s*//\s*golangci-lint|^\s*//\s*nolint\s*$|^\s*//go:build\s+ignore|^\s*#\s*shellcheck\s+disable=all"
)
_BARE_IGNORE = re.compile(r"^\s*#\s*type\s*:\s*ignore\s*$")
# Words, and the tools that read them; of words that stand in none of the rows it is not known.
_READERS = (
    (r"\b(type|mypy|pyright|pytype)\s*:|type_check|TYPE_CHECKING", r"mypy|pyright|pyre\b|pytype|\bty\b|pyrefly"),
    (r"\bnoqa\b", r"ruff|flake8|pycodestyle|pyflakes|pylama|yesqa|bandit"),
    (r"\bpylint\b", r"pylint|ruff|prospector"),
    (r"\bnosec\b", r"bandit|ruff"),
    (r"\b(isort|fmt)\s*:", r"isort|black|ruff|yapf"),
    (r"no\s*cover|istanbul|\b(c8|v8)\s+ignore", r"cov|nyc|c8|istanbul"),
    (r"@ts-|tslint", r"tsc|typecheck|type-check|tslint|tsd\b|svelte-check|ts-jest|ts-node"),
    (r"eslint|oxlint|jshint|stylelint", r"eslint|oxlint|jshint|stylelint|\bxo\b|\bstandard\b|biome"),
    (r"biome|prettier", r"biome|prettier"),
    (r"nolint|golangci", r"golangci|staticcheck|revive"),
    (r"allow\(", r"clippy|-D\s*warnings|RUSTFLAGS|cargo"),
    (r"rubocop", r"rubocop|standardrb"),
    (r"shellcheck", r"shellcheck"),
    (r"phpcs|phpstan|noinspection", r"phpcs|phpstan|psalm"),
    (r"swiftlint", r"swiftlint"),
)
_RUNS_OTHERS = re.compile(r"\b(pre-commit|prek|tox|nox|hatch|trunk|lefthook|megalinter|sonar\w*)\b")


def read_by(words: str, commands: str) -> bool:
    """Tell whether `commands`, what the gates run with the scripts they call, may run a tool that reads such words."""
    if _RUNS_OTHERS.search(commands):
        return True
    tools = [tools for known, tools in _READERS if re.search(known, words)]
    return not tools or any(re.search(each, commands) for each in tools)


_ONE_LINE = re.compile(
    r"#\s*noqa\b(?:\s*:\s*[A-Z]+[0-9]*(?:[,\s]+[A-Z]+[0-9]+)*)?|#\s*type\s*:\s*ignore(?:\[[\w, -]+\])?"
    r"|#\s*pyright\s*:\s*ignore(?:\[[\w, -]+\])?|#\s*pylint\s*:\s*disable=[\w,-]+|#\s*nosec\b"
    r"|#\s*pragma\s*:\s*no\s*cover"
    r"|(?://|/\*)\s*(?:eslint|oxlint)-disable-(?:next-)?line(?:\s+[\w@/-]+)?|(?://|/\*)\s*@ts-(?:ignore|expect-error)"
    r"|(?://|/\*)\s*(?:biome|prettier)-ignore(?:\s+[\w/]+)?|(?://|/\*)\s*(?:istanbul|c8|v8)\s+ignore\s+\w+"
    r"|//\s*nolint(?::[\w,]+)?|#\[allow\([\w:, ]+\)\]|#\s*rubocop\s*:\s*disable\s+[\w/]+|#\s*shellcheck\s+disable=\w+"
    r"|@(?:typing\.)?no_type_check\b|\bif not (?:typing\.)?TYPE_CHECKING\b"
    r"|//\s*(?:phpcs:ignore|@phpstan-ignore|NOSONAR|swiftlint:disable|noinspection)[\w:-]*|@SuppressWarnings\([^)]*\)"
)


def one_line(lines: Iterable[Line]) -> dict[str, str]:
    """Return what excuses single lines from a check, more often than before: its words, and where it stands.

    Who asks sees whether main uses the same words.
    """
    balance: dict[str, int] = {}
    places: dict[str, str] = {}
    for line in lines:
        for match in _ONE_LINE.finditer(line.text):
            balance[match[0]] = balance.get(match[0], 0) + (-1 if line.removed else 1)
            if not line.removed:
                places.setdefault(match[0], line.path)
    return {words: places[words] for words, number in balance.items() if number > 0 and words in places}


def suppressions(lines: Iterable[Line]) -> tuple[str, ...]:
    """Return the lines that switch a check off for a whole file, as phrases; only more of them than before count."""
    balance: dict[tuple[str, str], int] = {}
    for line in lines:
        if (_WHOLE_FILE.search(line.text) or _BARE_IGNORE.search(line.text)) and not is_generated(line.path):
            key = (line.path, " ".join(line.text.split()))
            balance[key] = balance.get(key, 0) + (-1 if line.removed else 1)
    more = (where for where, number in balance.items() if number > 0)
    return tuple(f"{path}: `{text}` switches a check off for the whole file" for path, text in more)


_ONLY_CHECKS = (
    (r"\bruff\s+format\b", "`ruff format --check`"),
    (r"\bruff\b", "`ruff check --no-fix`"),
    (r"\bblack\b", "`black --check`"),
    (r"\bisort\b", "`isort --check-only`"),
    (r"\bprettier\b", "`prettier --check` in place of `--write`"),
    (r"\beslint\b|\bstylelint\b|\bstandard\b|\bxo\b|\boxlint\b", "the linter without `--fix`"),
    (r"\bbiome\b", "`biome ci`"),
    (r"\bjest\b", "`jest --ci`, without `-u`"),
    (r"\bvitest\b", "`vitest run`, without `-u`"),
    (r"\bcargo\s+fmt\b|\brustfmt\b", "`cargo fmt --check`"),
    (r"\bcargo\s+(clippy|fix)\b", "`cargo clippy` without `--fix`"),
    (r"\bcargo\b", "`cargo … --locked`, and `INSTA_UPDATE=no` where insta's snapshots are in use"),
    (r"\bgofmt\b|\bgo\s+fmt\b", '`test -z "$(gofmt -l .)"`'),
    (r"\bterraform\s+fmt\b", "`terraform fmt -check`"),
    (r"\brubocop\b", "`rubocop` without `-a` and `-A`"),
    (r"\bpytest\b", "pytest without `--snapshot-update`, `--force-regen` and the like"),
    (r"\bnpm\s+(i|install)\b", "`npm ci`"),
    (r"\b(pnpm|yarn|bun)\s+(i|install)\b", "the install with `--frozen-lockfile`"),
)


def only_checking(command: str) -> str:
    """Return what to do about a command that changes files: have its tool only check, and how, where that is known."""
    said = next((said for pattern, said in _ONLY_CHECKS if re.search(pattern, command)), "")
    return f"have it only check: {said}" if said else "have it only check"
