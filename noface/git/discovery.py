"""The questions `discover` asks the user's git, and what it tells people where the answer is no."""

import os
import re
from pathlib import Path

from noface.errors import UsageError
from noface.git.command import Git, Identity

GIT_VERSION_MIN = (2, 38)
_SCRATCH = "refs/heads/noface"
_INSTALL = "Install git 2.38 or newer and put it on PATH."


def check_version(git: Git) -> None:
    """Raise UsageError where git is missing or older than `merge-tree --write-tree`."""
    try:
        said = git.run("version")
    except Exception as error:  # GitPython has no class for it: its import fails in several ways without a git
        raise UsageError("git was not found.", _INSTALL) from error
    if said.code != 0:
        raise UsageError("git was not found.", _INSTALL)
    match = re.search(r"(\d+)\.(\d+)", said.text)
    if match is None or (int(match[1]), int(match[2])) < GIT_VERSION_MIN:
        raise UsageError(
            f"{said.text} is too old: noface needs 2.38 (`git merge-tree --write-tree`).", "Install a newer git."
        )


def no_repository(start: Path, stderr: str) -> UsageError:
    """Return the error for a folder in which git finds no repository it would work with."""
    if "dubious ownership" in stderr:
        return UsageError(
            f"git refuses {start}: it belongs to another user.",
            f"If you trust it: `git config --global --add safe.directory {start}`.",
        )
    if "unknown repository extension" in stderr or "repository version" in stderr:
        return UsageError(f"This git cannot read the repository: {stderr.strip()}", "Install a newer git.")
    return UsageError(
        f"{start} is not in a git repository.", "Change to your project's folder, or make one: `git init`."
    )


def check_complete(git: Git) -> None:
    """Raise UsageError where objects are missing that git would fetch when needed."""
    promised = git.run("config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$")
    if promised.code == 0 and any(not line.endswith(" false") for line in promised.text.splitlines()):
        raise UsageError(
            "This is a partial clone: objects are missing, and noface never fetches.",
            "Make a full clone: `git clone --no-filter <url>`.",
        )


def main_ref(git: Git, wanted: str) -> str:
    """Return the full ref of main: the branch `wanted`, or the one checked out. Raises UsageError where it is none."""
    ref = f"refs/heads/{wanted}" if wanted else _checked_out(git)
    if ref.startswith(f"{_SCRATCH}/"):
        raise UsageError(
            f"{ref.removeprefix('refs/heads/')} is one of noface's scratch branches.",
            "Check out your main branch, or name it: `noface config set project.main NAME`.",
        )
    if git.run("show-ref", "--verify", "--quiet", _SCRATCH).code == 0:
        raise UsageError(
            "There is a branch called noface, so git cannot make the scratch branches noface/<issue>.",
            "Rename it: `git branch -m noface NEW-NAME`.",
        )
    if git.run("show-ref", "--verify", "--quiet", ref).code == 0:
        return ref
    if not wanted:
        raise UsageError("The repository has no commit yet.", "Commit something first: `git commit`.")
    heads = git.run("for-each-ref", "--format=%(refname:short)", "refs/heads").text.split()
    shown = ", ".join(h for h in heads if not h.startswith("noface/"))
    raise UsageError(
        f"[project] main = {wanted!r}, but there is no such branch with a commit.",
        f"Branches here: {shown or 'none'}. Set it with `noface config set project.main NAME`.",
    )


def _checked_out(git: Git) -> str:
    head = git.run("symbolic-ref", "--quiet", "HEAD")
    if head.code != 0:
        raise UsageError(
            "HEAD is detached, so noface cannot tell which branch is main.",
            "Name it: `noface config set project.main NAME`.",
        )
    return head.text


def identity(git: Git) -> Identity:
    """Return who commits are by: the person, or noface where git would not accept what they are called."""
    name, email = git.run("config", "--get", "user.name").text, git.run("config", "--get", "user.email").text
    return Identity(name, email) if re.search(r"\w", name) and email else Identity()


def excludes(git: Git, root: Path, common: Path) -> str:
    """Return the user's own ignore rules that stand outside the tree: an agent's debris is theirs, too.

    As in git, a rule of the repository's overrides one of the person's: the last that matches decides.
    """
    told = git.run("config", "--path", "--get", "core.excludesFile").text
    files = [Path(told or "~/.config/git/ignore").expanduser(), common / "info" / "exclude"]
    texts = []
    for file in files:
        try:
            texts.append((root / file).read_text("utf-8", "surrogateescape"))
        except OSError:
            continue
    return "\n".join(texts)


def hooks_in_tree(git: Git, root: Path) -> str:
    """Return the folder of the person's hooks, relative to `root`; "" where they lie outside the working tree."""
    told = git.run("config", "--path", "-z", "--get-all", "core.hooksPath").stdout.decode("utf-8", "surrogateescape")
    values = [value for value in told.split("\0") if value and value != os.devnull]  # the latter is noface's own
    if not values:
        return ""
    folder = os.path.relpath(os.path.normpath(root / values[-1]), root)
    return "" if folder.startswith("..") or folder == "." or folder.split("/")[0] == ".git" else folder


def any_case(git_dir: Path) -> bool:
    """Tell whether the file system of `git_dir` takes no notice of letter case."""
    return (git_dir / "head").exists()
