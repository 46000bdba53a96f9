"""Reads how a person's checkout differs from main, and what the commands of issues name of that."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from noface.errors import GitError
from noface.git.command import Git
from noface.git.plumbing import Plumbing
from noface.integrity.accepting import out_of_reach
from noface.integrity.not_on_main import Checkout, Lacking, lack_text, lacking, ways_to_commit
from noface.integrity.prose import is_prose
from noface.integrity.rubbish import kind_of
from noface.model.issue import Issue
from noface.model.listed import IssueFault
from noface.model.patterns import matches_any
from noface.process.files import read_regular

_FILES_MAX = 200
_FILE_BYTES_MAX = 1_000_000


class PersonsCheckout:
    """The checkout in which noface was started, beside main, unchanged. `apart` are globs of files of issues."""

    def __init__(self, plumbing: Plumbing, apart: tuple[str, ...] = ()) -> None:
        self._plumbing = plumbing
        self._apart = (*apart, "noface.toml")

    def lacking(
        self, commands: Iterable[str], known: Iterable[str] = (), also: Iterable[str] = ()
    ) -> tuple[Lacking, ...]:
        """Return what commands name that only the checkout has.

        `known` are commands whose words work on main. `also` are paths that count although git ignores them.
        """
        root, state = self._plumbing.repository.root, self.state
        there = (path for path in also if path not in state.on_main and not self._is_apart(path))
        ignored = {path for path in there if (root / path).is_file()}
        state = replace(state, new=state.new | ignored) if ignored else state
        works = {each for command in known for each in lacking(command, state)}
        missing = dict.fromkeys(each for command in commands for each in lacking(command, state))
        return tuple(each for each in missing if each not in works)

    @cached_property
    def state(self) -> Checkout:
        """How the checkout differs from main; as main itself if git does not tell."""
        repository, main = self._plumbing.repository, self._plumbing.main()
        git = Git.user(str(repository.root))
        differing = ("diff", "--name-only", "-z", "--no-renames", "--ignore-submodules", "--diff-filter=d")
        try:
            untracked = git.answer("ls-files", "-z", "--others", "--exclude-standard").parts
            changed = git.answer(*differing, main, "--").parts
            dirty = git.answer(*differing, "HEAD", "--").parts if changed else []
            branch = git.answer("symbolic-ref", "--quiet", "--short", "HEAD", codes=(0, 1)).text
            branch = branch or git.ask("rev-parse", "HEAD")
        except GitError:
            return Checkout(main=repository.main_name)
        on_main = frozenset(self._plumbing.paths(main))
        paths = [path for path in (*changed, *untracked) if not self._is_apart(path)]
        code = [path for path in paths if not is_prose(path)][:_FILES_MAX]
        return Checkout(
            on_main,
            frozenset(paths) - on_main,
            self._texts(main, code),
            frozenset((*dirty, *untracked)),
            branch,
            repository.main_name,
        )

    def _is_apart(self, path: str) -> bool:
        return path.endswith("/") or bool(kind_of(path)) or matches_any(path, self._apart)

    def _texts(self, main: str, paths: list[str]) -> dict[str, tuple[str, str]]:
        """Return what main's files and the checkout's hold, but for those that are no text, or too large."""
        entries, texts = self._plumbing.entries(main, tuple(paths)), {}
        with self._plumbing.blobs() as blobs:
            for path in paths:
                own = read_regular(self._plumbing.repository.root / path, _FILE_BYTES_MAX + 1)
                if own is not None and len(own) <= _FILE_BYTES_MAX and b"\0" not in own:
                    old = blobs.read(entries[path][1], _FILE_BYTES_MAX) if path in entries else b""
                    texts[path] = ((old or b"").decode("utf-8", "replace"), own.decode("utf-8", "replace"))
        return texts


def accept_faults(checkout: PersonsCheckout, issues: Iterable[Issue], gates: Iterable[str]) -> dict[str, IssueFault]:
    """Return by issue what keeps its `accept` from passing, as far as it is seen without running anything.

    It names what lies in the person's checkout only, or a file that the issue's own `paths` keep the work from making.
    """
    known, faults = tuple(gates), dict[str, IssueFault]()
    for issue in issues:
        if things := checkout.lacking(issue.accept, known) if issue.accept else ():
            ways = " && ".join(ways_to_commit(things, checkout.state))
            faults[issue.id] = IssueFault(
                issue.source, lack_text(things, checkout.state), f"Commit it: {ways}", issue.id
            )
        elif why := out_of_reach(issue, checkout.state.on_main) if issue.accept else "":
            faults[issue.id] = IssueFault(issue.source, why, "Add it to `paths`, or correct `accept`.", issue.id)
    return faults
