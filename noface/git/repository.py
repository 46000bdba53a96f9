"""The user's repository, as noface found it."""

from dataclasses import dataclass
from pathlib import Path

from noface.git.command import Git, Identity


@dataclass(frozen=True, slots=True)
class Repository:
    """A user's repository as noface found it. Paths are absolute; `main` is a full ref name.

    `hooks` is the folder of the person's git hooks where that lies in the working tree, relative to it; `any_case` says
    that the file system takes names that differ in letter case alone for the same.
    """

    root: Path
    common_dir: Path
    main: str
    identity: Identity
    object_format: str = "sha1"
    shallow: bool = False
    excludes: str = ""
    hooks: str = ""
    any_case: bool = False

    @property
    def objects(self) -> Path:
        """The object store that everything is written to."""
        return self.common_dir / "objects"

    @property
    def main_name(self) -> str:
        """Main's branch name as a person says it."""
        return self.main.removeprefix("refs/heads/")

    @property
    def state_dir(self) -> Path:
        """Where noface keeps its state: one per repository, however many worktrees it has."""
        return self.common_dir / "noface"

    def git(self) -> Git:
        """Return a sealed git on the repository itself."""
        return Git.sealed(str(self.common_dir), identity=self.identity)
