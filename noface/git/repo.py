"""Finds the user's repository and reads it; writes only objects and refs below refs/noface and heads/noface."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from noface.errors import GitError, UsageError
from noface.git.command import Git, Identity, failed
from noface.git.diff import Diff, parse_diff
from noface.git.refs import RefWriter

GIT_VERSION_MIN = (2, 38)


@dataclass(frozen=True, slots=True)
class Repository:
    """A user's repository as noface found it. Paths are absolute; `main` is a full ref name."""

    root: Path
    common_dir: Path
    main: str
    identity: Identity
    object_format: str = "sha1"
    shallow: bool = False
    excludes: str = ""

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


def discover(start: Path, main: str = "") -> Repository:
    """Find the repository around `start` and check that noface can work in it.

    Raises UsageError: git missing or too old, no repository, a bare one, no commit, no such main branch, a
    partial clone.
    """
    git = Git.user(str(start))
    _check_version(git)
    shown = git.run(
        "rev-parse",
        "--path-format=absolute",
        "--is-bare-repository",
        "--show-object-format",
        "--is-shallow-repository",
        "--git-common-dir",
    )
    if shown.code != 0:
        raise _no_repository(start, shown.stderr)
    bare, object_format, shallow, common = shown.text.split("\n", 3)
    if bare == "true":
        raise UsageError(
            f"{start} is a bare repository: there are no files for issues and configuration to stand in.",
            "Clone it (`git clone <this> work`) and run noface in the clone.",
        )
    top = git.run("rev-parse", "--path-format=absolute", "--show-toplevel")
    if top.code != 0:
        raise UsageError(f"{start} is inside the .git folder.", "Change to the repository's working tree.")
    root = Path(top.text)
    if git.run("config", "--get", "extensions.partialClone").code == 0:
        raise UsageError(
            "This is a partial clone: objects are missing, and noface never fetches.",
            "Make a full clone: `git clone --no-filter <url>`.",
        )
    return Repository(
        root=root,
        common_dir=Path(common),
        main=_main_ref(git, main),
        identity=_identity(git),
        object_format=object_format,
        shallow=shallow == "true",
        excludes=_excludes(git, root, Path(common)),
    )


def _no_repository(start: Path, stderr: str) -> UsageError:
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


def _check_version(git: Git) -> None:
    try:
        said = git.run("version")
    except Exception as error:
        raise UsageError("git was not found.", "Install git 2.38 or newer and put it on PATH.") from error
    if said.code != 0:
        raise UsageError("git was not found.", "Install git 2.38 or newer and put it on PATH.")
    match = re.search(r"(\d+)\.(\d+)", said.text)
    if match is None or (int(match[1]), int(match[2])) < GIT_VERSION_MIN:
        raise UsageError(
            f"{said.text} is too old: noface needs 2.38 (`git merge-tree --write-tree`).", "Install a newer git."
        )


def _main_ref(git: Git, wanted: str) -> str:
    if wanted:
        ref = f"refs/heads/{wanted}"
        if git.run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").code != 0:
            heads = git.run("for-each-ref", "--format=%(refname:short)", "refs/heads").text.split()
            shown = ", ".join(h for h in heads if not h.startswith("noface/"))
            raise UsageError(
                f"[project] main = {wanted!r}, but there is no such branch with a commit.",
                f"Branches here: {shown or 'none'}. Set it with `noface config set project.main NAME`.",
            )
        return ref
    head = git.run("symbolic-ref", "--quiet", "HEAD")
    if head.code != 0:
        raise UsageError(
            "HEAD is detached, so noface cannot tell which branch is main.",
            "Name it: `noface config set project.main NAME`.",
        )
    if git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}").code != 0:
        raise UsageError("The repository has no commit yet.", "Commit something first: `git commit`.")
    if head.text.startswith("refs/heads/noface/"):
        raise UsageError(
            f"The branch checked out is {head.text.removeprefix('refs/heads/')}, one of noface's scratch branches.",
            "Check out your main branch, or name it: `noface config set project.main NAME`.",
        )
    return head.text


def _identity(git: Git) -> Identity:
    name, email = git.run("config", "--get", "user.name").text, git.run("config", "--get", "user.email").text
    return Identity(name, email) if name and email else Identity()


def _excludes(git: Git, root: Path, common: Path) -> str:
    """Return the user's own ignore rules that stand outside the tree: an agent's debris is theirs, too."""
    told = git.run("config", "--path", "--get", "core.excludesFile").text
    files = [common / "info" / "exclude", Path(told or "~/.config/git/ignore").expanduser()]
    texts = []
    for file in files:
        try:
            texts.append((root / file).read_text("utf-8", "replace"))
        except OSError:
            continue
    return "\n".join(texts)


