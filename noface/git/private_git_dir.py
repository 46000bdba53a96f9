"""Private git dirs: configuration and index of noface's own (law 4).

Without a sandbox an agent can write there, too. So before each use all that git reads in one is as noface made it.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from noface.git.command import Identity
from noface.git.removal import remove
from noface.git.repository import Repository
from noface.process.files import ordinary_folder, read_regular, write_atomic

_OF_GIT = ("HEAD", "config", "index", "index.lock", "shallow", "gitconfig")
_OF_NOFACE = ("guard", "setup-stamp", "kept-stamp", "setup.log", "filtered")
_OWN_FOLDERS = ("info", "refs")
_OWN_INFO = ("attributes", "exclude")
_TEMPORARY = re.compile(r"sub-[0-9a-f]{16}(\.filtered)?|\..*\.tmp")
"""What is about to be put in place, and the indexes of submodules with what is recorded of their files."""

_SHALLOW_BYTES_MAX = 1 << 30
_ATTRIBUTES = "* !filter !working-tree-encoding\n"


def make_private_git_dir(repository: Repository, git_dir: Path, ignored: str = "") -> Path:
    """Make the git dir at `git_dir`, or bring it up to date, with its ignore rules; return it."""
    for folder in (repository.state_dir, git_dir.parent, git_dir, *(git_dir / name for name in _OWN_FOLDERS)):
        ordinary_folder(folder)
    # A `commondir` of an agent's, say, would have git read another configuration.
    _remove_others(git_dir)
    write_text(git_dir / "HEAD", "ref: refs/heads/none\n")
    write_text(git_dir / "config", config_text(repository))
    write_text(git_dir / "info" / "attributes", _ATTRIBUTES)
    write_text(git_dir / "info" / "exclude", ignored)
    copy_shallow(repository.common_dir, git_dir)
    return git_dir


@contextmanager
def passing_git_dir(repository: Repository, attributes: str = "") -> Iterator[Path]:
    """Yield a git dir for one question, which nobody else has, with `attributes`."""
    with TemporaryDirectory(prefix="noface-") as folder:
        git_dir = Path(folder)
        for name in _OWN_FOLDERS:
            (git_dir / name).mkdir()
        (git_dir / "HEAD").write_text("ref: refs/heads/none\n")
        (git_dir / "config").write_text(config_text(repository))
        (git_dir / "info" / "attributes").write_text(f"{_ATTRIBUTES}{attributes}", "utf-8", "surrogateescape")
        copy_shallow(repository.common_dir, git_dir)
        yield git_dir


def _remove_others(git_dir: Path) -> None:
    """Remove what noface does not put there: hooks, a second configuration, refs, grafts, a common dir."""
    for folder, own in (
        (git_dir, (*_OF_GIT, *_OF_NOFACE, *_OWN_FOLDERS)),
        (git_dir / "info", _OWN_INFO),
        (git_dir / "refs", ()),
    ):
        with os.scandir(folder) as entries:
            present = list(entries)
        for entry in present:
            plain = entry.is_file(follow_symlinks=False)
            known = entry.name in own and (plain or entry.name in _OWN_FOLDERS)
            temporary = plain and folder.name != "refs" and _TEMPORARY.fullmatch(entry.name) is not None
            if not known and not temporary:
                remove(folder / entry.name)


def config_text(repository: Repository) -> str:
    sha1 = repository.object_format == "sha1"
    text = f"[core]\n\trepositoryformatversion = {0 if sha1 else 1}\n\tfilemode = true\n\tbare = false\n"
    text += "[gc]\n\tauto = 0\n"
    return text if sha1 else text + f"[extensions]\n\tobjectformat = {repository.object_format}\n"


def copy_shallow(common_dir: Path, git_dir: Path) -> None:
    """Copy the list of commits whose parents are missing; a person may have fetched them since."""
    content = read_regular(common_dir / "shallow", _SHALLOW_BYTES_MAX)
    if content is None:
        (git_dir / "shallow").unlink(missing_ok=True)
    else:
        write_atomic(git_dir / "shallow", content, durable=False)


def write_text(path: Path, text: str) -> None:
    if path.is_dir() and not path.is_symlink():
        remove(path)
    write_atomic(path, text.encode("utf-8", "surrogateescape"), durable=False)


VARIABLE = "GIT_CONFIG_GLOBAL"


def with_private_config(
    env: tuple[tuple[str, str], ...], folder: Path, identity: Identity, workspace: Path
) -> tuple[tuple[str, str], ...]:
    """Return an environment in which git reads a configuration in `folder`, written anew, unless it names one already.

    `git config --global` of an agent or a gate then changes that file, and not the person's, which it includes by `~`,
    since a project's tests may set a HOME of their own. What it says itself comes first, and so yields.
    """
    if any(name == VARIABLE for name, _ in env):
        return env
    text = f"[user]\n\tname = {quoted(identity.name)}\n\temail = {quoted(identity.email)}\n"
    text += f"[safe]\n\tdirectory = {quoted(str(workspace))}\n[include]\n"
    text += "".join(f"\tpath = {quoted(path)}\n" for path in _persons())
    file = folder / "gitconfig"
    write_atomic(file, text.encode("utf-8", "surrogateescape"), durable=False)
    return (*env, (VARIABLE, str(file)))


def quoted(text: str) -> str:
    flat = text.replace("\n", " ").replace("\\", "\\\\")
    return '"' + flat.replace('"', '\\"') + '"'


def _persons() -> tuple[str, ...]:
    configured = os.environ.get(VARIABLE)
    if configured:
        return (os.path.abspath(configured),)  # noqa: PTH100 - a link stays one
    folder = os.environ.get("XDG_CONFIG_HOME")
    return (f"{folder}/git/config" if folder else "~/.config/git/config", "~/.gitconfig")
