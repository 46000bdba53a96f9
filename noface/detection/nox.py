"""What nox runs in its sessions, as far as noxfile.py says it plainly, and what it installs for that."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from noface.detection.detected import Wanted
from noface.detection.files import text_of
from noface.detection.installs import installed
from noface.detection.steps import Session, option_values

_UNKNOWN = "$UNKNOWN"


def nox_sessions(root: Path, words: list[str]) -> Iterator[Session]:
    """Yield what a call of nox runs; nothing where its file cannot be read."""
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
            given = (
                [key.value for key in decorator.keywords if key.arg == "name"]
                if isinstance(decorator, ast.Call)
                else []
            )
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


def _session(root: Path, name: str, node: ast.FunctionDef) -> Session:
    lines: list[str] = []
    wanted = Wanted()
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
    return Session(name, tuple(lines), wanted)


def _word(item: ast.expr) -> str:
    return item.value if isinstance(item, ast.Constant) and isinstance(item.value, str) else _UNKNOWN


def _given_variables(call: ast.Call) -> Iterator[str]:
    """Yield the variables that a session gives one command, as far as they are written out there."""
    given = next((key.value for key in call.keywords if key.arg == "env"), None)
    for name, value in zip(given.keys, given.values, strict=True) if isinstance(given, ast.Dict) else ():
        pair = (_word(name) if name is not None else _UNKNOWN, _word(value))
        if _UNKNOWN not in pair:
            yield "=".join(pair)