class Plumbing:
    """The reading and object-making commands noface needs, on the repository, sealed."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.git = repository.git()
        self.refs = RefWriter(self.git)

    def close(self) -> None:
        """End the persistent git process."""
        self.refs.close()

    def resolve(self, name: str) -> str | None:
        """Return the commit `name` stands for, or None."""
        output = self.git.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return output.text if output.code == 0 else None

    def main(self) -> str:
        """Return main's commit; raise UsageError where the branch is gone."""
        commit = self.resolve(self.repository.main)
        if commit is None:
            raise UsageError(
                f"The branch {self.repository.main_name} is gone.", "Restore it, or set [project] main to another."
            )
        return commit

    def tree(self, commit: str) -> str:
        """Return a commit's tree."""
        return self.git.ask("rev-parse", "--verify", f"{commit}^{{tree}}")

    def is_ancestor(self, old: str, new: str) -> bool:
        """Tell whether `old` is `new` or one of its ancestors."""
        return self.git.run("merge-base", "--is-ancestor", old, new).code == 0

    def commit_tree(self, tree: str, parents: tuple[str, ...], message: str) -> str:
        """Make a commit; never signed, no hook runs. Returns its id."""
        args = [part for parent in parents for part in ("-p", parent)]
        return self.git.ask("commit-tree", *args, "-F", "-", tree, stdin=message.encode("utf-8", "replace"))

    def merge(self, ours: str, theirs: str) -> "Merge":
        """Merge two commits in the object store; no working tree, no merge driver of the user's."""
        output = self.git.run("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
        if output.code not in (0, 1):
            if "unrelated histories" in output.stderr:
                return Merge(None, ("(the two histories have no common commit)",))
            raise failed(("merge-tree", ours, theirs), output)
        tree, *names = output.stdout.decode("utf-8", "surrogateescape").split("\0")
        conflicts = tuple(sorted({name for name in names if name}))
        return Merge(None, conflicts) if output.code == 1 else Merge(tree, ())

    def diff(self, old: str, new: str) -> Diff:
        """Compare two trees; no external diff, no textconv, no rename guessing."""
        args = ("-r", "-z", "--raw", "--numstat", "-p", "--no-renames", "--no-ext-diff", "--no-textconv")
        output = self.git.run("diff-tree", *args, old, new)
        if output.code != 0:
            raise failed(("diff-tree", old, new), output)
        return parse_diff(output.stdout)

    def paths(self, tree: str) -> tuple[str, ...]:
        """List the files of a tree."""
        listed = self.git.run("ls-tree", "-r", "-z", "--name-only", tree)
        if listed.code != 0:
            raise failed(("ls-tree", tree), listed)
        return tuple(p for p in listed.stdout.decode("utf-8", "surrogateescape").split("\0") if p)

    def entries(self, tree: str, paths: tuple[str, ...]) -> dict[str, tuple[str, str]]:
        """Return mode and object id of those of `paths` that are files in `tree`."""
        if not paths:
            return {}
        literal = {"GIT_LITERAL_PATHSPECS": "1"}
        git = Git.sealed(str(self.repository.common_dir), extra=literal)
        output = git.run("ls-tree", "-r", "-z", tree, "--", *paths)
        if output.code != 0:
            raise failed(("ls-tree", tree), output)
        found = {}
        for entry in output.stdout.decode("utf-8", "surrogateescape").split("\0"):
            if entry:
                meta, path = entry.split("\t", 1)
                mode, _, oid = meta.split(" ")
                found[path] = (mode, oid)
        return found

    def landed_issues(self) -> tuple[tuple[str, str], ...]:
        """Return issue id and commit of every landing that main's first-parent history tells of, oldest first."""
        shape = "--format=%H%x00%(trailers:key=Noface-Issue,valueonly,separator=%x00)"
        text = self.git.ask(
            "log", "--first-parent", "--reverse", "--grep=^Noface-Issue: ", shape, self.repository.main, "--"
        )
        pairs = (line.split("\0") for line in text.splitlines())
        return tuple((names[-1], commit) for commit, *names in pairs if names and names[-1])

    def references(self, prefix: str) -> dict[str, str]:
        """Return the refs below `prefix` with the objects they name."""
        text = self.git.ask("for-each-ref", "--format=%(refname) %(objectname)", prefix)
        return dict(line.split(" ", 1) for line in text.splitlines())


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge result: its tree, or None and the paths in conflict."""

    tree: str | None
    conflicts: tuple[str, ...]


def slug(issue_id: str) -> str:
    """Return a name for refs and folders made of an issue id: safe for git, and different for different ids.

    git accepts ids such as `-x` or 300 characters, and file systems fold case; so anything but a short plain
    lower-case id gets a hash.
    """
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", issue_id).strip("-")[:40]
    if plain == issue_id and plain == plain.lower():
        return plain
    return f"{plain or 'issue'}-{hashlib.sha256(issue_id.encode()).hexdigest()[:8]}"


def scratch_branch(issue_id: str) -> str:
    """Return the full ref of an issue's scratch branch (N10)."""
    return f"refs/heads/noface/{slug(issue_id)}"


def hold_ref(issue_id: str, what: str) -> str:
    """Return the ref that keeps an issue's object from being pruned: an attempt number, `base` or `merge`."""
    return f"refs/noface/issues/{slug(issue_id)}/{what}"


def require_object(commit: str | None, name: str) -> str:
    """Return `commit`, or raise GitError saying that `name` is missing."""
    if commit is None:
        raise GitError(f"{name} names no commit any more.", "Was it pruned or deleted while noface was running?")
    return commit
