"""The floor: the least git work that takes an issue from workspace to main with two checkouts and durable objects.

No policy, no database, no supervision, no recovery: what noface adds on top is its overhead. Pooled slots with
private git dirs, refs through one persistent `update-ref --stdin`, the same fsync settings, and main's checkout
moved along with its files.
"""

import os
import subprocess
import time
from pathlib import Path

AGENT = 'echo "$NOFACE_ISSUE_ID" > "made-$NOFACE_ISSUE_ID.txt"'
GATE = "test -d ."
CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.fsync=committed,loose-object,reference",
    "gc.auto=0",
    "maintenance.auto=false",
)


class Slot:
    """A folder with a private git dir."""

    def __init__(self, repo: Path, folder: Path, name: str) -> None:
        self.path = folder / name
        hub = folder / f"{name}.private_git_dir"
        self.path.mkdir(parents=True)
        (hub / "refs").mkdir(parents=True)
        (hub / "HEAD").write_text("ref: refs/heads/none\n")
        (hub / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
        who = {f"GIT_{role}_{what}": "bench" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_DIR": str(hub),
            "GIT_WORK_TREE": str(self.path),
            "GIT_OBJECT_DIRECTORY": str(repo / ".git" / "objects"),
            **who,
        }

    def git(self, *args: str) -> str:
        options = [part for setting in CONFIG for part in ("-c", setting)]
        done = subprocess.run(
            ["git", *options, *args], cwd=self.path, env=self.env, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def checkout(self, tree: str) -> None:
        self.git("read-tree", "-u", "--reset", tree)
        self.git("clean", "-ffdxq")


class Refs:
    """One persistent update-ref."""

    def __init__(self, repo: Path) -> None:
        options = [part for setting in CONFIG for part in ("-c", setting)]
        self._process = subprocess.Popen(
            ["git", *options, "update-ref", "--stdin"],
            cwd=repo,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def apply(self, *lines: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n".join(("start", *lines, "commit")) + "\n")
        self._process.stdin.flush()
        for _ in range(2):
            said = self._process.stdout.readline()
            assert said.strip().endswith("ok"), said

    def close(self) -> None:
        self._process.communicate()


def shell(command: str, cwd: Path, issue: int) -> None:
    subprocess.run(["bash", "-c", command], cwd=cwd, env={**os.environ, "NOFACE_ISSUE_ID": str(issue)}, check=True)


def run_floor(repo: Path, folder: Path, issues: int) -> float:
    """Take `issues` trivial issues to main; return seconds per issue."""
    work, gate, refs = Slot(repo, folder, "work"), Slot(repo, folder, "gate"), Refs(repo)
    main = subprocess.run(["git", "rev-parse", "main"], cwd=repo, capture_output=True, text=True, check=True)
    old = main.stdout.strip()
    began = 0.0
    for issue in range(issues + 1):
        if issue == 1:  # the first one warms the slots up, as noface's first one does
            began = time.perf_counter()
        refs.apply(f"update refs/floor/{issue}/base {old}")
        work.checkout(old)
        shell(AGENT, work.path, issue)
        work.git("add", "-A")
        tree = work.git("write-tree")
        commit = work.git("commit-tree", "-p", old, "-m", f"issue {issue}", tree)
        refs.apply(f"update refs/floor/{issue}/1 {commit}")
        gate.checkout(tree)
        shell(GATE, gate.path, issue)
        new = work.git("commit-tree", "-p", old, "-p", commit, "-m", f"land {issue}", tree)
        subprocess.run(["git", "read-tree", "-m", "-u", old, new], cwd=repo, check=True)
        refs.apply(f"update refs/heads/main {new} {old}", f"delete refs/floor/{issue}/base")
        old = new
    seconds = time.perf_counter() - began
    refs.close()
    return seconds / issues


def run_bare(folder: Path, issues: int) -> float:
    """Return the seconds per issue that the trivial worker and gate take by themselves."""
    folder.mkdir()
    began = time.perf_counter()
    for issue in range(issues):
        shell(AGENT, folder, issue)
        shell(GATE, folder, issue)
    return (time.perf_counter() - began) / issues
