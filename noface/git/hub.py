"""Private git dirs ("hubs"): configuration and index of noface's own, objects straight in the repository (law 4)."""

import shutil
from pathlib import Path

from noface.git.repository import Repository
from noface.system.files import write_atomic

_ATTRIBUTES = "* !filter !working-tree-encoding\n"


def make_hub(repository: Repository, hub: Path, ignored: str = "") -> Path:
    """Make the git dir at `hub`, or bring it up to date; `ignored` are its ignore rules. Returns `hub`."""
    (hub / "refs").mkdir(parents=True, exist_ok=True)
    (hub / "info").mkdir(exist_ok=True)
    write_if_new(hub / "HEAD", "ref: refs/heads/none\n")
    write_if_new(hub / "config", config_text(repository))
    write_if_new(hub / "info" / "attributes", _ATTRIBUTES)
    write_if_new(hub / "info" / "exclude", ignored)
    copy_shallow(repository, hub)
    return hub


def config_text(repository: Repository) -> str:
    """Return the configuration of a git dir of noface's making."""
    sha1 = repository.object_format == "sha1"
    text = f"[core]\n\trepositoryformatversion = {0 if sha1 else 1}\n\tfilemode = true\n\tbare = false\n"
    text += "[gc]\n\tauto = 0\n"
    return text if sha1 else text + f"[extensions]\n\tobjectformat = {repository.object_format}\n"


def copy_shallow(repository: Repository, git_dir: Path) -> None:
    """Copy the list of commits whose parents are missing; a person may have fetched them since."""
    try:
        shutil.copyfile(repository.common_dir / "shallow", git_dir / "shallow")
    except FileNotFoundError:
        (git_dir / "shallow").unlink(missing_ok=True)


def write_if_new(path: Path, text: str) -> None:
    """Write a file unless it holds this text already."""
    content = text.encode("utf-8", "surrogateescape")
    try:
        if path.read_bytes() == content:
            return
    except OSError:
        pass
    write_atomic(path, content, durable=False)
