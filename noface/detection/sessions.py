"""What tox, nox, hatch and the task runners of Python projects run, and what they install for it."""

import ast
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from noface.detection.detected import Needs, RunnerSession, option_values
from noface.detection.files import table, text_of, toml_of
from noface.detection.starters import installed
from noface.detection.tox import tox_sessions


def sessions_of(root: Path, words: list[str], scripts: Mapping[str, tuple[str, ...]]) -> tuple[RunnerSession, ...]:
    """Return what a call of tox, nox, hatch or a task runner runs; nothing if that can't be told."""
    program, *rest = words
    if program == "tox":
        return tuple(tox_sessions(root, rest))
    if program == "nox":
        return tuple(nox_sessions(root, rest))
    if program == "hatch":
        return _hatch_runs(rest, scripts)
    named = [word for word in rest if not word.startswith("-") and word != "run"]
    return (
        (RunnerSession(f"{program} {named[0]}", scripts[named[0]], Needs()),) if named and named[0] in scripts else ()
    )


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


def _hatch_runs(words: list[str], scripts: Mapping[str, tuple[str, ...]]) -> tuple[RunnerSession, ...]:
    name = "hatch test"
    lines: tuple[str, ...] = ("ruff check .", "ruff format --check .")
    match [word for word in words if not word.startswith("-")]:
        case ["test", *more]:
            lines = (shlex.join(["pytest", *more]),)
        case ["fmt", *_]:
            name = "hatch fmt"
        case ["run", first, *more]:
            script = first.rpartition(":")[2]
            name, lines = f"hatch run {first}", scripts.get(script) or (shlex.join([script, *more]),)
            lines = tuple(re.sub(r"\{args(?::([^}]*))?\}", r"\1", line) for line in lines)
        case _:
            return ()
    return (RunnerSession(name, lines, Needs()),)


_UNKNOWN = "$UNKNOWN"


def nox_sessions(root: Path, words: list[str]) -> Iterator[RunnerSession]:
    """Yield what a call of nox runs; nothing if its file cannot be read."""
    try:
        module = ast.parse(text_of(root / "noxfile.py"))
    except (SyntaxError, ValueError, RecursionError):
        return
    sessions = {
        name: node for node in module.body if isinstance(node, ast.FunctionDef) for name in _session_names(node)
    }
    default = _default_sessions(module)
    names = option_values(words, "-s", "--session", "--sessions", "-e") or default or list(sessions)
    for name in dict.fromkeys(re.sub(r"(-[\d.]+|\(.*\))$", "", name) for name in names):
        node = sessions.get(name) or sessions.get(name.replace("-", "_"))
        if node is not None:
            yield _session(root, name, node)


def _session_names(node: ast.FunctionDef) -> Iterator[str]:
    for decorator in node.decorator_list:
        call = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(call) in {"nox.session", "session"}:
            keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
            given = [key.value for key in keywords if key.arg == "name"]
            yield str(given[0].value) if given and isinstance(given[0], ast.Constant) else node.name


def _default_sessions(module: ast.Module) -> list[str]:
    for node in module.body:
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == "nox.options.sessions"
            and isinstance(node.value, ast.List | ast.Tuple)
        ):
            return [str(item.value) for item in node.value.elts if isinstance(item, ast.Constant)]
    return []


def _session(root: Path, name: str, node: ast.FunctionDef) -> RunnerSession:
    lines: list[str] = []
    wanted = Needs()
    for call in ast.walk(node):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        words = [_word(item) for item in call.args if not isinstance(item, ast.Starred)]
        match ast.unparse(call.func):
            case "session.run" | "session.run_always" if words:
                words = [*_given_variables(call), *words]
                lines.append(shlex.join(words) if _UNKNOWN not in words else " ".join(words))
            case "session.install":
                wanted += installed(root, ["pip", "install", *words])
            case _:
                pass
    return RunnerSession(name, tuple(lines), wanted)


def _word(item: ast.expr) -> str:
    return item.value if isinstance(item, ast.Constant) and isinstance(item.value, str) else _UNKNOWN


def _given_variables(call: ast.Call) -> Iterator[str]:
    """Yield the variables that a session gives one command, as far as they are written out there."""
    given = next((key.value for key in call.keywords if key.arg == "env"), None)
    for name, value in zip(given.keys, given.values, strict=True) if isinstance(given, ast.Dict) else ():
        pair = (_word(name) if name is not None else _UNKNOWN, _word(value))
        if _UNKNOWN not in pair:
            yield "=".join(pair)
