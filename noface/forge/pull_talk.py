"""What is said on GitHub about a pull request beside its text: threads, requests for reviews, and that one was heard.

Each call may be repeated: what is there already is left as it is.
"""

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import Any

from noface.errors import ForgeAwayError, ForgeError
from noface.forge import parse
from noface.forge.rest import Client, RefusedError
from noface.model.pull_request import Review

_THREADS = """
query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { isResolved comments(first: 1) { nodes { url } } }
      }
    }
  }
}"""
_COMMENT = re.compile(r"#discussion_r(\d{1,20})\Z")
_PAGES_MAX = 20


class PullTalk:
    """Speaks on a repository's pull requests; `whoami` returns the login that it speaks as. Threads may share it."""

    def __init__(self, client: Client, whoami: Callable[[], str]) -> None:
        self._client = client
        self._whoami = whoami

    def resolved(self, number: int) -> frozenset[int]:
        """Return the first comments of the threads that people have resolved: only GraphQL tells.

        None where a token or an older server does not show that.
        """
        try:
            return frozenset(self._resolved(number))
        except ForgeAwayError:
            raise
        except ForgeError:
            return frozenset()

    def _resolved(self, number: int) -> Iterator[int]:
        owner, _, name = self._client.location.repository.partition("/")
        after: str | None = None
        for _ in range(_PAGES_MAX):
            given = {"owner": owner, "name": name, "number": number, "after": after}
            threads = _at(self._client.graphql(_THREADS, given), "repository", "pullRequest", "reviewThreads")
            for thread in parse.listed(threads, "nodes"):
                first = next(iter(parse.listed(thread, "comments", "nodes")), None)
                found = _COMMENT.search(parse.text(first, "url"))
                if found is not None and _at(thread, "isResolved") is True:
                    yield int(found[1])
            after = parse.text(threads, "pageInfo", "endCursor")
            if _at(threads, "pageInfo", "hasNextPage") is not True or not after:
                return

    def see(self, review: Review) -> None:
        """Show by an 👀 that what somebody wrote was heard; a review's own text takes none by REST."""
        about = [("pulls", comment.id) for comment in review.comments]
        about += [("issues", review.id)] if not review.commit else []
        for kind, comment in about:
            self._send(self._client.repo(kind, "comments", comment, "reactions"), {"content": "eyes"})

    def ask_again(self, number: int, logins: Collection[str]) -> None:
        """Request reviews of people who have given some; each alone, since GitHub asks nobody where one cannot be."""
        for login in logins:
            self._send(self._client.repo("pulls", number, "requested_reviewers"), {"reviewers": [login]})

    def reply(self, number: int, comment: int, marker: str, text: str) -> None:
        """Answer in the thread of a comment on a line, once: where an answer of ours has `marker`, that stands."""
        path, login = self._client.repo("pulls", number, "comments"), self._whoami().removesuffix("[bot]")
        for known in self._client.items(path, keep=True):
            ours = parse.author_of(known).removesuffix("[bot]") == login
            if ours and parse.number(known, "in_reply_to_id") == comment and marker in parse.text(known, "body"):
                return
        about = self._client.repo("pulls", number, "comments", comment, "replies")
        self._send(about, {"body": f"{text}\n\n{marker}"})

    def _send(self, path: str, body: object) -> None:
        """Send what may be refused without harm: the thread is gone, the token may not, somebody has left."""
        with suppress(RefusedError):
            self._client.post(path, body)


def _at(source: Any, *keys: str) -> Any:
    for key in keys:
        source = source.get(key) if isinstance(source, dict) else None
    return source
