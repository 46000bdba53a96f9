"""Finds what is protected from the work on an issue: what main's files name, and what gates reach."""

import json
import posixpath
import re
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from noface.data import table
from noface.git.plumbing import Plumbing
from noface.git.repository import person_names
from noface.integrity.judges import is_compiled, sources
from noface.integrity.named_files import Tree, modules_run
from noface.model.gate import GateSpec
from noface.model.patterns import matches_any
from noface.model.protection import always_protected

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
    """The files that gates reach; `started` are code that they start and that may be the product: `python app.py`."""

    files: frozenset[str]
    started: frozenset[str] = frozenset()


@lru_cache(maxsize=_KEPT_MAX)
def reached(plumbing: Plumbing, main: str, gates: tuple[GateSpec, ...]) -> Reached:
    """Return what of main the gates' commands name, and what the scripts among that name."""
    tree = plumbing.whole(main)
    commands = "\n".join(gate.command for gate in gates)
    steering = _steering(tree.paths, commands)
    paths = {*tree.files_named(commands), *steering, *modules_run(commands, tree.paths)}
    paths.update(tree.scripts_matching(commands))
    fresh = set(paths)
    for _ in range(_ROUNDS_MAX):
        scripts = _texts(plumbing, main, fresh)
        # Their names may be relative to the top, or to the script's own folder.
        folders = {path: str(PurePosixPath(path).parent).removeprefix(".") for path in scripts}
        fresh = {name for p, text in scripts.items() for name in tree.files_named(text, tuple({"", folders[p]}))}
        for text in scripts.values():
            fresh.update(modules_run(text, tree.paths), tree.scripts_matching(text))
        fresh -= paths
        if not fresh or len(paths) > _FILES_MAX:
            break
        paths |= fresh
    started = frozenset((*sources(paths, ()), *filter(is_compiled, paths)))  # a build names what it compiles
    return Reached(frozenset(paths - started - _steering(paths, commands)), started)


def _steering(paths: AbstractSet[str], commands: str) -> frozenset[str]:
    """Return the files that a command reads and does not name, as make reads a Makefile."""
    names = {name for program, files in _GO_BY if re.search(program, commands) for name in files}
    return frozenset(path for path in paths if path.rpartition("/")[2] in names) if names else frozenset()


def _texts(plumbing: Plumbing, main: str, paths: set[str]) -> dict[str, str]:
    named = tuple(sorted(path for path in paths if PurePosixPath(path).suffix in _TEXTS))
    texts = plumbing.texts(main, named[:_FILES_MAX], _READ_BYTES_MAX)
    for path in (path for path in texts if PurePosixPath(path).name == "package.json"):
        with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
            texts[path] = "\n".join(str(script) for script in json.loads(texts[path])["scripts"].values())
    return texts


_LINK = "120000"
AIDER_SETTINGS = ".aider.conf.yml"
_PROTECTED_ROUNDS_MAX = 8
_NAMING_MAX = 200


def named_instructions(plumbing: Plumbing, main: str) -> tuple[str, ...]:
    """Return the files that agents read as main's instructions: targets of links such as CLAUDE.md, aider's `read`."""
    inner = set(read_by_aider(plumbing, main))
    return tuple(sorted(inner | _led_to(plumbing.whole(main), inner, always_protected())))


def read_by_aider(plumbing: Plumbing, commit: str) -> tuple[str, ...]:
    """Return the paths inside the project that `read` of its .aider.conf.yml names, whether they are there or not."""
    there = any(mode != _LINK for mode, _ in plumbing.entries(commit, (AIDER_SETTINGS,)).values())
    texts = plumbing.texts(commit, (AIDER_SETTINGS,), _READ_BYTES_MAX) if there else {}
    paths = (posixpath.normpath(name) for name in named_to_read(texts.get(AIDER_SETTINGS, "")) if name)
    return tuple(dict.fromkeys(path for path in paths if not path.startswith(("/", "..")) and path != "."))


def named_programs(plumbing: Plumbing, main: str) -> tuple[str, ...]:
    """Return the files of the tree that run with a person's git or shell, or with settings of main for agents."""
    tree, naming_files = plumbing.whole(main), tuple(table("protected")["naming"])
    paths, texts = person_names(plumbing.repository)
    programs = {place for path in paths for place in tree.places(path)}
    behind = tuple(sorted({*programs, *_led_to(tree, frozenset(), naming_files)}))
    below = tuple(f"{path}/" for path in behind)
    hidden = (path for path in tree.paths if path.startswith(".") or "/." in path)
    naming = {path for path in hidden if matches_any(path, naming_files)}
    naming |= {path for path in tree.paths if path.startswith(below)} | (tree.paths & set(behind))
    programs.update(place for text in texts for place in tree.files_named(text))
    for path, text in plumbing.texts(main, tuple(sorted(naming)[:_NAMING_MAX]), _READ_BYTES_MAX).items():
        folders = ("", *(str(parent) for parent in PurePosixPath(path).parents if str(parent) != "."))
        programs.update(tree.files_named(text, folders))
    return tuple(sorted(programs))


def _led_to(tree: Tree, more: AbstractSet[str], patterns: tuple[str, ...]) -> set[str]:
    targets: set[str] = set()
    left = dict.fromkeys(tree.links)
    for _ in range(_PROTECTED_ROUNDS_MAX):
        names = (*patterns, *sorted(more), *sorted(targets))
        on = [link for link in left if matches_any(link, names)]
        if not on:
            break
        for place in {place for link in on for place in tree.places(link)} | set(on):
            left.pop(place, None)  # a folder on the way is a link that stays; its other contents do not count
            targets.add(place)
    return {path for path in targets if not matches_any(path, patterns)}


def named_to_read(text: str) -> list[str]:
    """Return what `read` of aider's settings names; nothing if they are no YAML."""
    import yaml

    try:
        read = yaml.safe_load(text)["read"]
    except (yaml.YAMLError, TypeError, KeyError, ValueError):
        return []
    return [str(name) for name in (read if isinstance(read, list) else [read])]
