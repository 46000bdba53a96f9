"""Which versions of its tools a project asks for, and what is said if this machine has others."""

import re
from collections.abc import Iterator
from pathlib import Path

from noface.detection.detected import Surroundings
from noface.detection.files import present, table, text_of, toml_of
from noface.model.json_record import json_value

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_TOOL_VERSION = re.compile(r"^(nodejs|golang|rust|deno|bun)\s+(\d[\d.]*)", re.MULTILINE)
_CHANNEL = re.compile(r"^\s*(?:channel\s*=\s*)?[\"']?(\d+\.\d+(?:\.\d+)?)[\"']?\s*$", re.MULTILINE)
_BOUND = re.compile(r"(>=|<=|>|<|==|~=|!=|\^|~|=)?\s*v?(\d+(?:\.(?:\d+|[xX*]))*)")


def toolchain_notes(root: Path, surroundings: Surroundings) -> Iterator[str]:
    """Yield what is to be said of each tool whose version here is not the one that the project's files ask for."""
    for program, file, wanted in _wanted(root):
        here = _NUMBERS.search(surroundings.version_of(program))
        if here and not satisfies(here[0], wanted):
            yield f"{file} asks for {program} {wanted}; here is {here[0]}. Gates may be red until that is mended."


def _wanted(root: Path) -> Iterator[tuple[str, str, str]]:
    engines = table(json_value(text_of(root / "package.json")), "engines")
    node = next((name for name in present(root, (".nvmrc", ".node-version"))), "")
    if isinstance(engines.get("node"), str):
        yield "node", "package.json", engines["node"]
    elif node and (version := _NUMBERS.search(text_of(root / node))):
        yield "node", node, f">={version[0]}"
    for name, version in _TOOL_VERSION.findall(text_of(root / ".tool-versions")):
        program = {"nodejs": "node", "golang": "go", "rust": "rustc"}.get(name, name)
        if program != "node" or not (engines.get("node") or node):
            yield program, ".tool-versions", f">={version}"
    if go := re.search(r"^go\s+(\d[\d.]*)", text_of(root / "go.mod"), re.MULTILINE):
        yield "go", "go.mod", f">={go[1]}"
    yield from _of_toml(root)


def _of_toml(root: Path) -> Iterator[tuple[str, str, str]]:
    python = table(toml_of(root / "pyproject.toml"), "project").get("requires-python")
    if isinstance(python, str):
        yield "python3", "pyproject.toml", python
    cargo = table(toml_of(root / "Cargo.toml"))
    rust = table(cargo, "package").get("rust-version") or table(cargo, "workspace", "package").get("rust-version")
    file = next(iter(present(root, ("rust-toolchain.toml", "rust-toolchain"))), "")
    if channel := _CHANNEL.search(text_of(root / file) if file else ""):
        yield "rustc", file, f"={channel[1]}"
    elif isinstance(rust, str):
        yield "rustc", "Cargo.toml", f">={rust}"


def satisfies(version: str, wanted: str) -> bool:
    """True if a version is in a range as npm or Python write it; what is no range is met."""
    here = _parts(version)
    return any(all(_holds(here, *bound) for bound in _bounds(part)) for part in wanted.split("||"))


def _bounds(text: str) -> list[tuple[str, str]]:
    span = re.fullmatch(r"\s*v?([\d.]+)\s+-\s+v?([\d.]+)\s*", text)
    return [(">=", span[1]), ("<=", span[2])] if span else _BOUND.findall(text)


def _holds(here: tuple[int, ...], sign: str, text: str) -> bool:
    named = _parts(text)
    padded = here + (0,) * (len(named) - len(here))
    # ">=3.8" is met by 3.8.1, and "<=3.8" too: only as many parts count as are named.
    prefix = padded[: len(named)]
    match sign:
        case ">=":
            return prefix >= named
        case ">":
            return padded > named and prefix != named
        case "<":
            return prefix < named
        case "<=":
            return prefix <= named
        case "!=":
            return prefix != named
        case "^":
            return prefix >= named and padded[0] == named[0]
        case "~" | "~=":
            return prefix >= named and prefix[: max(1, len(named) - 1)] == named[: max(1, len(named) - 1)]
        case _:
            return prefix == named


def _parts(text: str) -> tuple[int, ...]:
    plain = re.split(r"\.(?=[xX*])", text)[0]
    return tuple(int(part) for part in plain.split(".") if part.isdigit())
