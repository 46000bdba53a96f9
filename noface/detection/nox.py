"""What nox runs in its sessions, as far as noxfile.py says it plainly, and what it installs for that."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from noface.detection.detected import Wanted
from noface.detection.files import text_of
from noface.detection.steps import Session, option_values


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
            yield _session(name, node)


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


def _session(name: str, node: ast.FunctionDef) -> Session:
    lines: list[str] = []
    items: list[str] = []
    extras: list[str] = []
    for call in ast.walk(node):
        if (
            not isinstance(call, ast.Call)
            or not isinstance(call.func, ast.Attribute)
            or ast.unparse(call.func.value) != "session"
        ):
            continue
        plain = [item for item in call.args if not isinstance(item, ast.Starred)]
        words = [
            item.value if isinstance(item, ast.Constant) and isinstance(item.value, str) else "$UNKNOWN"
            for item in plain
        ]
        if call.func.attr in {"run", "run_always"} and words:
            lines.append(shlex.join(words) if "$UNKNOWN" not in words else " ".join(words))
        elif call.func.attr == "install":
            for index, word in enumerate(words):
                if match := re.fullmatch(r"\.\[([\w,-]+)\]", word):
                    extras += match[1].split(",")
                elif word == "-r" and index + 1 < len(words) and "$" not in words[index + 1]:
                    items.append(f"-r {words[index + 1]}")
                elif (
                    re.match(r"[A-Za-z]", word)
                    and words[index - 1 : index] != ["-r"]
                    and words[index - 1 : index] != ["-c"]
                ):
                    items.append(word)
    return Session(name, tuple(lines), Wanted(tuple(extras), (), tuple(items)))
