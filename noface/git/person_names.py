"""What a person's own git reads and runs: the files that their configuration includes, their commands, their hooks.

Where these lead into the working tree, whatever lands there runs in the person's next git command, and in noface's
landing, which writes checked-out files with the person's configuration.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from noface.git.command import Git
from noface.git.repository import Repository

_FIELDS = 2
_NO_COMMANDS = ("branch.", "color.", "http.", "remote.", "submodule.", "url.", "user.")
_SCRIPT_BYTES_MAX = 64 * 1024
_HOOKS_MAX = 100


@dataclass(frozen=True, slots=True)
class PersonNames:
    """Paths in the working tree that a person's git reads or runs, and texts of which words may be such paths."""

    paths: tuple[str, ...]
    texts: tuple[str, ...]


def person_names(repository: Repository) -> PersonNames:
    """Return what the person's configuration and hooks name. What cannot be read names nothing."""
    root, paths, texts = repository.root, [], []
    hooks = repository.common_dir / "hooks"
    listed = Git.user(str(root)).run("config", "--list", "--show-origin", "-z").stdout
    fields = listed.decode("utf-8", "surrogateescape").split("\0")
    for origin, setting in zip(fields[::_FIELDS], fields[1::_FIELDS], strict=False):
        if not origin.startswith("file:"):
            continue  # a -c of noface's own
        file = root / origin.removeprefix("file:")
        key, _, value = setting.partition("\n")
        paths.append(file)
        if key == "core.hookspath":
            hooks = root / Path(value).expanduser()
        elif key.startswith(("include.", "includeif.")):
            paths.append(file.parent / Path(value).expanduser())
        elif not key.startswith(_NO_COMMANDS):
            texts.append(value.replace(f"{root}/", ""))
    paths.append(hooks)
    for hook in _hooks(hooks):
        paths += [hook] if hook.is_symlink() else []
        texts.append(_text(hook).replace(f"{root}/", ""))
    inner = (_inner(root, path, resolved=resolved) for path in paths for resolved in (False, True))
    return PersonNames(tuple(sorted({path for path in inner if path})), tuple(texts))


def _hooks(folder: Path) -> list[Path]:
    try:
        return sorted(hook for hook in folder.iterdir() if hook.suffix != ".sample")[:_HOOKS_MAX]
    except OSError:
        return []


def _text(hook: Path) -> str:
    try:
        if not hook.is_file():
            return ""
        with hook.open("rb") as file:
            return file.read(_SCRIPT_BYTES_MAX).decode("utf-8", "replace")
    except OSError:
        return ""


def _inner(root: Path, path: Path, *, resolved: bool) -> str:
    """Return a path relative to the working tree; "" where it lies elsewhere, or in the git dir."""
    try:
        full = os.path.realpath(path) if resolved else os.path.normpath(path)
        name = os.path.relpath(full, os.path.realpath(root) if resolved else root)
    except (OSError, ValueError):
        return ""
    return "" if name == "." or name.split("/")[0] in ("..", ".git") else name
