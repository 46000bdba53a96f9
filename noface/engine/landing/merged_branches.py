"""Which scratch branches may go: those of issues that main holds, with nothing on them that is not noface's."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from noface.git.landings import landed_issues
from noface.git.plumbing import Plumbing
from noface.git.refs import ZERO, RefUpdate, slug
from noface.git.worktrees import worktrees
from noface.model.scratch import LEFT, PERSON
from noface.store.reader import Reader

_HEADS, _REFS, _FETCHED = "refs/heads/noface", "refs/noface", "refs/noface/remote"


@dataclass(frozen=True, slots=True)
class KnownIssues:
    """What the database and main tell of the issues. `merged` ids are held by main, `slugs` are names in refs."""

    statuses: dict[str, str]
    merged: frozenset[str]
    slugs: dict[str, str]

    def why_kept(self, issue: str, *, force: bool) -> str:
        """Say why the refs of an issue stay, "" if they may go."""
        if not issue:
            return "it belongs to no issue; remove it yourself where you don't need it"
        if issue in self.merged or force:
            return ""
        status = self.statuses[issue]
        what = f"not merged ({status})" if status != "merged" else "it was merged, but main does not hold it any more"
        return f"{what}; --force removes it"


class ScratchBranch(NamedTuple):
    """A branch noface/ID at a commit. `why` is the reason it is kept, "" if it may go; `issue` is an id or ""."""

    name: str
    issue: str
    oid: str
    why: str


def known_issues(plumbing: Plumbing, reader: Reader) -> KnownIssues:
    """Return what is known of the issues now."""
    landed = dict(landed_issues(plumbing))
    rows = reader.where_merged()
    mains = (plumbing.local_main(), *plumbing.references(_FETCHED).values())
    merged = {name for name in landed if name not in rows}
    for name, (status, commit) in rows.items():
        if status == "merged":
            # Main may have been reset since: then the refs hold the only copy.
            known = name in landed or (commit and plumbing.resolve(commit))
            if name in landed or (known and any(plumbing.is_ancestor(commit, main) for main in mains)):
                merged.add(name)
    statuses = {name: status for name, (status, _) in rows.items()}
    return KnownIssues(statuses, frozenset(merged), {slug(name): name for name in (*landed, *rows)})


def scratch_branches(
    plumbing: Plumbing, reader: Reader, known: KnownIssues, *, force: bool = False
) -> Iterator[ScratchBranch]:
    """Yield all branches below noface/; `force` lets those of unmerged issues go, too."""
    trees = worktrees(plumbing.repository)
    names = [(ref.rpartition("/")[2], oid) for ref, oid in plumbing.references(_REFS).items()]
    given = {oid for name, oid in names if name.startswith(PERSON)}
    holds = {oid for name, oid in names if name.isdigit() or (name == LEFT and oid not in given)}
    for ref, oid in plumbing.references(_HEADS).items():
        name = ref.removeprefix("refs/heads/")
        issue = known.slugs.get(name.removeprefix("noface/"), "")
        at = next((tree.path for tree in trees if tree.branch == ref or tree.rebasing(ref)), None)
        why = f"it is checked out in {at}" if at is not None else known.why_kept(issue, force=force)
        if not why and not force:
            made = {each for row in reader.attempts(issue) for each in (row.commit_id, row.candidate)}
            if not (oid in holds | made or plumbing.is_ancestor(oid, plumbing.repository.main)):
                why = "it holds commits that are neither on main nor noface's; --force removes it"
        yield ScratchBranch(name, issue, oid, why)


def remove_merged(plumbing: Plumbing, reader: Reader) -> None:
    if plumbing.references(_HEADS):
        branches = scratch_branches(plumbing, reader, known_issues(plumbing, reader))
        plumbing.refs.apply(
            *(RefUpdate(f"refs/heads/{each.name}", ZERO, each.oid) for each in branches if not each.why)
        )
