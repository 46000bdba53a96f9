"""The ground the git tests stand on: a person's repository, made with real git, and a canary.

The canary is a program that leaves a mark when it runs. Each trap that is set with it is sprung here once with a git
that is not sealed: a canary that could not sing would prove nothing.
"""

import atexit
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from noface.git.own_objects import begin_own_objects
from noface.git.plumbing import Plumbing
from noface.git.repository import discover
from noface.git.snapshot import SlotLimits, take
from noface.git.workspace import checkout, give_git, open_slot
from noface.model.protection import Protection

LIMITS = SlotLimits(file_bytes_max=1_000_000, files_max=20_000)
ENV = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C",
}


_TEMPLATES = tempfile.TemporaryDirectory(prefix="noface-tests-")
"""Repositories that tests get copies of; gone when the tests have ended."""
atexit.register(_TEMPLATES.cleanup)


def git(folder, *args, check=True, stdin=None):
    """Run git as a person would in `folder`; return what it printed."""
    return git_bytes(folder, *args, check=check, stdin=stdin).decode("utf-8", "surrogateescape").rstrip("\n")


def git_bytes(folder, *args, check=True, stdin=None):
    ended = subprocess.run(["git", *args], cwd=folder, env=ENV, input=stdin, capture_output=True, check=False)
    assert not check or ended.returncode == 0, ended.stderr
    return ended.stdout


def write(folder, files):
    """Write files by path; None deletes one."""
    for path, content in files.items():
        file = Path(folder, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            file.unlink()
        else:
            file.write_bytes(content if isinstance(content, bytes) else content.encode())


def tree_of(folder, files):
    """Write these files over those of a repository; return the tree of all that is there then."""
    write(folder, files)
    git(folder, "add", "-A", "-f")
    return git(folder, "write-tree")


def a_repository(folder, files=None, *init):
    """Make a repository of a person called Pat with one commit on main; most are copies of one that git has made."""
    files = files or {"a.txt": "a\n", "src/b.txt": "b\n", "src/deep/c.txt": "c\n"}
    if init:
        return _made(folder, files, *init)
    shutil.copytree(_template(tuple(files.items())), folder, symlinks=True)
    git(folder, "update-index", "-q", "--refresh")
    return folder


@cache
def _template(files):
    return _made(Path(tempfile.mkdtemp(dir=_TEMPLATES.name), "repository"), dict(files))


def _made(folder, files, *init):
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", *init)
    git(folder, "config", "user.name", "Pat")
    git(folder, "config", "user.email", "pat@example.org")
    write(folder, files)
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "-m", "first")
    return folder


class Canary:
    """A program that leaves a mark when it runs, whatever its arguments."""

    def __init__(self, folder):
        self.mark = folder / "the-canary-sang"
        self.program = folder / "canary"
        self.program.write_text(f"#!/bin/sh\necho \"$0 $@\" >> '{self.mark}'\nexit 0\n")
        self.program.chmod(0o755)

    @property
    def sang(self):
        return self.mark.exists()

    def set_everywhere(self, git_dir):
        """Have every setting of a git dir that names a program name this one."""
        config = f"""\
[core]
	fsmonitor = {self.program}
	hooksPath = {self.hooks(git_dir)}
	editor = {self.program}
	pager = {self.program}
	sshCommand = {self.program}
	gitProxy = {self.program}
	alternateRefsCommand = {self.program}
[commit]
	gpgSign = true
[gpg]
	program = {self.program}
[log]
	showSignature = true
[filter "evil"]
	clean = {self.program}
	smudge = {self.program}
	process = {self.program}
	required = true
[diff]
	external = {self.program}
[diff "evil"]
	textconv = {self.program}
	command = {self.program}
[merge "evil"]
	driver = {self.program}
[credential]
	helper = {self.program}
[include]
	path = {self.included(git_dir)}
"""
        with (git_dir / "config").open("a") as file:
            file.write(config)
        (git_dir / "info").mkdir(exist_ok=True)
        (git_dir / "info" / "attributes").write_text("* filter=evil diff=evil merge=evil\n")

    def included(self, git_dir):
        file = git_dir / "included"
        file.write_text(f'[core]\n\tpager = {self.program}\n[alias]\n\tst = "!{self.program}"\n')
        return file

    def hooks(self, git_dir):
        folder = git_dir / "hooks"
        folder.mkdir(exist_ok=True)
        names = "pre-commit post-commit post-checkout post-merge reference-transaction post-index-change pre-push"
        for name in (*names.split(), "commit-msg", "prepare-commit-msg", "pre-merge-commit", "fsmonitor-watchman"):
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(self.program)
        return folder


