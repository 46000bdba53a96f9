"""Takes off what only starts a command (variables, `uv run`, `npx`, `python -m`), so that it can be known.

What such a start, or an install, brings into Python's environment is noted: extras, groups, files and packages.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from noface.detection.detected import CI, NOISE, Needs
from noface.detection.files import is_inner
from noface.detection.shell import ASSIGNED, VARIABLE, module_words, plain

_STARTERS = CI["starters"]
_PYTHON = re.compile(r"(\S*/)?python[\d.]*|\{envpython\}|py")


@dataclass(frozen=True, slots=True)
class Bare:
    """A command's words without what only starts it, its variables, and what has to be installed for its start."""

    words: list[str]
    env: Mapping[str, str] = field(default_factory=dict)
    wanted: Needs = field(default_factory=Needs)


def bare(words: list[str], env: Mapping[str, str], scripts: Collection[str] = ()) -> Bare:
    """Take off what only starts a command; `scripts` are names that a task runner knows, and a command of their own."""
    command = Bare(words, env)
    while command.words and (inner := _started(command, scripts)) is not None:
        command = inner
    return command


def _started(command: Bare, scripts: Collection[str]) -> Bare | None:
    """Return what a command starts, None if it is the command itself."""
    words = command.words
    program, two = words[0], " ".join(words[:2])
    if ASSIGNED.match(program):
        name, _, value = program.partition("=")
        known = {} if VARIABLE.search(value) or NOISE.match(name) else {name: value}
        return Bare(words[1:], {**command.env, **known}, command.wanted)
    if program == "corepack":
        return Bare(words[1:] if words[1:2] and words[1] in CI["package_managers"] else [], command.env, command.wanted)
    if program in _STARTERS["alone"]:
        return _after(command, words, "npx")
    if program in {"c8", "nyc"}:
        inner = _after(command, words, program)
        # `nyc report` starts nothing.
        return inner if inner.words and inner.words[0] != "report" else None
    if program == "timeout":
        inner = _after(command, words, program)
        # The first word behind its options is the time.
        return Bare(inner.words[1:], inner.env, inner.wanted)
    if (aside := next((start for start in _STARTERS["aside"] if words[: len(start)] == start), None)) is not None:
        return _after(command, words[len(aside) - 1 :], "uvx")
    if two in _STARTERS["environments"]:
        is_script = program in {"pdm", "rye"} and words[2:3] and words[2] in scripts
        return None if is_script else _after(command, words[1:], program)
    if two in _STARTERS["packages"]:
        inner = _after(command, words[1:], "npx")
        return Bare(inner.words[inner.words[:1] == ["--"] :], inner.env, inner.wanted)
    if _PYTHON.fullmatch(program):
        module = module_words(words)
        return Bare(module, command.env, command.wanted) if module is not None else None
    if two == "coverage run":
        inner = _after(command, words[1:], "coverage", stop="-m")
        rest = inner.words[1:] if inner.words[:1] == ["-m"] else ["python", *inner.words]
        return Bare(rest, inner.env, inner.wanted)
    return Bare(["pytest", *words[1:]], command.env, command.wanted) if program == "py.test" else None


def _after(command: Bare, words: list[str], program: str, stop: str = "") -> Bare:
    """Return what stands after the options of a starter, the first word of `words`, up to the option `stop`."""
    rest, wanted = words[1:], command.wanted
    while rest and rest[0].startswith("-") and rest[0] not in {"-", stop}:
        option, _, value = rest[0].partition("=")
        takes = option in _STARTERS["values"].get(program, ())
        given = plain(value or (rest[1] if takes and len(rest) > 1 else ""))
        wanted += _wanted(program, option, given)
        if program == "uv" and option in {"-m", "--module"}:
            return Bare(rest[1:], command.env, wanted)
        rest = rest[2:] if takes and not value else rest[1:]
        if option == "--":
            break
    return Bare(rest, command.env, wanted)


def _wanted(program: str, option: str, value: str) -> Needs:
    """Return what an option of a starter has installed."""
    takes = value != "" and program in {"uv", "uvx", "poetry"}
    if option == "--with":  # a plugin of tox is none of the checks'
        return Needs(items=tuple(value.split(","))) if takes and not value.startswith("tox") else Needs()
    return _of_option(option, value) if takes or option.startswith("--all-") else Needs()


_INSTALLS = CI["installs"]
_EXTRAS = re.compile(r"\.(?:/)?\[([\w,. -]+)\]")
_PACKAGE = re.compile(r"[A-Za-z][\w.-]*(\[[\w,-]+\])?\s*([<>=!~].*)?$")


def is_install(words: list[str]) -> bool:
    """True if a command installs what Python's tools need."""
    return words[0] in {"pip", "pip3"} or " ".join(words[:2]) in _INSTALLS["commands"]


def installed(root: Path, words: list[str]) -> Needs:
    """Return what an install names."""
    managed = words[:2] != ["uv", "pip"] and words[0] not in {"pip", "pip3"}
    if not managed and "install" not in words:
        return Needs()
    rest = words[words.index("install") + 1 :] if "install" in words else words[2:]
    wanted, index = Needs(), 0
    while index < len(rest):
        word = rest[index]
        option, _, given = word.partition("=")
        takes = option in _INSTALLS["values"] and not given
        value = given or (rest[index + 1] if index + 1 < len(rest) else "")
        index += 2 if takes else 1
        if VARIABLE.search(word) or (option.startswith("-") and VARIABLE.search(value)):
            continue
        wanted += _of_install(root, option, value, managed=managed) if word.startswith("-") else _of_word(word, managed)
    return wanted


def _of_install(root: Path, option: str, value: str, *, managed: bool) -> Needs:
    if option in {"-r", "--requirement"} and (root / value).is_file() and is_inner(value):
        return Needs(items=(f"-r {value}",))
    return _of_option("--group" if managed and option in {"--with", "-G"} else option, value)


def _of_option(option: str, value: str) -> Needs:
    match option:
        case "--all-extras":
            return Needs(extras=("*",))
        case "--all-groups":
            return Needs(groups=("*",))
        case "--extra" | "--extras" | "-E":
            return Needs(extras=tuple(value.replace(",", " ").split()))
        case "--group" | "--only-group":
            return Needs(groups=tuple(value.split(",")))
        case _:
            return Needs()


def _of_word(word: str, managed: bool) -> Needs:
    if match := _EXTRAS.fullmatch(word):
        return Needs(extras=tuple(name.strip() for name in match[1].split(",")))
    is_package = not managed and _PACKAGE.match(word) and word not in _INSTALLS["no_need"]
    return Needs(items=(word,)) if is_package else Needs()
