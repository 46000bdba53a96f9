"""What a forge is: the host of the remote repository, with pull requests, checks and reviews.

Every call may wait for the network and is made by a thread of its own, never by the loop's. Each can be repeated: what
creates something looks first whether it is there.
"""

from collections.abc import Collection
from typing import Protocol

from noface.forge.rules import RuleRefusal
from noface.model.pull_request import Check, PullDraft, PullRequest, PullReview


class Forge(Protocol):
    """The pull requests of a repository.

    Every method raises ForgeAwayError if the forge cannot answer now (outage, rate limit: with the time until which
    that lasts), and ForgeError if it refuses: the message says what is missing, such as a permission of the token.
    """

    def whoami(self) -> str:
        """Return the login that the token belongs to."""

    def check_access(self) -> None:
        """Raise ForgeError, which tells why, if nothing can be pushed or proposed. It only reads."""

    def refusals(self, branch: str, email: str, messages: tuple[str, ...]) -> tuple[RuleRefusal, ...]:
        """Return what rules would refuse of pushes to a branch by commits like these. It only reads."""

    def wants_linear(self, branch: str) -> bool:
        """True if rules of the repository let no merge commit onto a branch. It only reads."""

    def find(self, branch: str) -> PullRequest | None:
        """Return the newest pull request from a branch of this repository, open ones first; None without one."""

    def open(self, draft: PullDraft) -> PullRequest:
        """Open a pull request; if one from that branch is open already, update and return that."""

    def update(self, number: int, draft: PullDraft) -> PullRequest:
        """Give a pull request the draft's title and text."""

    def read(self, number: int) -> PullRequest:
        """Return a pull request as it is now."""

    def changed(self, since: float | None) -> dict[int, float]:
        """Return the pull requests that changed at a time or later, by their numbers with the time of the change.

        In epoch seconds of the forge's clock; the newest change stands below 0. Without a time only that is told. What
        checks do is no change of a pull request.
        """

    def checks(self, commit: str) -> tuple[Check, ...]:
        """Return the checks of a commit, each once as it stands now."""

    def log(self, check: Check) -> str:
        """Return the log of a failed check: of a workflow's job the failed step's lines; "" if there is none."""

    def reviews(self, number: int) -> tuple[PullReview, ...]:
        """Return the reviews of a pull request with their comments, oldest first; its plain comments count as some.

        Comments are marked whose threads people have resolved.
        """

    def see(self, review: PullReview) -> None:
        """Show its author that what somebody wrote was heard."""

    def ask_again(self, number: int, logins: Collection[str]) -> None:
        """Request reviews of people who have given some."""

    def reply(self, number: int, comment: int, marker: str, text: str) -> None:
        """Answer in the thread of a comment on a line, once: if an answer of ours has `marker`, that stands."""

    def comment(self, number: int, marker: str, text: str) -> None:
        """Say something on a pull request or an issue, once: a comment of ours with `marker` is edited instead."""
