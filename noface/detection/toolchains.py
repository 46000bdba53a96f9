"""Which versions of its tools a project asks for, and what is said if this machine has older ones."""

import re
from collections.abc import Iterator
from pathlib import Path

from noface.detection.detected import Surroundings
from noface.detection.files import present, table, text_of, toml_of
from noface.model.json_record import json_value

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_UPPER = re.compile(r"(?:<=?|!=)\s*v?[\d.]+")


def toolchain_notes(root: Path, surroundings: Surroundings) -> Iterator[str]:
    """Yield what is to be said of each tool that is older here than the project's files ask for."""
    for program, file, wanted in _wanted(root):
        here = _NUMBERS.search(surroundings.version_of(program))
        least = min((_parts(each) for each in _NUMBERS.findall(_UPPER.sub("", wanted))), default=())
        if here and _parts(here[0])[: len(least)] < least:
            yield f"{file} asks for {program} {wanted}; here is {here[0]}. Gates may be red until that is mended."


def _wanted(root: Path) -> Iterator[tuple[str, str, str]]:
    engines = table(json_value(text_of(root / "package.json")), "engines")
    python = table(toml_of(root / "pyproject.toml"), "project").get("requires-python")
    rust = toml_of(root / "rust-toolchain.toml"), toml_of(root / "Cargo.toml")
    channel, version = table(rust[0], "toolchain").get("channel"), table(rust[1], "package").get("rust-version")
    for file in present(root, (".nvmrc", ".node-version"))[: 0 if "node" in engines else 1]:
        yield "node", file, text_of(root / file).strip()[:20]
    if go := re.search(r"^go\s+(\d[\d.]*)", text_of(root / "go.mod"), re.MULTILINE):
        yield "go", "go.mod", go[1]
    named = (
        ("node", "package.json", engines.get("node")),
        ("python3", "pyproject.toml", python),
        ("rustc", "rust-toolchain.toml" if channel else "Cargo.toml", channel or version),
    )
    yield from ((program, file, text) for program, file, text in named if isinstance(text, str))


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
