"""Finds the files of the project that a shell command names or runs: the scripts and tests by which work is judged."""

import re
import shlex
from collections.abc import Iterable

_SEPARATORS = re.compile(r"&&|\|\||[;|&\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_NUMBER = re.compile(r"\d+(\.\d+)?[smhd]?")
_RUNS_ANOTHER = ("time", "timeout", "nice", "xargs", "command", "!", "{", "(", "if", "then", "do", "while")
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "source", ".", "exec", "env")


def named_paths(commands: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of `commands` that may be paths in the repository, without pytest's `::names`."""
    return _inner(word.split("::", 1)[0] for command in commands for word in _words(command))


def run_scripts(commands: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of `commands` that may be scripts of the repository, run by themselves or by a shell.

    What another interpreter runs is left out: `python app.py` as a gate runs the very code that is worked on.
    """
    found = []
    for command in commands:
        for part in _SEPARATORS.split(command):
            words = [word for word in _words(part) if not _ASSIGNMENT.match(word)]
            by_shell = False
            while words and words[0].rpartition("/")[2] in _SHELLS:
                words = [word for word in words[1:] if not word.startswith("-")]
                by_shell = True
            if words and (by_shell or "/" in words[0]):  # a bare name is looked up on PATH, not in the checkout
                found.append(words[0])
    return _inner(found)


def called_programs(command: str) -> tuple[str, ...]:
    """Return the names of programs that a shell command calls, as far as its words show; "sh -c" texts are not read."""
    found = []
    for part in _SEPARATORS.split(command):
        words = [word for word in _words(part) if not _ASSIGNMENT.match(word)]
        while words and words[0].rpartition("/")[2] in (*_SHELLS, *_RUNS_ANOTHER):
            found.append(words[0])
            words = [word for word in words[1:] if not word.startswith("-") and not _NUMBER.fullmatch(word)]
        found += words[:1]
    return tuple(dict.fromkeys(name.lstrip("({!") for name in found if name.lstrip("({!")))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _inner(words: Iterable[str]) -> tuple[str, ...]:
    names = {word.removeprefix("./").rstrip("/") for word in words}
    return tuple(sorted(name for name in names if name and not name.startswith(("/", ".", "-", "~"))))
