"""Reads a repository and makes objects in it: no working tree, nobody's programs."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from noface.core.attempt import FileChange
from noface.core.fsck_facts import LandedCommit
from noface.core.tree_links import Tree
from noface.errors import GitError, UsageError
from noface.git.blobs import BlobReader
from noface.git.command import Git, failed
from noface.git.diff import Diff, parse_diff
from noface.git.hub import make_hub
from noface.git.lookup import Lookup
from noface.git.refs import RefWriter
from noface.git.repository import Repository

_ARGUMENT_BYTES_MAX = 100_000
_LANDED = "--format=%H%x00%P%x00%T%x00%ct%x00%(trailers:key=Noface-Issue,valueonly,separator=%x00)"
_LINK = "120000"
_LINK_BYTES_MAX = 4096
_CHANGES_KEPT_MAX = 32


class Plumbing:
    """The reading and object-making commands noface needs, on the repository, sealed."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.git = repository.git()
        self.refs = RefWriter(self.git)
        self._lookup = Lookup(self.git)
        self._whole: tuple[str, Tree] | None = None
        self._changes: dict[tuple[str, str], tuple[FileChange, ...]] = {}

    def close(self) -> None:
        """End the persistent git processes."""
        self.refs.close()
        self._lookup.close()

    def resolve(self, name: str) -> str | None:
        """Return the commit `name` stands for, or None."""
        return self._lookup.ask(f"{name}^{{commit}}")

    def main(self) -> str:
        """Return main's commit; raise UsageError where the branch is gone."""
        commit = self.resolve(self.repository.main)
        if commit is None:
            raise UsageError(
                f"The branch {self.repository.main_name} is gone.", "Restore it, or set [project] main to another."
            )
        return commit

    def main_anew(self) -> str:
        """Return main's commit as a git process of its own reads it; raise GitError where that does not tell."""
        return self.git.ask("rev-parse", "--verify", "--quiet", self.repository.main)

    def tree(self, commit: str) -> str:
        """Return a commit's tree."""
        tree = self._lookup.ask(f"{commit}^{{tree}}")
        if tree is None:
            raise GitError(f"{commit} names no tree.", "Was it pruned while noface was running?")
        return tree

    def is_ancestor(self, old: str, new: str) -> bool:
        """Tell whether `old` is `new` or one of its ancestors; an object that is gone is nobody's.

        Raises GitError where git was cut off before it could tell.
        """
        asked = ("merge-base", "--is-ancestor", old, new)
        output = self.git.run(*asked)
        if output.code < 0:
            raise failed(asked, output)
        return output.code == 0

    def first_parents(self, old: str, new: str) -> tuple[str, ...]:
        """Return the commits from behind `old` up to `new`, along the first parents."""
        return tuple(self.git.ask("rev-list", "--first-parent", f"{old}..{new}").split())

    def commit_tree(self, tree: str, parents: tuple[str, ...], message: str) -> str:
        """Make a commit; never signed, no hook runs. Returns its id."""
        args = [part for parent in parents for part in ("-p", parent)]
        return self.git.ask("commit-tree", *args, "-F", "-", tree, stdin=message.encode("utf-8", "replace"))

    def missing(self, name: str, base: str) -> str:
        """Return what git says of objects that a commit or tree needs and that are gone; "" where all are there.

        What `base` reaches is not looked at.
        """
        output = self.git.run("rev-list", "--objects", "--quiet", name, "--not", base)
        return "" if output.code == 0 else output.stderr.strip() or "rev-list failed"

    def pruned_now(self) -> bool:
        """Tell whether a `git gc` is under way in the repository, as far as its lock file tells."""
        return (self.repository.common_dir / "gc.pid").exists()

    def pack(self, name: str, base: str) -> None:
        """Write what a commit or tree needs, and `base` does not reach, into a pack.

        Pruning deletes no packed object, and repacking only packs that were there when it began. Raises GitError where
        an object is gone.
        """
        place = self.repository.objects / "pack" / "pack"
        self.git.ask("pack-objects", "--revs", "-q", str(place), stdin=f"{name}\n^{base}\n".encode())

    def merge(self, ours: str, theirs: str) -> "Merge":
        """Merge two commits in the object store; no working tree, no merge driver of the user's.

        Merge drivers and attributes in the repository's own git dir would count, so it happens in another.
        """
        repository = self.repository
        hub = make_hub(repository, repository.state_dir / "hubs" / "merge")
        git = Git.sealed(str(hub), objects=str(repository.objects))
        output = git.run("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
        if output.code not in (0, 1):
            if "unrelated histories" in output.stderr:
                return Merge(None, ("(the two histories have no common commit)",))
            raise failed(("merge-tree", ours, theirs), output)
        tree, *names = output.stdout.decode("utf-8", "surrogateescape").split("\0")
        conflicts = tuple(sorted({name for name in names if name}))
        if output.code == 1 and not conflicts:  # no conflict has no paths: an object was gone, or git was cut short
            raise failed(("merge-tree", ours, theirs), output)
        return Merge(None, conflicts) if output.code == 1 else Merge(tree, ())

    def diff(self, old: str, new: str) -> Diff:
        """Compare two trees; no external diff, no textconv, no rename guessing."""
        args = ("-r", "-z", "--raw", "--numstat", "-p", "--no-renames", "--no-ext-diff", "--no-textconv")
        output = self.git.run("diff-tree", *args, old, new)
        if output.code != 0:
            raise failed(("diff-tree", old, new), output)
        found = parse_diff(output.stdout)
        if len(self._changes) >= _CHANGES_KEPT_MAX:
            self._changes.clear()
        self._changes[old, new] = found.changes
        return found

    def changes(self, old: str, new: str) -> tuple[FileChange, ...]:
        """Return the files in which two trees differ. What has been compared lately is not compared again."""
        known = self._changes.get((old, new))
        return known if known is not None else self.diff(old, new).changes

    def paths(self, tree: str) -> tuple[str, ...]:
        """List the files of a tree."""
        listed = self.git.run("ls-tree", "-r", "-z", "--name-only", tree)
        if listed.code != 0:
            raise failed(("ls-tree", tree), listed)
        return tuple(p for p in listed.stdout.decode("utf-8", "surrogateescape").split("\0") if p)

    def with_lines(self, tree: str, patterns: tuple[str, ...], places: tuple[str, ...]) -> tuple[str, ...]:
        """List the files of text at or below `places` that hold a line for each of `patterns`, as `grep -E` reads them.

        Places that the tree does not have hold none.
        """
        wanted = [part for pattern in patterns for part in ("--or", "-e", pattern)][1:]
        names = (f":(top,literal){place}" for place in places)
        found = self.git.run("grep", "-z", "-l", "-I", "-E", "--all-match", *wanted, tree, "--", *names)
        if found.code not in (0, 1):
            raise failed(("grep", tree), found)
        listed = found.stdout.decode("utf-8", "surrogateescape").split("\0")
        return tuple(name.removeprefix(f"{tree}:") for name in listed if name)

    def whole(self, tree: str) -> Tree:
        """Return all paths of a tree, and where its links lead to."""
        if self._whole is not None and self._whole[0] == tree:
            return self._whole[1]
        listed = self.git.run("ls-tree", "-r", "-z", tree)
        if listed.code != 0:
            raise failed(("ls-tree", tree), listed)
        entries = (entry.partition("\t") for entry in listed.stdout.decode("utf-8", "surrogateescape").split("\0"))
        modes = {path: meta.split(" ") for meta, _, path in entries if path}
        with self.blobs() as blobs:
            links = {
                path: (blobs.read(oid, _LINK_BYTES_MAX) or b"").decode("utf-8", "surrogateescape")
                for path, (mode, _, oid) in modes.items()
                if mode == _LINK
            }
        whole = Tree(frozenset(modes), links)
        self._whole = (tree, whole)
        return whole

    def tree_without(self, tree: str, paths: tuple[str, ...], index: Path) -> str:
        """Return a tree like `tree` but for the files at `paths`; `index` is a file to work with, removed again.

        What an earlier call that was killed has left of it is removed first.
        """
        git = Git.sealed(str(self.repository.common_dir), extra={"GIT_INDEX_FILE": str(index)})
        nothing = "0" * len(tree)
        feed = "".join(f"0 {nothing}\t{path}\0" for path in paths).encode("utf-8", "surrogateescape")
        for leftover in (index, index.with_name(f"{index.name}.lock")):
            leftover.unlink(missing_ok=True)
        try:
            git.ask("read-tree", tree)
            git.ask("update-index", "-z", "--index-info", stdin=feed)
            return git.ask("write-tree")
        finally:
            index.unlink(missing_ok=True)

    def blobs(self) -> BlobReader:
        """Return a reader of files' contents; no process is started before it is asked."""
        return BlobReader(self.git)

    def entries(self, tree: str, paths: tuple[str, ...]) -> dict[str, tuple[str, str]]:
        """Return mode and object id of the files in `tree` that are among `paths` or in a folder that is."""
        if not paths:
            return {}
        few = sum(len(path) + 8 for path in paths) <= _ARGUMENT_BYTES_MAX
        git = Git.sealed(str(self.repository.common_dir), extra={"GIT_LITERAL_PATHSPECS": "1"})
        output = git.run("ls-tree", "-r", "-z", tree, "--", *(paths if few else ()))
        if output.code != 0:
            raise failed(("ls-tree", tree), output)
        wanted = frozenset(paths)
        found = {}
        for entry in output.stdout.decode("utf-8", "surrogateescape").split("\0"):
            meta, _, path = entry.partition("\t")
            if path and (few or path in wanted or any(str(parent) in wanted for parent in PurePosixPath(path).parents)):
                mode, _, oid = meta.split(" ")
                found[path] = (mode, oid)
        return found

    def naming(self, commit: str, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Return the text files of a commit in which one of the texts stands."""
        asked = [part for text in texts for part in ("-e", text)]
        found = self.git.run("grep", "-zlIF", *asked, commit, "--") if asked else None
        names = found.stdout.decode("utf-8", "surrogateescape").split("\0") if found is not None else []
        return tuple(name.removeprefix(f"{commit}:") for name in names if name)

    def objects(self, tree: str) -> frozenset[str]:
        """Return the ids of all files in `tree`."""
        listed = self.git.run("ls-tree", "-r", "-z", tree)
        if listed.code != 0:
            raise failed(("ls-tree", tree), listed)
        entries = listed.stdout.split(b"\0")
        return frozenset(entry.partition(b"\t")[0].rpartition(b" ")[2].decode() for entry in entries if entry)

    def landings(self) -> tuple[LandedCommit, ...]:
        """Return the first-parent commits of main with a Noface-Issue trailer, oldest first."""
        options = ("--first-parent", "--reverse", "--no-show-signature", "--grep=^Noface-Issue: ", _LANDED)
        text = self.git.ask("log", *options, self.repository.main, "--")
        found = []
        for line in text.split("\n"):
            commit, _, rest = line.partition("\0")
            if rest:
                parents, tree, at, *names = rest.split("\0")
                if names and names[-1]:
                    found.append(LandedCommit(commit, parents.partition(" ")[0], tree, names[-1], float(at)))
        return tuple(found)

    def landed_issues(self) -> tuple[tuple[str, str], ...]:
        """Return issue id and commit of every landing that main's first-parent history tells of, oldest first."""
        return tuple((landing.issue, landing.commit) for landing in self.landings())

    def has_landings(self) -> bool:
        """Tell whether main's history holds work of an agent: a commit with noface's trailer, on whatever side."""
        return bool(self.git.ask("log", "-1", "--format=%H", "--grep=^Noface-Issue: ", self.repository.main, "--"))

    def references(self, prefix: str) -> dict[str, str]:
        """Return the refs below `prefix` with the objects they name."""
        text = self.git.ask("for-each-ref", "--format=%(refname) %(objectname)", prefix)
        return dict(line.split(" ", 1) for line in text.splitlines())


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge result: its tree, or None and the paths in conflict."""

    tree: str | None
    conflicts: tuple[str, ...]
