"""The refs that claim issues on a remote: each points to a commit of the empty tree whose message says who has it.

What was read of them stands below the same names in this repository.
"""

from collections.abc import Collection
from dataclasses import dataclass

from noface.git.plumbing import Plumbing
from noface.git.refs import slug
from noface.git.remote import LOOK_SECONDS_MAX, Cancel, Push, PushResult, Remote

CLAIMS = "refs/noface/claims/"


def claim_ref(issue_id: str) -> str:
    """Return the ref that claims an issue."""
    return CLAIMS + slug(issue_id)


@dataclass(frozen=True, slots=True)
class ClaimCommit:
    """What a claim's ref points to: the commit, its message, and when it was made, in epoch seconds."""

    commit: str
    message: str
    made_at: float


@dataclass(frozen=True, slots=True)
class ClaimRefs:
    """Reads and writes the refs of claims. Its methods wait for the network and raise RemoteError."""

    plumbing: Plumbing
    remote: Remote

    def read(self, cancel: Cancel | None = None) -> dict[str, ClaimCommit]:
        """Return the claims on the remote by their refs. Only what is new there is fetched."""
        there = self.remote.read(f"{CLAIMS}*", cancel=cancel).refs
        if there != self.plumbing.references(CLAIMS):
            self.remote.fetch(f"+{CLAIMS}*:{CLAIMS}*", prune=True, cancel=cancel)
        form = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents)%01"
        claims = {}
        for entry in self.plumbing.git.ask("for-each-ref", form, CLAIMS).split("\x01"):
            ref, _, rest = entry.lstrip("\n").partition("\0")
            parts = rest.split("\0", 2)
            if len(parts) == 3:  # noqa: PLR2004 - a message may hold what stands between entries
                commit, at, message = parts
                claims[ref] = ClaimCommit(commit, message, float(at) if at.isdecimal() and at.isascii() else 0.0)
        return claims

    def make(self, message: str) -> str:
        """Make the commit of a claim; return its id. Nothing holds it before it is pushed."""
        return self.plumbing.commit_tree(self.plumbing.git.ask("mktree", stdin=""), (), message)

    def push(self, pushes: Collection[Push], cancel: Cancel | None = None) -> dict[str, PushResult]:
        """Make, renew or delete claims, each by compare-and-swap; return what came of it by their refs."""
        results = self.remote.push_all(tuple(pushes), cancel, seconds_max=LOOK_SECONDS_MAX)
        return {result.ref: result for result in results}
