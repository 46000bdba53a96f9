"""Finds the files that gates reach: what their commands run, and what those scripts call, from one to the next."""

import re
from pathlib import PurePosixPath

from noface.core.canary import sources
from noface.core.gate import GateSpec
from noface.core.tree_links import Tree
from noface.git.plumbing import Plumbing

_FILES_MAX = 200
_READ_BYTES_MAX = 64 * 1024
_ROUNDS_MAX = 6
_GO_BY = (
    (r"\b(npm|pnpm|yarn|bun)\b", ("package.json",)),
    (r"\bg?make\b", ("GNUmakefile", "makefile", "Makefile")),
    (r"\btox\b", ("tox.ini", "tox.toml")),
    (r"\bnox\b", ("noxfile.py",)),
    (r"\bjust\b", ("justfile", "Justfile")),
    (r"\b(rake|bundle)\b", ("Rakefile",)),
)
_TEXTS = (".py", ".rb", ".sh", ".bash", ".mk", ".json", ".toml", ".cfg", ".ini", ".yaml", ".yml", ".cmake", "")


def reached(plumbing: Plumbing, main: str, gates: tuple[GateSpec, ...]) -> frozenset[str]:
    """Return the files of main that the gates' commands name, and those that the scripts among them name.

    The product's own sources are none of them, though a gate may run one: `python app.py` runs what is worked on.
    """
    tree = plumbing.whole(main)
    commands = "\n".join(gate.command for gate in gates)
    found = {*tree.files_named(commands), *(path for path in tree.paths if _steers(path, commands))}
    fresh = set(found)
    for _ in range(_ROUNDS_MAX):
        fresh = _named_in(plumbing, main, tree, fresh) - found
        if not fresh or len(found) > _FILES_MAX:
            break
        found |= fresh
    return frozenset(path for path in found - set(sources(found, ())) if not _steers(path, commands))


def _steers(path: str, commands: str) -> bool:
    """Tell whether a command goes by a file that it does not name."""
    name = PurePosixPath(path).name
    return any(re.search(program, commands) and name in files for program, files in _GO_BY)


def _named_in(plumbing: Plumbing, main: str, tree: Tree, paths: set[str]) -> set[str]:
    """Return the files that these scripts name, seen from the top and from their own folder."""
    texts = tuple(sorted(path for path in paths if PurePosixPath(path).suffix in _TEXTS))
    found: set[str] = set()
    entries = plumbing.entries(main, texts[:_FILES_MAX])
    with plumbing.blobs() as blobs:
        for path, (_, oid) in entries.items():
            text = (blobs.read(oid, _READ_BYTES_MAX) or b"").decode("utf-8", "replace")
            folder = str(PurePosixPath(path).parent)
            found.update(tree.files_named(text, ("", folder) if folder != "." else ("",)))
    return found
