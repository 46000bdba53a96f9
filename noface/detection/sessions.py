"""What tox, nox, hatch and the task runners of Python projects run, and what they install for it."""

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from noface.detection.detected import Wanted
from noface.detection.files import table, toml_of
from noface.detection.nox import nox_sessions
from noface.detection.steps import Session
from noface.detection.tox import tox_sessions


def sessions_of(root: Path, words: list[str], scripts: Mapping[str, tuple[str, ...]]) -> tuple[Session, ...]:
    """Return what a call of tox, nox, hatch or a task runner runs; nothing where that can't be told."""
    program, *rest = words
    if program == "tox":
        return tuple(tox_sessions(root, rest))
    if program == "nox":
        return tuple(nox_sessions(root, rest))
    if program == "hatch":
        return _hatch_runs(rest, scripts)
    named = [word for word in rest if not word.startswith("-") and word != "run"]
    return (Session(f"{program} {named[0]}", scripts[named[0]], Wanted()),) if named and named[0] in scripts else ()


def tool_scripts(root: Path) -> dict[str, tuple[str, ...]]:
    """Return the lines of the scripts that pyproject.toml has for pdm, poe, rye and hatch."""
    tool = table(toml_of(root / "pyproject.toml"), "tool")
    named: dict[str, object] = {}
    for place in (("pdm", "scripts"), ("poe", "tasks"), ("rye", "scripts"), ("taskipy", "tasks")):
        named |= table(tool, *place)
    for environment in table(tool, "hatch", "envs").values():
        named |= table(environment, "scripts")
    return {
        name: lines for name, value in named.items() if (lines := tuple(_script_lines(named, value, frozenset({name}))))
    }


def _script_lines(named: Mapping[str, object], value: object, above: frozenset[str]) -> Iterator[str]:
    """Yield the lines of a script; an item of a list may be the name of another one, with arguments."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            first = item.split()[0] if isinstance(item, str) and item.strip() else ""
            known = first in named and first not in above
            yield from _script_lines(named, named[first] if known else item, above | {first})
    else:
        inner = table(value)
        lists = [inner.get(key) for key in ("composite", "sequence", "chain", "ref", "all")]
        listed = next((each for each in lists if each), ())
        yield from _script_lines(
            named,
            inner.get("cmd") or inner.get("shell") or ([listed] if isinstance(listed, str) else listed),
            above,
        )


def _hatch_runs(words: list[str], scripts: Mapping[str, tuple[str, ...]]) -> tuple[Session, ...]:
    match [word for word in words if not word.startswith("-")]:
        case ["test", *more]:
            return (Session("hatch test", (shlex.join(["pytest", *more]),), Wanted()),)
        case ["fmt", *_]:
            return (Session("hatch fmt", ("ruff check .", "ruff format --check ."), Wanted()),)
        case ["run", first, *more]:
            _, _, name = first.rpartition(":")
            lines = scripts.get(name) or (shlex.join([name, *more]),)
            return (
                Session(
                    f"hatch run {first}",
                    tuple(re.sub(r"\{args(?::([^}]*))?\}", r"\1", line) for line in lines),
                    Wanted(),
                ),
            )
        case _:
            return ()
