"""Which commands a model may name as a part's `accept`: those of the project, on other tests.

noface runs `accept` by a shell, and what a model writes may come from a file that it read. So a command of a model is
taken only as words: one that the project has already, or one of its test runners with the project's own flags and
other tests, files or folders of the repository. It is quoted anew, so that no shell takes anything in it for more.
"""

import re
import shlex
from dataclasses import dataclass

_RUNNERS = (
    "ava",
    "bats",
    "ctest",
    "eslint",
    "jest",
    "mocha",
    "mypy",
    "nose2",
    "phpunit",
    "py.test",
    "pyright",
    "pytest",
    "rspec",
    "unittest",
    "vitest",
)
_RUNNERS_OF_TWO = (
    ("bun", "test"),
    ("cargo", "test"),
    ("dart", "test"),
    ("flutter", "test"),
    ("go", "test"),
    ("go", "vet"),
    ("mix", "test"),
    ("node", "--test"),
    ("ruff", "check"),
    ("tsc", "--noEmit"),
)
_SUBCOMMANDS = ("run", "related", "discover")
_TEST = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_./:\[\]@,+-]*")
_FLAG_ALONE = re.compile(
    r"-[qvxsl]+|--no-[a-z-]+|--[a-z-]+=.*"
    r"|--(?:exitfirst|strict-markers|strict-config|verbose|quiet|ci|bail|runInBand|lib|release|workspace|all|test|noEmit)"
)
_SHELL = re.compile(r"[;&|<>$`\\\n(){}*?~#!]")
_FORMS_TOLD_MAX = 5


@dataclass(frozen=True, slots=True)
class AcceptForms:
    """The commands the project has: those of its gates, and of the issue that is divided.

    `any_command`: a person has agreed to whatever a model names. `drop`: what is refused is left out, not a fault.
    """

    known: tuple[str, ...] = ()
    any_command: bool = False
    drop: bool = False

    def allowed(self, command: str) -> str | None:
        """Return the command as it may be run, None where it may not."""
        if self.any_command or command in self.known:
            return command
        if not command.isprintable():
            return None
        try:
            words = tuple(shlex.split(command))
        except ValueError:
            return None
        for known in self.known:
            start = _runner(known)
            tests = words[len(start) :]
            if start and words[: len(start)] == start and tests and all(map(_is_test, tests)):
                return shlex.join(words)
        return None

    @property
    def told(self) -> str:
        """Say which commands are allowed."""
        forms = [f"`{command}`" for command in self.known]
        forms += [f"`{shlex.join(start)} TESTS`" for command in self.known if (start := _runner(command))]
        shown = list(dict.fromkeys(forms))[: 2 * _FORMS_TOLD_MAX]
        return ", ".join(shown) if shown else "none: leave accept empty, the project's gates judge the part"


def _runner(command: str) -> tuple[str, ...]:
    """Return the words of a command up to the tests it runs; () where other tests cannot be given to it."""
    if _SHELL.search(command):
        return ()
    try:
        words = tuple(shlex.split(command))
    except ValueError:
        return ()
    after = _after_runner(words)
    if after is None:
        return ()
    end = len(words)
    while end > after and _is_test(words[end - 1]) and words[end - 1] not in _SUBCOMMANDS:
        end -= 1
    # The last word before them may be a flag that takes the first of them as its value.
    if end < len(words) and end > after and not _FLAG_ALONE.fullmatch(words[end - 1]):
        return words[:end] if words[end - 1] in _SUBCOMMANDS else words[: end + 1]
    return words[:end]


def _after_runner(words: tuple[str, ...]) -> int | None:
    """Return the place behind the words that name a test runner, None where none is known."""
    for place, word in enumerate(words):
        if word.rpartition("/")[2] in _RUNNERS:
            return place + 1
        if (word.rpartition("/")[2], *words[place + 1 : place + 2]) in _RUNNERS_OF_TWO:
            return place + 2
    return None


def _is_test(word: str) -> bool:
    """Tell whether a word names a test, a file or a folder inside the repository, and no option."""
    return _TEST.fullmatch(word) is not None and "//" not in word and ".." not in re.split(r"[/:]", word)
