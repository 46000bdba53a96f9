"""Understand a pytest command line well enough to run its tests in a fork server.

Shell syntax, and any program that isn't pytest, are not understood on purpose: such a command is run as it stands.
"""

import re
import shlex
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PYTHON = re.compile(r"python[\d.]*")
_SHELL = re.compile(r"[;&|<>`$(){}\n]")

_FLAGS_WITH_VALUE = {"-W", "-X"}
_OPTIONS_WITH_VALUE = {
    *("-k", "-m", "-p", "-c", "-o", "-W", "-r", "-n", "--rootdir", "--confcutdir", "--import-mode", "--ignore"),
    *("--ignore-glob", "--deselect", "--maxfail", "--durations", "--tb", "--junitxml", "--junit-xml", "--color"),
    *("--basetemp", "--timeout", "--dist", "--capture", "--log-level", "--numprocesses", "--cov", "--cov-report"),
}
# Options about output, order, stopping and parallel runs: a candidate needs none, and some would break the recording.
_DROPPED = re.compile(
    r"-[qvsxl]+|-r.*|-n.*|--(quiet|verbose|exitfirst|maxfail|lf|last-failed|ff|failed-first|nf|new-first|sw|stepwise"
    r"|tb|durations|junitxml|junit-xml|color|capture|pdb|dist|numprocesses|cov.*|no-cov.*|showlocals)(=.*)?"
)


@dataclass(frozen=True, slots=True)
class PytestCommand:
    """A pytest run: how to start the interpreter, which options matter, and which tests it names.

    `tests` empty means that the project's configuration chooses. `launcher` is what stands before the interpreter
    ("uv run"), `flags` the interpreter's own ("-B").
    """

    env: tuple[tuple[str, str], ...]
    launcher: tuple[str, ...]
    python: str
    flags: tuple[str, ...]
    as_module: bool
    options: tuple[str, ...]
    tests: tuple[str, ...]

    def with_tests(self, tests: tuple[str, ...]) -> "PytestCommand":
        """Return the same run with other tests."""
        return replace(self, tests=tests)


def parse_pytest(command: str, root: Path) -> PytestCommand | None:
    """Parse `command` as run at the top of the checkout `root`; None where it isn't plainly one pytest run."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if _SHELL.search(re.sub(r"'[^']*'|\"[^\"$`]*\"|\[[^\]\s]*\]", "", command)):
        return None
    env: list[tuple[str, str]] = []
    while words and (words[0] == "env" or _ASSIGNMENT.match(words[0])):
        name, equals, value = words.pop(0).partition("=")
        env += [(name, value)] if equals else []
    start = _interpreter(words, root)
    if start is None:
        return None
    launcher, python, flags, as_module, rest = start
    options, tests = _arguments(rest, root)
    return PytestCommand(tuple(env), tuple(launcher), python, tuple(flags), as_module, tuple(options), tuple(tests))


def _interpreter(words: list[str], root: Path) -> tuple[list[str], str, list[str], bool, list[str]] | None:
    """Split into launcher, interpreter, its flags, "-m pytest" or the script, and pytest's arguments."""
    for at, word in enumerate(words):
        name = Path(word).name
        if name in {"pytest", "py.test"}:
            python = "python" if at else _beside(word)
            return (words[:at], _located(python, root), [], False, words[at + 1 :]) if python else None
        if _PYTHON.fullmatch(name):
            flags: list[str] = []
            rest = words[at + 1 :]
            while rest and rest[0].startswith("-") and rest[0] != "-m":
                flags.append(rest.pop(0))
                flags += [rest.pop(0)] if flags[-1] in _FLAGS_WITH_VALUE and rest else []
            if rest[:2] != ["-m", "pytest"]:
                return None
            return words[:at], _located(word, root), flags, True, rest[2:]
        if at and name.startswith("-"):
            return None
    return None


def _beside(script: str) -> str | None:
    """Return the interpreter that lies beside the program `pytest`, as in every virtual environment."""
    found = shutil.which(script)
    python = Path(found).parent / "python" if found else None
    return str(python) if python and python.exists() else None


def _located(python: str, root: Path) -> str:
    """Return a path relative to the checkout made absolute, since tests run in a copy; a bare name stays for PATH."""
    return str(root / python) if "/" in python and not Path(python).is_absolute() else python


def _arguments(words: list[str], root: Path) -> tuple[list[str], list[str]]:
    """Split pytest's arguments into the options worth keeping and the tests; a test is what exists on disk."""
    options: list[str] = []
    tests: list[str] = []
    while words:
        word = words.pop(0)
        group = [word]
        if word in _OPTIONS_WITH_VALUE and words:
            group.append(words.pop(0))
        if not word.startswith("-") and (root / word.partition("::")[0]).exists():
            tests.append(word)
        elif not _DROPPED.fullmatch(word):
            options += group
    return options, tests


def find_node(name: str, root: Path) -> str | None:
    """Return the pytest node id meant by a failing test's name, also in JUnit's form `tests.test_x.TestY::test_z`."""
    path, _, rest = name.partition("::")
    if (root / path).is_file():
        return name if rest else path
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        file = "/".join(parts[:cut]) + ".py"
        if (root / file).is_file():
            return "::".join([file, *parts[cut:], *([rest] if rest else [])])
    return None
