"""A git configuration for one run of an agent or a gate: `git config --global` changes it, and not the person's."""

import os
from pathlib import Path

from noface.git.command import Identity
from noface.system.files import write_atomic

VARIABLE = "GIT_CONFIG_GLOBAL"
_FILE = "gitconfig"


def with_private_config(
    env: tuple[tuple[str, str], ...], folder: Path, identity: Identity, workspace: Path
) -> tuple[tuple[str, str], ...]:
    """Return an environment with such a configuration in `folder`, unless it names one already.

    For programs outside of the sandbox: in it the home is their own, and this folder may be hidden.
    """
    if any(name == VARIABLE for name, _ in env):
        return env
    return (*env, private_config(folder, identity, workspace))


def private_config(folder: Path, identity: Identity, workspace: Path) -> tuple[str, str]:
    """Write the file anew into `folder`; return the variable that has git read it in place of the person's own.

    It includes the person's, so that their settings hold: by `~`, since a project's tests may set a HOME of their own.
    What it says itself comes first, and so yields to those.
    """
    text = f"[user]\n\tname = {quoted(identity.name)}\n\temail = {quoted(identity.email)}\n"
    text += f"[safe]\n\tdirectory = {quoted(str(workspace))}\n[include]\n"
    text += "".join(f"\tpath = {quoted(path)}\n" for path in _persons())
    file = folder / _FILE
    write_atomic(file, text.encode("utf-8", "surrogateescape"), durable=False)
    return VARIABLE, str(file)


def quoted(text: str) -> str:
    """Return a value as git's configuration takes it, in one line."""
    flat = text.replace("\n", " ").replace("\\", "\\\\")
    return '"' + flat.replace('"', '\\"') + '"'


def _persons() -> tuple[str, ...]:
    """Return where git would read the person's configuration."""
    told = os.environ.get(VARIABLE)
    if told:
        return (os.path.abspath(told),)  # noqa: PTH100 - a link stays one
    folder = os.environ.get("XDG_CONFIG_HOME")
    return (f"{folder}/git/config" if folder else "~/.config/git/config", "~/.gitconfig")
