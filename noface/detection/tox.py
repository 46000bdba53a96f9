"""What tox runs in its environments, and what it installs for that."""

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from noface.detection.detected import Needs, RunnerSession, option_values
from noface.detection.files import is_inner, table, texts, toml_of
from noface.detection.python_project import read_ini, read_ini_text

_VERSION_FACTOR = re.compile(r"(py|python|pypy|cpython)?[\d.]*t?|pypy\d*|lts|min|lowest")
_VARIABLES = ("setenv", "set_env")
_NAMES_MAX = 100
_TOP = ("toxinidir", "tox_root", "package_root")
_FIXED = {"envpython": "python", "/": "/"}
_PROGRAMS = re.compile(r"\{(?:envbindir|env_bin_dir)\}(?:/|\{/\})")
_PACKAGES = re.compile(r"\{(?:envsitepackagesdir|env_site_packages_dir)\}(?:/|\{/\})(\w+)")


def tox_sessions(root: Path, words: list[str]) -> Iterator[RunnerSession]:
    """Yield what a call of tox runs, of environments that differ in versions only the first."""
    # What stands behind `--` is for the tests, and names no environment.
    words = words[: words.index("--")] if "--" in words else words
    sections = _sections(root, next(iter(option_values(words, "-c", "--conf") or ()), ""))
    if not sections:
        return
    first = sections.get("tox", sections.get("tox:tox", {}))
    # Without a list tox runs the environment `py`.
    listed = _expanded(first.get("envlist") or first.get("env_list") or "py")
    names = option_values(words, "-e", "--env")
    if names is None and (factors := option_values(words, "-f")) is not None:
        wanted = {
            factor
            for each in factors
            for factor in each.split("-")
            if not _VERSION_FACTOR.fullmatch(factor) and "$" not in factor
        }
        names = [name for name in listed if wanted <= set(name.split("-"))]
    elif names is None and (labels := option_values(words, "-m")) is not None:
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
        yield _session(root, sections, name, set(factors_of))


def _sections(root: Path, file: str) -> dict[str, dict[str, str]]:
    """Return tox's sections as those of an INI file, wherever they stand."""
    for name in (file,) if file else ("tox.ini", "setup.cfg"):
        if name.endswith((".ini", ".cfg")):
            sections = read_ini(root / name)
            if "testenv" in sections or "tox" in sections or "tox:tox" in sections:
                return sections
    tool = table(toml_of(root / "pyproject.toml"), "tool", "tox")
    if isinstance(legacy := tool.get("legacy_tox_ini"), str):
        return read_ini_text(legacy)
    return _fromtoml_of(tool or toml_of(root / "tox.toml"))


def _fromtoml_of(tool: dict[str, Any]) -> dict[str, dict[str, str]]:
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
            elif key in _VARIABLES:
                lines[key] = "\n".join(f"{name}={text}" for name, text in table(value).items() if isinstance(text, str))
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


def _lines_of(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        key, equals, value = line.partition("=")
        if equals:
            yield key.strip(), value.strip()


def _session(root: Path, sections: dict[str, dict[str, str]], name: str, factors: set[str]) -> RunnerSession:
    keys = dict(sections.get("testenv", {}))
    versionless = "-".join(factor for factor in name.split("-") if not _VERSION_FACTOR.fullmatch(factor))
    for section, more in sections.items():
        if section.startswith("testenv:") and {name, versionless} & set(_expanded(section.removeprefix("testenv:"))):
            keys |= more

    def lines(*names: str, top: str = ".") -> tuple[str, ...]:
        text = next((keys[key] for key in names if key in keys), "")
        text = _filled(_in_the_tree(root, text), sections, top)
        given = (_for_factors(line, factors) for line in text.replace("\\\n", " ").split("\n"))
        return tuple(line.strip() for line in given if line.strip() and not line.strip().startswith("#"))

    # A folder that tox or the build makes is not in a checkout: what runs there names its files from the top.
    folder = "".join(lines("changedir", "change_dir")[:1]).removeprefix("./").strip("/")
    folder = folder if folder and is_inner(folder) and (root / folder).is_dir() else ""
    top = "/".join([".."] * len(Path(folder).parts)) or "."
    # What an environment rewrites is no check, and what may fail is none either.
    commands = tuple(line for line in lines("commands", top=top) if not line.startswith(("-", "!")))
    variables = [f"{key}={value}" for key, value in _lines_of("\n".join(lines(*_VARIABLES, top=top)))]
    commands = tuple(" ".join((*map(shlex.quote, variables), _no_shell(line))) for line in commands)
    wanted = Needs(
        _split(lines("extras")),
        _split(lines("dependency_groups")),
        tuple(_item(line) for line in lines("deps") if not re.search(r"[{$]|://", line)),
    )
    return RunnerSession(name, commands, wanted, folder)


def _no_shell(line: str) -> str:
    """Return a command of tox's, which no shell reads, as a line that a shell reads so."""
    try:
        return shlex.join(shlex.split(line))
    except ValueError:
        return line


def _in_the_tree(root: Path, text: str) -> str:
    """Return a text with what lies in the environment by its name, and the package installed there where its files are.

    A checkout's own package is installed so that Python imports it from there.
    """

    def place(match: re.Match[str]) -> str:
        names = (f"src/{match[1]}", match[1], f"{match[1]}.py")
        return next((f"{{toxinidir}}/{name}" for name in names if (root / name).exists()), match[0])

    return _PACKAGES.sub(place, _PROGRAMS.sub("", text))


def _item(line: str) -> str:
    # pip takes `-rFILE` as well, but who reads this looks for `-r FILE`.
    return re.sub(r"^-([rc])\s*", r"-\1 ", re.sub(r"\s+#.*$", "", line)).replace("./", "")


def _split(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for line in lines for name in re.split(r"[,\s]+", line) if name)


def _for_factors(line: str, factors: set[str]) -> str:
    """Return a line without the condition before it, "" if that does not hold."""
    match = re.match(r"\s*([!\w.,{}-]+):\s+(.*)", line)
    if match is None:
        return line
    groups = _expanded(match[1])
    holds = any(
        all((factor.lstrip("!") in factors) != factor.startswith("!") for factor in group.split("-"))
        for group in groups
    )
    return match[2] if holds else ""


def _filled(text: str, sections: dict[str, dict[str, str]], top: str) -> str:
    """Return a text with tox's substitutions made; those that only a run knows become variables."""
    # A substitution may hold another one, as {env:A:{toxinidir}}; one that leads to itself has to end as well.
    for _ in range(4):

        def made(match: re.Match[str]) -> str:
            if match[1] == ":":  # what stands between the folders of a variable
                return ":"
            name, _, default = match[1].partition(":")
            if reference := re.fullmatch(r"\[([^\]]+)\](\w+)", match[1]):
                return sections.get(reference[1], {}).get(reference[2], "")
            if name == "posargs":
                return default
            if name == "env":
                return default.partition(":")[2]
            return top if name in _TOP else _FIXED.get(name, f"${name.upper()}")

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
