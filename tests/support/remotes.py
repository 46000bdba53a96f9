"""A bare repository that a project has as its git remote, and people who push to it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from .project import Project

_RECORD = """#!/bin/sh
cat >> '{log}'
test ! -e '{refuse}' || { cat '{refuse}' >&2; exit 1; }
"""


@dataclass
class BareRemote:
    """A bare repository beside a project that records each push."""

    path: Path
    project: Project

    @property
    def pushes(self) -> list[str]:
        log = self.path / "pushes"
        return [line.split()[2] for line in log.read_text().splitlines()] if log.exists() else []

    def refuse(self, words: str) -> None:
        """Have the server refuse every push with these words; "" takes pushes again."""
        (self.path / "refuse").unlink(missing_ok=True)
        if words:
            (self.path / "refuse").write_text(words)

    def git(self, *args: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.path), *args],
            env=self.project.environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    @property
    def main(self) -> str:
        return self.git("rev-parse", "main")

    @property
    def refs(self) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname)").split()

    def commit(self, message: str = "theirs", **files: str) -> str:
        """Have somebody else commit files to main there, without a push that is recorded; return the commit."""
        folder = self.path.parent / "somebody"
        if not folder.exists():
            self.git("clone", "-q", str(self.path), str(folder))
        somebody = Project(folder, self.project.folder)
        somebody.git("config", "user.name", "Ann")
        somebody.git("config", "user.email", "ann@example.org")
        somebody.git("pull", "-q", "--rebase")
        for name, text in files.items():
            somebody.write(name.replace("_", "."), text)
        made = somebody.commit(message)
        somebody.git("config", "remote.origin.push", "refs/heads/main")
        before = (self.path / "pushes").read_text() if (self.path / "pushes").exists() else ""
        somebody.git("push", "-q")
        (self.path / "pushes").write_text(before)
        return made


def a_remote(project: Project, name: str = "origin") -> BareRemote:
    """Give a project a remote that has its main."""
    path = project.folder / f"{name}.git"
    project.git("clone", "-q", "--bare", str(project.path), str(path))
    hook = path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(_RECORD.replace("{log}", str(path / "pushes")).replace("{refuse}", str(path / "refuse")))
    hook.chmod(0o755)
    project.git("remote", "add", name, f"file://{path}")
    project.git("fetch", "-q", name)
    project.git("branch", "-q", f"--set-upstream-to={name}/main")
    return BareRemote(path, project)
