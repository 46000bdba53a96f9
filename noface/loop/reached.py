"""Finds the files that gates reach: what their commands run, and what those scripts call, from one to the next."""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from noface.core.canary import sources
from noface.core.gate import GateSpec
from noface.git.plumbing import Plumbing

_FILES_MAX = 200
_READ_BYTES_MAX = 64 * 1024
_ROUNDS_MAX = 6
_KEPT_MAX = 8
_GO_BY = (
    (r"\b(npm|pnpm|yarn|bun)\b", ("package.json",)),
    (r"\bg?make\b", ("GNUmakefile", "makefile", "Makefile")),
    (r"\btox\b", ("tox.ini", "tox.toml")),
    (r"\bnox\b", ("noxfile.py",)),
    (r"\bjust\b", ("justfile", "Justfile")),
    (r"\b(rake|bundle)\b", ("Rakefile",)),
)
_TEXTS = (".py", ".rb", ".sh", ".bash", ".mk", ".json", ".toml", ".cfg", ".ini", ".yaml", ".yml", ".cmake", "")


@dataclass(frozen=True, slots=True)
class Reached:
    """The files that gates reach, and the text of their commands with that of the scripts that these call."""

    files: frozenset[str]
    text: str


@lru_cache(maxsize=_KEPT_MAX)
def reached(plumbing: Plumbing, main: str, gates: tuple[GateSpec, ...]) -> Reached:
    """Return what of main the gates' commands name, and what the scripts among that name.

    The product's own sources are none of them, though a gate may run one: `python app.py` runs what is worked on.
    """
    tree = plumbing.whole(main)
    commands = "\n".join(gate.command for gate in gates)
    found = {*tree.files_named(commands), *(path for path in tree.paths if _steers(path, commands))}
    fresh, texts = set(found), [commands]
    for _ in range(_ROUNDS_MAX):
        said = _texts(plumbing, main, fresh)
        texts += said.values()
        fresh = {name for path, text in said.items() for name in tree.files_named(text, _folders(path))} - found
        if not fresh or len(found) > _FILES_MAX:
            break
        found |= fresh
    files = frozenset(path for path in found - set(sources(found, ())) if not _steers(path, commands))
    return Reached(files, "\n".join(texts))


def _steers(path: str, commands: str) -> bool:
    """Tell whether a command goes by a file that it does not name."""
    name = PurePosixPath(path).name
    return any(re.search(program, commands) and name in files for program, files in _GO_BY)


def _texts(plumbing: Plumbing, main: str, paths: set[str]) -> dict[str, str]:
    """Return what stands in those of the files that may be scripts; of package.json its scripts alone."""
    named = tuple(sorted(path for path in paths if PurePosixPath(path).suffix in _TEXTS))
    found = {}
    entries = plumbing.entries(main, named[:_FILES_MAX])
    with plumbing.blobs() as blobs:
        for path, (_, oid) in entries.items():
            text = (blobs.read(oid, _READ_BYTES_MAX) or b"").decode("utf-8", "replace")
            found[path] = _scripts(text) if PurePosixPath(path).name == "package.json" else text
    return found


def _scripts(text: str) -> str:
    try:
        scripts = json.loads(text)["scripts"].values()
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return text
    return "\n".join(str(script) for script in scripts)


def _folders(path: str) -> tuple[str, ...]:
    """Return where the names in a script are seen from: the top, and its own folder."""
    folder = str(PurePosixPath(path).parent)
    return ("", folder) if folder != "." else ("",)
