"""Reads a repository and makes objects in it: no working tree, nobody's programs."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from itertools import takewhile
from operator import itemgetter
from typing import TypeVar

from noface.errors import GitError, RefLockedError, SigningError, UsageError
from noface.git.command import Git, Output, failed
from noface.git.objects import NewHistory, ObjectReader, TreeDiff, parse_diff, parse_history
from noface.git.private_git_dir import passing_git_dir
from noface.git.refs import FETCHED, RefUpdate, RefWriter
from noface.git.repository import Repository
from noface.git.stored import LINK_MODE, Entry, StoredObjects
from noface.integrity.named_files import Tree
from noface.integrity.prose import is_prose
from noface.integrity.tampering import is_test_file
from noface.model.attempt import ABSENT, FileChange

_BASE = b"noface-base"  # git reads trailers in any case
_LINK = "120000"
_LINK_BYTES_MAX = 4096
_ATTRIBUTES_BYTES_MAX = 1 << 16
_OF_MERGES = re.compile(r"[-!]?merge|merge=\S+|binary")
_DIFFS_KEPT_MAX = 1_000
"""A run looks at what all its landings changed again for each issue."""
_PATCH_KEPT_BYTES_MAX = 1 << 15
_SIGNING_SECONDS_MAX = 30.0
_SAID_CHARS_MAX = 400


class Plumbing:
    """The reading and object-making commands noface needs, on the repository, sealed."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.git = repository.git()
        self.refs = RefWriter(repository)
        self._names = ObjectReader(self.git, repository.objects / "pack")
        self._stored = StoredObjects(self.git, self._names)
        self._whole: tuple[str, Tree] | None = None
        self._diffs: dict[tuple[str, str], TreeDiff] = {}

    def close(self) -> None:
        self.refs.close()
        self._stored.close()
        self._names.close()

    def resolve(self, name: str) -> str | None:
        return self._names.resolve(f"{name}^{{commit}}")

    def work_from(self, base: str) -> None:
        """Start work from a ref in main's place, or from main again (""); see Repository.base."""
        self.repository = replace(self.repository, base=base)

    def main(self) -> str:
        """Return the commit that work starts from: main's, or that of the base. Raises UsageError if it is gone."""
        base = self.repository.base
        commit = self.resolve(base) if base else self.local_main()
        if commit is None:
            raise UsageError(f"{base}, what was fetched of the remote's main, is gone.", "Run again: it is fetched.")
        return commit

    def local_main(self) -> str:
        commit = self.references(self.repository.main).get(self.repository.main)
        if commit is None:
            raise UsageError(
                f"The branch {self.repository.main_name} is gone.", "Restore it, or set [project] main to another."
            )
        return commit

    def ahead_behind(self, ours: str, theirs: str) -> tuple[int, int]:
        counts = self.git.ask("rev-list", "--count", "--left-right", f"{ours}...{theirs}", "--").split()
        return int(counts[0]), int(counts[1])

    def tree(self, commit: str) -> str:
        tree = self._names.resolve(f"{commit}^{{tree}}")
        if tree is None:
            raise GitError(f"{commit} names no tree.", "Was it pruned while noface was running?")
        return tree

    def is_ancestor(self, old: str, new: str) -> bool:
        """True if `old` is `new` or one of its ancestors. Raises GitError if git was cut off before it could tell."""
        with suppress(GitError):
            there = self._names.kind(old) == self._names.kind(new) == "commit"
            # On the line of first parents, or merged into it nearby: most often no process has to be asked.
            near = ((commit, *self._stored.commit(commit)[1]) for commit in self._stored.line(new)) if there else ()
            if any(old in commits for commits in near):
                return True
        asked = ("merge-base", "--is-ancestor", old, new)
        output = self.git.run(*asked)
        if output.code < 0:
            raise failed(asked, output)
        return output.code == 0

    def are_on_line(self, commits: Collection[str], main: str) -> bool:
        """True if `main` came from all of `commits` along its nearest first parents; else nothing is known."""
        with suppress(GitError):
            return set(commits) <= set(self._stored.line(main))
        return False

    def first_parents(self, old: str, new: str) -> tuple[str, ...]:
        return tuple(self.git.ask("rev-list", "--first-parent", f"{old}..{new}").split())

    def commit_tree(self, tree: str, parents: tuple[str, ...], message: str) -> str:
        return self._stored.write_commit(tree, parents, message)

    def signed_commit(self, tree: str, parents: tuple[str, ...], message: str) -> str:
        """Make a commit that is signed with the person's key, by their git; nothing may ask. Raises SigningError."""
        who = self.repository.identity
        named = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in asdict(who).items()}
        extra = {key.upper(): value for key, value in named.items()}
        git = Git.user(str(self.repository.root), extra=extra | self.repository.object_variables)
        git = replace(git, seconds_max=_SIGNING_SECONDS_MAX)
        args = [part for parent in parents for part in ("-p", parent)]
        output = git.run("commit-tree", "-S", *args, "-F", "-", tree, stdin=message.encode("utf-8", "replace"))
        if output.code != 0:
            problem = " ".join(output.stderr.split())[:_SAID_CHARS_MAX] or "git said nothing"
            raise SigningError(
                f"a commit cannot be signed: {problem}",
                "Try it by hand: git commit-tree -S HEAD^{tree} -m x. The key is `git config user.signingkey`, and its"
                " agent (gpg-agent, ssh-agent) has to hold it without asking.",
            )
        return output.text

    def merge(self, ours: str, theirs: str) -> "Merge":
        """Merge two commits in a git dir of its own: drivers and attributes of the repository's would count.

        Which files are joined by lines the .gitattributes at the top of `ours` says, where no agent writes; so are
        documents and tests to which both sides only add, as to a change log: the gates prove what comes of it.
        """
        union = self._union_of(ours)
        output = self._merge_tree(ours, theirs, union)
        tree, *names = output.parts or ("",)
        if output.code == 1 and names and (texts := self._joined(ours, theirs, tuple(sorted(set(names))))):
            output = self._merge_tree(ours, theirs, "".join(f"{path} merge=union\n" for path in texts) + union)
            tree, *names = output.parts or ("",)
            if output.code == 0:  # else the project's own attributes forbid it
                there = self.entries(tree, tuple(texts))
                tree = self.tree_with(tree, {path: (there[path][0], store_text(self, texts[path])) for path in texts})
        if output.code == 0:
            return Merge(tree, ())
        if output.code == 1 and names:  # no conflict has no paths: an object was gone, or git was cut short
            return Merge(None, tuple(sorted(set(names))))
        if "unrelated histories" in output.stderr:
            return Merge(None, ("(the two histories have no common commit)",))
        raise failed(("merge-tree", ours, theirs), output)

    def _merge_tree(self, ours: str, theirs: str, attributes: str) -> Output:
        with passing_git_dir(self.repository, attributes) as git_dir:
            git = Git.sealed(str(git_dir), extra=self.repository.object_variables)
            return git.run("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)

    def _joined(self, ours: str, theirs: str, paths: tuple[str, ...]) -> dict[str, str]:
        base = self.merge_base(ours, theirs) if all(map(_may_be_joined, paths)) else ""
        commits = (base, ours, theirs) if base else ()
        sides = [self.texts(commit, paths, _JOINED_BYTES_MAX, "surrogateescape") for commit in commits]
        texts = {path: joined(*(side.get(path, "") for side in sides), once=is_prose(path)) for path in paths if sides}
        return texts if all(texts.values()) else {}

    def _union_of(self, commit: str) -> str:
        """Return a commit's .gitattributes on merges: git's own driver `union`, which runs no program, or none."""
        there = self.entries(commit, (".gitattributes",)).values()
        with self.blobs() as blobs:
            text = "".join(blobs.text(oid, _ATTRIBUTES_BYTES_MAX) for mode, oid in there if mode.startswith("100"))
        rows = (line.split() for line in text.splitlines() if not line.lstrip().startswith(("#", "[", '"')))
        named = [(row[0], word) for row in rows for word in row[1:] if _OF_MERGES.fullmatch(word)]
        return "".join(f"{path} {word if word == 'merge=union' else '!merge'}\n" for path, word in named)

    def diff(self, old: str, new: str) -> TreeDiff:
        """Compare two trees; no external diff, no textconv, no rename guessing."""
        args = ("-r", "-z", "--raw", "--numstat", "-p", "--no-renames", "--no-ext-diff", "--no-textconv")
        trees = (self.tree(old), self.tree(new))
        if trees[0] == trees[1]:
            return TreeDiff((), b"")
        if trees in self._diffs:
            return self._diffs[trees]
        diff = parse_diff(self.git.answer("diff-tree", *args, *trees).stdout)
        if len(self._diffs) >= _DIFFS_KEPT_MAX:
            self._diffs.clear()
        if len(diff.patch) <= _PATCH_KEPT_BYTES_MAX:
            self._diffs[trees] = diff
        return diff

    def patch_to_apply(self, old: str, new: str) -> bytes:
        """Return the patch that `git apply` makes of one tree another with, binary files too."""
        args = ("-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv")
        return self.git.answer("diff-tree", *args, self.tree(old), self.tree(new)).stdout

    def raw_changes(self, old: str, new: str) -> Iterator[FileChange]:
        return self._stored.changes(self.tree(old), self.tree(new))

    def patch_since(self, commit: str, main: str, paths: tuple[str, ...]) -> bytes:
        """Return what `main` has changed in `paths` since `commit` left it; b"" if they have nothing in common."""
        base = self.merge_base(commit, main) if paths else ""
        if not base:
            return b""
        args = ("-p", "--no-renames", "--no-ext-diff", "--no-textconv")
        names = (f":(top,literal){path}" for path in paths)
        return self.git.answer("diff-tree", "-r", *args, base, main, "--", *names).stdout

    def changes(self, old: str, new: str) -> tuple[FileChange, ...]:
        return self.diff(old, new).changes

    def paths(self, tree: str) -> tuple[str, ...]:
        return tuple(path for path, _, _ in self.files(tree))

    def new_history(self, commit: str) -> NewHistory:
        """Return what a commit and its ancestors have brought that no main has; of a merge what no parent has."""
        told = ("--boundary", "--format=%m%H%x00 %B%x00", "-c", "--raw", "-z", "--no-abbrev", "--no-renames")
        new = self.git.answer("log", *told, "--no-ext-diff", commit, *(f"^{main}" for main in sorted(self.mains())))
        return parse_history(new.stdout)

    def mains(self) -> frozenset[str]:
        """Return the commits that main stands at: here, where work starts from, and on remotes, as far as fetched."""
        return frozenset((self.main(), self.local_main(), *self.references(FETCHED).values()))

    def whole(self, tree: str) -> Tree:
        """Return all paths of a tree, and where its links lead to."""
        if self._whole is None or self._whole[0] != tree:
            files = tuple(self.files(tree))
            links = {path: oid for path, mode, oid in files if mode == _LINK}
            ends = {at: self._names.text(oid, _LINK_BYTES_MAX, "surrogateescape") for at, oid in links.items()}
            self._whole = (tree, Tree(frozenset(path for path, _, _ in files), ends))
        return self._whole[1]

    def blobs(self) -> AbstractContextManager[ObjectReader]:
        return nullcontext(self._names)

    def texts(self, tree: str, paths: tuple[str, ...], bytes_max: int, errors: str = "replace") -> dict[str, str]:
        """Return the texts of the files in `tree` that are among `paths`, "" of one that is larger."""
        with self.blobs() as blobs:
            return {path: blobs.text(oid, bytes_max, errors) for path, (_, oid) in self.entries(tree, paths).items()}

    def entries(self, tree: str, paths: tuple[str, ...]) -> dict[str, tuple[str, str]]:
        if not paths:
            return {}
        return {path: (mode, oid) for path, mode, oid in self._stored.at(self.tree(tree), paths)}

    def tree_with(self, tree: str, files: Mapping[str, Entry | None]) -> str:
        """Return a tree like `tree` (or a commit's) but for these files; None means that there is no such file."""
        return self._stored.write_tree(self.tree(tree), files)

    def files_with(self, commit: str, texts: tuple[str, ...], word_in: str = "") -> tuple[str, ...]:
        asked = [part for text in texts for part in ("-e", text)]
        among = ("-w", *asked, commit, "--", word_in) if word_in else (*asked, commit, "--")
        names = self.git.run("grep", "-zlIF", *among).parts if asked else []
        return tuple(name.removeprefix(f"{commit}:") for name in names)

    def containing(self, commit: str, word: str, seconds_max: float) -> frozenset[str]:
        """Return the text files of a commit in which a word stands, in any case; none if that takes too long."""
        git = replace(self.git, seconds_max=seconds_max)
        output = git.run("grep", "-zliIF", "-e", word, commit, "--")
        return frozenset(name.removeprefix(f"{commit}:") for name in output.parts) if output.code == 0 else frozenset()

    def objects(self, tree: str) -> frozenset[str]:
        return frozenset(oid for _, _, oid in self.files(tree))

    def files(self, tree: str) -> Iterator[tuple[str, str, str]]:
        return self._stored.files(self.tree(tree))

    def has_links(self, tree: str) -> bool:
        return any(mode == LINK_MODE for _, mode, _ in self.files(tree))

    def may_land_several(self, commit: str) -> bool:
        """False if a commit is none that lands several issues: that one merges, and names its first parent."""
        with suppress(GitError):
            return len(self._stored.commit(commit)[1]) > 1 and _BASE in self._stored.message(commit).lower()
        return True

    def merge_base(self, one: str, other: str) -> str:
        """Return the newest commit that two have in common, "" if there is none."""
        base = self.git.run("merge-base", one, other)
        return base.text if base.code == 0 else ""

    def references(self, prefix: str) -> dict[str, str]:
        return self.repository.references(prefix)


_JOINED_BYTES_MAX = 200_000
_DEFINED = re.compile(r"\b(?:def|class|func|function|fn|const|let|var|it|test)\b[\s('\"`]+([^\n'\"`(:]+)")


def _may_be_joined(path: str) -> bool:
    """True of documents and tests: of code and of data two added lines may mean something else together."""
    plain = re.fullmatch(r"[\w./+-]++", path) is not None  # else the attributes would have to quote it
    return plain and (is_prose(path) or is_test_file(path))


def joined(base: str, *sides: str, once: bool) -> str:
    """Return a text as both sides change it; "" if they meet in more than added lines, or define the same name.

    What a side adds stays together, unlike with git's own `union`, by which two methods share one closing brace. What
    both begin with, as with the heading of a release, stands `once`.
    """
    lines, texts = base.split("\n"), [side.split("\n") for side in sides]
    names = [{*_DEFINED.findall("\n".join({*text} - {*lines}))} for text in texts]
    if not base or set.intersection(*names):
        return ""
    codes = (
        (text, code) for text in texts for code in SequenceMatcher(None, lines, text, autojunk=False).get_opcodes()
    )
    edits = [(start, end, text[first:last]) for text, (tag, start, end, first, last) in codes if tag != "equal"]
    made, (begin, at, other) = list[str](), (-1, -1, list[str]())
    for start, end, added in sorted(edits, key=itemgetter(0, 1)):
        both = 0
        if start <= at:
            if not begin == at == end:
                return ""
            same = [one for one, two in takewhile(lambda pair: pair[0] == pair[1], zip(other, added, strict=False))]
            both = len(same) if same in (other, added) or (once and any(map(str.strip, same))) else 0
        made += [*lines[max(at, 0) : start], *added[both:]]
        begin, at, other = start, end, added
    return "\n".join([*made, *lines[max(at, 0) :]])


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge result: its tree, or None and the paths in conflict."""

    tree: str | None
    conflicts: tuple[str, ...]


def write_entries(git: Git, entries: Mapping[str, Entry | None], null_id: str) -> str:
    gone = [f"0 {null_id}\t{path}\0" for path, entry in entries.items() if entry is None]
    there = [f"{entry[0]} {entry[1]}\t{path}\0" for path, entry in entries.items() if entry is not None]
    git.ask("update-index", "--replace", "-z", "--index-info", stdin="".join((*gone, *there)))
    return git.ask("write-tree")


def store_text(plumbing: Plumbing, text: str | bytes) -> str:
    return plumbing.git.ask("hash-object", "-w", "--stdin", stdin=text)


def entries_before(changes: Iterable[FileChange]) -> dict[str, Entry | None]:
    return {c.path: None if c.old_mode == ABSENT else (c.old_mode, c.old_oid) for c in changes}


TRIES_MAX = 5
_Made = TypeVar("_Made")


def make_and_hold(
    plumbing: Plumbing, ref: str, make: Callable[[], _Made], commit_of: Callable[[_Made], str | None]
) -> _Made:
    """Return what `make` makes, once `ref` holds the commit or tree that `commit_of` names of it, complete.

    It is made again if an object is gone that no ref held. Raises GitError if it cannot be made, or is gone each time.
    """
    problem = GitError(f"{ref} was not tried")
    for _ in range(TRIES_MAX):
        try:
            made = make()
            if (name := commit_of(made)) is not None:
                plumbing.refs.apply(RefUpdate(ref, name))
        except RefLockedError:
            raise
        except GitError as error:
            problem = error
            plumbing.close()  # what runs may still read packs that are gone
        else:
            return made
    raise problem


_TEXTS_MAX = 20
_SECONDS_MAX = 60.0
_NOT_GREPPED = frozenset("\n\0")  # git grep takes no pattern that holds one


def occurring(plumbing: Plumbing, commit: str, texts: Collection[str]) -> frozenset[str]:
    """Return those of `texts` that stand in `commit`; of many only the first twenty are looked for in files.

    They may be secrets: git gets them as its input, since others can read command lines. Raises GitError.
    """
    if not texts:
        return frozenset()
    paths = plumbing.paths(commit)
    in_names = {text for text in texts if any(text in path for path in paths)}
    others = sorted(text for text in set(texts) - in_names if not _NOT_GREPPED & set(text))[:_TEXTS_MAX]
    if len(others) > 1 and not _in_a_file(plumbing, commit, others):
        return frozenset(in_names)  # searched for all at once: most often none of them is there
    return frozenset(in_names | {text for text in others if _in_a_file(plumbing, commit, [text])})


def _in_a_file(plumbing: Plumbing, commit: str, texts: list[str]) -> bool:
    git = replace(plumbing.git, seconds_max=_SECONDS_MAX)
    feed = "".join(f"{text}\n" for text in texts)
    return git.run("grep", "-q", "-a", "-F", "-f", "-", commit, "--", stdin=feed).code == 0
