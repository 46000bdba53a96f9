"""Takes off what only starts a command (variables, `uv run`, `npx`, `python -m`), so that it can be known."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from noface.detection.detected import Wanted
from noface.detection.shell import ASSIGNED, VARIABLE, module_words, plain
from noface.detection.steps import CI, NOISE

_STARTERS = CI["starters"]
_PYTHON = re.compile(r"(\S*/)?python[\d.]*|\{envpython\}|py")


@dataclass(frozen=True, slots=True)
class Bare:
    """A command's words without what only starts it, its variables, and what has to be installed for its start."""

    words: list[str]
    env: Mapping[str, str] = field(default_factory=dict)
    wanted: Wanted = field(default_factory=Wanted)


def bare(words: list[str], env: Mapping[str, str], scripts: Collection[str] = ()) -> Bare:
    """Take off what only starts a command; `scripts` are names that a task runner knows, and a command of their own."""
    command = Bare(words, env)
    while command.words and (inner := _started(command, scripts)) is not None:
        command = inner
    return command


def _started(command: Bare, scripts: Collection[str]) -> Bare | None:
    """Return what a command starts, None where it is the command itself."""
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
        return inner if inner.words and inner.words[0] != "report" else None
    if program == "timeout":
        inner = _after(command, words, program)
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


def _wanted(program: str, option: str, value: str) -> Wanted:
    """Return what an option of a starter has installed."""
    match option:
        case "--all-extras":
            return Wanted(extras=("*",))
        case "--all-groups":
            return Wanted(groups=("*",))
        case _ if not value or program not in {"uv", "uvx", "poetry"}:
            return Wanted()
        case "--group" | "--only-group":
            return Wanted(groups=(value,))
        case "--extra" | "--extras" | "-E":
            return Wanted(extras=tuple(value.replace(",", " ").split()))
        case "--with" if not value.startswith("tox"):
            return Wanted(items=tuple(value.split(",")))
        case _:
            return Wanted()