@dataclass
class Bench:
    """A repository, noface's hands on it, and one slot."""

    path: Path
    folder: Path
    plumbing: Plumbing
    keep: tuple = ()
    name: str = "agent-0"

    @property
    def repository(self):
        return self.plumbing.repository

    @property
    def main(self):
        return self.plumbing.main()

    @property
    def slot(self):
        return open_slot(self.repository, self.folder / "slots", self.name, self.keep)

    @property
    def work(self):
        return self.folder / "slots" / self.name / self.path.name

    def begin(self, commit=None):
        """Make the slot ready for an agent; return the folder it works in."""
        checkout(self.slot, commit or self.main)
        give_git(self.slot, "7", commit or self.main)
        return self.work

    def take(self, protected=(), limits=LIMITS, start=None, since=0.0):
        return self.take_from(self.slot, protected, limits, start, since)

    def take_from(self, slot, protected=(), limits=LIMITS, start=None, since=0.0):
        """Take a snapshot of a slot that was opened before; opening it brings its git dir up to date."""
        main = self.main
        return take(
            self.plumbing,
            slot,
            start=start or main,
            main=main,
            message="work\n",
            protection=Protection(tuple(protected)),
            limits=limits,
            since=since,
        )

    def files(self, tree):
        return set(self.plumbing.paths(tree))

    def content(self, tree, path):
        return self.plumbing.git.run("cat-file", "blob", f"{tree}:{path}").stdout

    def merged(self, files=None, *, remove=(), base=None):
        """Return a commit on top of main that changes these files, made without a working tree."""
        base = base or self.main
        index = {"GIT_INDEX_FILE": str(self.folder / "scratch-index"), "GIT_DIR": str(self.repository.common_dir)}
        who = {"GIT_AUTHOR_NAME": "Pat", "GIT_AUTHOR_EMAIL": "pat@example.org"}
        who |= {"GIT_COMMITTER_NAME": "Pat", "GIT_COMMITTER_EMAIL": "pat@example.org"}
        env = {**ENV, **index, **who}

        def run(*args, stdin=b""):
            ended = subprocess.run(["git", *args], env=env, input=stdin, capture_output=True, check=True)
            return ended.stdout.decode().strip()

        changes = [
            (path, *(what if isinstance(what, tuple) else ("100644", what))) for path, what in (files or {}).items()
        ]
        contents = self.folder / "scratch-contents"
        contents.mkdir(exist_ok=True)
        for number, (_, _, content) in enumerate(changes):
            (contents / str(number)).write_bytes(content if isinstance(content, bytes) else content.encode())
        held = "".join(f"{contents / str(number)}\n" for number in range(len(changes)))
        blobs = run("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=held.encode()).split()
        entries = [f"0 {'0' * len(base)}\t{path}\0" for path in remove]
        entries += [f"{mode} {blob}\t{path}\0" for (path, mode, _), blob in zip(changes, blobs, strict=True)]
        run("read-tree", base)
        run("update-index", "-z", "--index-info", stdin="".join(entries).encode("utf-8", "surrogateescape"))
        return run("commit-tree", "-p", base, "-m", "landing", run("write-tree"))


OPENED = []
"""What conftest closes after each test: else git processes would be left to the garbage collector of a later one."""


def a_bench(folder, files=None, *init, keep=(), name="agent-0"):
    path = a_repository(folder / "project", files, *init)
    repository = discover(path)
    begin_own_objects(repository)
    plumbing = Plumbing(repository)
    OPENED.append(plumbing)
    return Bench(path, folder, plumbing, keep, name)


def listing(folder):
    """Return every file below `folder` but git's own, with its content or the target of the link."""
    found = {}
    for file in folder.rglob("*"):
        relative = file.relative_to(folder)
        if relative.parts[0] == ".git" or (file.is_dir() and not file.is_symlink()):
            continue
        if file.is_symlink():
            found[str(relative)] = f"-> {file.readlink()}"
        else:
            found[str(relative)] = file.read_bytes() if file.is_file() else "special"
    return found


def without_privilege():
    """Return what to put before a command so that permissions hold for it, also where the tests run as root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner"]
