"""The recipes of makefiles and justfiles, and the hooks of pre-commit whose tools are known: what they run."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from noface.detection.detected import CI
from noface.detection.files import is_inner, table, text_of, texts, yaml_of

Recipes = dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""By target: the targets that it needs, and its lines without what only hides them."""
_TARGET = re.compile(
    r"^([\w./-]+)([ \t]+[^:\n]*?)?::?(?![=:])([^\n=]*)\n((?:\t.*\n?|[ ]{2,}.*\n?|[ \t]*\n)*)", re.MULTILINE
)


def make_targets(root: Path) -> tuple[str, Recipes]:
    """Return the makefile's name, and of each target what it needs and its lines."""
    file = next((name for name in ("GNUmakefile", "makefile", "Makefile") if (root / name).is_file()), "")
    return file, _recipes(text_of(root / file)) if file else {}


def just_recipes(root: Path) -> Recipes:
    """Return the recipes of a justfile, none without one."""
    file = next((name for name in ("justfile", "Justfile", ".justfile") if (root / name).is_file()), "")
    return _recipes(text_of(root / file)) if file else {}


def _recipes(text: str) -> Recipes:
    recipes = {}
    for match in _TARGET.finditer(text.replace("\\\n", " ")):
        # A line behind a `-` may fail.
        given = (re.fullmatch(r"\s*([@+-]*)\s*([^#\s].*?)\s*", line) for line in match[4].split("\n"))
        lines = tuple(line[2] for line in given if line and "-" not in line[1])
        for name in (match[1], *(word for word in (match[2] or "").split() if re.fullmatch(r"[\w./-]+", word))):
            recipes[name] = (tuple(match[3].split("#")[0].split()), lines)
    return recipes


PRE_COMMIT_FILE = ".pre-commit-config.yaml"
_MENDS = re.compile(CI["hook_mends"]["pattern"])


class Hook(NamedTuple):
    """A hook: `start` is its command without arguments and places, nothing if its tool is not known."""

    name: str
    start: tuple[str, ...]
    words: tuple[str, ...]
    needs: tuple[str, ...]


def hooks_of(root: Path) -> Iterator[Hook]:
    """Yield the hooks of a project, in their order."""
    config = yaml_of(root / PRE_COMMIT_FILE)
    repos, but = config.get("repos"), str(config.get("exclude") or "")
    listed = [table(repo).get("hooks") for repo in repos] if isinstance(repos, list) else []
    for hook in (hook for hooks in listed if isinstance(hooks, list) for hook in hooks if isinstance(hook, dict)):
        name = str(hook.get("id"))
        yield _known(root, name, hook, but) if name in CI["hooks"] else Hook(name, (), (), ())


def _known(root: Path, name: str, hook: dict[Any, Any], but: str) -> Hook:
    base = shlex.split(CI["hooks"][name])
    start, places = (base[:-1], base[-1:]) if base[-1] == "." else (base, [])
    if name == "mypy":
        places = list(_places(root, str(hook.get("files") or "")))
    left_out = [place for text in (but, str(hook.get("exclude") or "")) for place in _places(root, text)]
    if left_out and name in CI["hook_excludes"]:
        places = [CI["hook_excludes"][name], ",".join(left_out), *places]
    # A hook may mend what it finds; a gate must not change what it checks.
    given = [word for word in texts(hook.get("args")) if not _MENDS.match(word)]
    needs = tuple(item for item in texts(hook.get("additional_dependencies")) if item[:1].isalpha())
    return Hook(name, tuple(start), (*start, *given, *places), needs)


def _places(root: Path, pattern: str) -> tuple[str, ...]:
    """Return the files and folders that a pattern of a hook names, none if it names something else."""
    match = re.fullmatch(r"\(?([\w./|-]+?)\)?/?(\.\*)?\$?", re.sub(r"\(\?x\)|\s|\\(?=\.)|\^", "", pattern))
    names = [name.strip("/") for name in match[1].split("|")] if match else []
    return tuple(names) if names and all(is_inner(name) and (root / name).exists() for name in names) else ()
