"""What tox, nox, hatch and the task runners of Python projects run, and what they install for it."""

import ast
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noface.config.detection import Wanted, table, text_of, texts
from noface.config.python_project import read_ini, read_ini_text

_VERSION_FACTOR = re.compile(r"(py|python|pypy|cpython)?[\d.]*t?|pypy\d*|lts|min|lowest")
_NAMES_MAX = 100


@dataclass(frozen=True)
class Run:
    """An environment's lines of shell, and what is installed for them."""

    name: str
    lines: tuple[str, ...]
    wanted: Wanted


def session_runs(root: Path, words: list[str], scripts: Mapping[str, tuple[str, ...]]) -> tuple[Run, ...]:
    """Return what a call of tox, nox, hatch or a task runner runs; nothing where that can't be told."""
    program, *rest = words
    if program == "tox":
        return tuple(_tox_runs(root, rest))
    if program == "nox":
        return tuple(_nox_runs(root, rest))
    if program == "hatch":
        return _hatch_runs(rest, scripts)
    named = [word for word in rest if not word.startswith("-") and word != "run"]
    return (Run(f"{program} {named[0]}", scripts[named[0]], Wanted()),) if named and named[0] in scripts else ()


def tool_scripts(root: Path) -> dict[str, tuple[str, ...]]:
    """Return the lines of the scripts that pyproject.toml has for pdm, poe, rye and hatch."""
    tool = table(_toml(root / "pyproject.toml"), "tool")
    named: dict[str, object] = {}
    for place in (("pdm", "scripts"), ("poe", "tasks"), ("rye", "scripts"), ("taskipy", "tasks")):
        named |= table(tool, *place)
    for environment in table(tool, "hatch", "envs").values():
        named |= table(environment, "scripts")
    return {name: lines for name, value in named.items() if (lines := _script_lines(value))}


def _script_lines(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list):
        return texts(value)
    inner = table(value)
    return _script_lines(
        inner.get("cmd") or inner.get("shell") or inner.get("composite") or inner.get("sequence") or ()
    )


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text_of(path))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _values(words: list[str], *options: str) -> list[str] | None:
    """Return what is given with an option, None without it."""
    for index, word in enumerate(words):
        option, _, value = word.partition("=")
        if word in options and index + 1 < len(words):
            rest = words[index + 1 :]
            end = next((place for place, each in enumerate(rest) if each.startswith("-")), len(rest))
            return [name for each in rest[: end or 1] for name in re.split(r"[,\s]", each) if name]
        if option in options and value:
            return [name for name in value.split(",") if name]
    return None


def _hatch_runs(words: list[str], scripts: Mapping[str, tuple[str, ...]]) -> tuple[Run, ...]:
    match [word for word in words if not word.startswith("-")]:
        case ["test", *more]:
            return (Run("hatch test", (shlex.join(["pytest", *more]),), Wanted()),)
        case ["fmt", *_]:
            return (Run("hatch fmt", ("ruff check .", "ruff format --check ."), Wanted()),)
        case ["run", first, *more]:
            _, _, name = first.rpartition(":")
            lines = scripts.get(name) or (shlex.join([name, *more]),)
            return (
                Run(
                    f"hatch run {first}",
                    tuple(re.sub(r"\{args(?::([^}]*))?\}", r"\1", line) for line in lines),
                    Wanted(),
                ),
            )
        case _:
            return ()


# tox


def _tox_sections(root: Path, file: str) -> dict[str, dict[str, str]]:
    """Return tox's sections as those of an INI file, wherever they stand."""
    for name in (file,) if file else ("tox.ini", "setup.cfg"):
        if name.endswith((".ini", ".cfg")):
            sections = read_ini(root / name)
            if "testenv" in sections or "tox" in sections or "tox:tox" in sections:
                return sections
    tool = table(_toml(root / "pyproject.toml"), "tool", "tox")
    if isinstance(legacy := tool.get("legacy_tox_ini"), str):
        return read_ini_text(legacy)
    return _from_toml(tool or _toml(root / "tox.toml"))


def _from_toml(tool: dict[str, Any]) -> dict[str, dict[str, str]]:
    sections = {"tox": {"envlist": "\n".join(texts(tool.get("env_list")))}} if tool else {}
    environments = {
        "testenv": table(tool, "env_run_base"),
        **{f"testenv:{name}": value for name, value in table(tool, "env").items()},
    }
    for name, keys in environments.items() if tool else ():
        lines: dict[str, str] = {}
        for key, value in table(keys).items():
            if key == "commands" and isinstance(value, list):
                lines[key] = "\n".join(shlex.join(_toml_words(each)) for each in value if isinstance(each, list))
            elif isinstance(value, list):
                lines[key] = "\n".join(texts(value))
            elif isinstance(value, str):
                lines[key] = value
        sections[name] = lines
    return sections


def _toml_words(command: list[Any]) -> Iterator[str]:
    for word in command:
        if isinstance(word, str):
            yield word
        elif isinstance(word, dict):
            yield from texts(word.get("default"))


def _tox_runs(root: Path, words: list[str]) -> Iterator[Run]:
    words = words[: words.index("--")] if "--" in words else words
    sections = _tox_sections(root, next(iter(_values(words, "-c", "--conf") or ()), ""))
    if not sections:
        return
    first = sections.get("tox", sections.get("tox:tox", {}))
    listed = _expanded(first.get("envlist") or first.get("env_list") or "")
    names = _values(words, "-e", "--env")
    if names is None and (factors := _values(words, "-f")) is not None:
        wanted = {
            factor
            for each in factors
            for factor in each.split("-")
            if not _VERSION_FACTOR.fullmatch(factor) and "$" not in factor
        }
        names = [name for name in listed if wanted <= set(name.split("-"))]
    elif names is None and (labels := _values(words, "-m")) is not None:
        names = [
            name for label in labels for name in _expanded(dict(_lines_of(first.get("labels", ""))).get(label, ""))
        ]
    seen = set()
    for name in _expanded(",".join(names if names is not None else listed)):
        factors_of = [factor for factor in name.split("-") if "$" not in factor and "{" not in factor]
        plain = tuple(factor for factor in factors_of if not _VERSION_FACTOR.fullmatch(factor))
        if plain in seen:
            continue
        seen.add(plain)
        yield _tox_run(sections, name, set(factors_of))


def _lines_of(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        key, equals, value = line.partition("=")
        if equals:
            yield key.strip(), value.strip()


def _tox_run(sections: dict[str, dict[str, str]], name: str, factors: set[str]) -> Run:
    keys = dict(sections.get("testenv", {}))
    versionless = "-".join(factor for factor in name.split("-") if not _VERSION_FACTOR.fullmatch(factor))
    for section, more in sections.items():
        if section.startswith("testenv:") and {name, versionless} & set(_expanded(section.removeprefix("testenv:"))):
            keys |= more

    def lines(*names: str) -> tuple[str, ...]:
        text = next((keys[key] for key in names if key in keys), "")
        given = (_for_factors(line, factors) for line in _filled(text, sections).replace("\\\n", " ").split("\n"))
        return tuple(line.strip() for line in given if line.strip() and not line.strip().startswith("#"))

    # What an environment rewrites is no check, and what may fail is none either.
    commands = tuple(line for line in lines("commands") if not line.startswith(("-", "!")))
    wanted = Wanted(
        _split(lines("extras")),
        _split(lines("dependency_groups")),
        tuple(_item(line) for line in lines("deps") if not re.search(r"[{$]|://", line)),
    )
    return Run(name, commands, wanted)


def _item(line: str) -> str:
    return re.sub(r"^-([rc])\s*", r"-\1 ", re.sub(r"\s+#.*$", "", line)).replace("./", "")


def _split(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for line in lines for name in re.split(r"[,\s]+", line) if name)


def _for_factors(line: str, factors: set[str]) -> str:
    """Return a line without the condition before it, "" where that does not hold."""
    match = re.match(r"\s*([!\w.,{}-]+):\s+(.*)", line)
    if match is None:
        return line
    groups = _expanded(match[1])
    holds = any(
        all((factor.lstrip("!") in factors) != factor.startswith("!") for factor in group.split("-"))
        for group in groups
    )
    return match[2] if holds else ""


_FIXED = {"toxinidir": ".", "tox_root": ".", "envpython": "python", "package_root": ".", "/": "/"}


def _filled(text: str, sections: dict[str, dict[str, str]]) -> str:
    """Return a text with tox's substitutions made; those that only a run knows become variables."""
    for _ in range(4):

        def made(match: re.Match[str]) -> str:
            name, _, default = match[1].partition(":")
            if reference := re.fullmatch(r"\[([^\]]+)\](\w+)", match[1]):
                return sections.get(reference[1], {}).get(reference[2], "")
            if name == "posargs":
                return default
            if name == "env":
                return default.partition(":")[2]
            return _FIXED.get(name, f"${name.upper()}")

        changed = re.sub(r"\{([^{}]*)\}", made, text)
        if changed == text:
            break
        text = changed
    return text


def _expanded(text: str) -> list[str]:
    """Return names that are listed with commas and lines, their braces spelled out."""
    names: list[str] = []
    for item in re.split(r"[,\n]\s*(?![^{]*\})", text):
        pending = [re.sub(r"\s+", "", item.split("#")[0])]
        while pending and len(names) < _NAMES_MAX:
            name = pending.pop(0)
            match = re.search(r"\{([^{}]*)\}", name)
            if match is None:
                names += [name] if name else []
            else:
                pending[:0] = [name[: match.start()] + option + name[match.end() :] for option in _options(match[1])]
    return names


def _options(text: str) -> list[str]:
    span = re.fullmatch(r"(\d+)-(\d+)", text)
    return [str(number) for number in range(int(span[1]), int(span[2]) + 1)][:_NAMES_MAX] if span else text.split(",")


# nox


def _nox_runs(root: Path, words: list[str]) -> Iterator[Run]:
    try:
        module = ast.parse(text_of(root / "noxfile.py"))
    except (SyntaxError, ValueError, RecursionError):
        return
    sessions = {
        name: node for node in module.body if isinstance(node, ast.FunctionDef) for name in _session_names(node)
    }
    default = _default_sessions(module)
    names = _values(words, "-s", "--session", "--sessions", "-e") or default or list(sessions)
    for name in dict.fromkeys(re.sub(r"(-[\d.]+|\(.*\))$", "", name) for name in names):
        node = sessions.get(name) or sessions.get(name.replace("-", "_"))
        if node is not None:
            yield _nox_run(name, node)


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


def _nox_run(name: str, node: ast.FunctionDef) -> Run:
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
    return Run(name, tuple(lines), Wanted(tuple(extras), (), tuple(items)))
