"""What only GitHub's GraphQL API tells or does: each query stands here, beside the reader of its answer."""

import re
from collections.abc import Iterator

from noface.errors import ForgeAwayError, ForgeError
from noface.forge.parse import flag, listed, text
from noface.forge.rest import Client

_VIEWER = "query { viewer { login } }"
_AUTO_MERGE = """
mutation($id: ID!, $how: PullRequestMergeMethod!) {
  enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: $how}) { clientMutationId }
}"""
_EDITS = """
query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    issue(number: $number) { userContentEdits(first: 100) { nodes { editedAt editor { login } } } }
  }
}"""
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


def viewer(client: Client) -> str:
    """Return the login of the token, also of a workflow's or an app's, which REST's /user refuses."""
    return text(client.graphql(_VIEWER, {}), "viewer", "login")


def merge_when_ready(client: Client, node_id: str, method: str) -> None:
    client.graphql(_AUTO_MERGE, {"id": node_id, "how": method})


def edits_of(client: Client, number: int) -> Iterator[tuple[str, str]]:
    """Yield when an issue's text was edited, and by whom: "" for an account that is gone."""
    answer = client.graphql(_EDITS, _named(client, number))
    for edit in listed(answer, "repository", "issue", "userContentEdits", "nodes"):
        yield text(edit, "editedAt"), text(edit, "editor", "login")


def resolved_threads(client: Client, number: int) -> frozenset[int]:
    """Return the first comments of threads that people have resolved; none if that is not shown."""
    try:
        return frozenset(_resolved(client, number))
    except ForgeAwayError:
        raise
    except ForgeError:
        return frozenset()


def _resolved(client: Client, number: int) -> Iterator[int]:
    after: str | None = None
    for _ in range(_PAGES_MAX):
        answer = client.graphql(_THREADS, {**_named(client, number), "after": after})
        path = ("repository", "pullRequest", "reviewThreads")
        for thread in listed(answer, *path, "nodes"):
            first = next(iter(listed(thread, "comments", "nodes")), None)
            comment = _COMMENT.search(text(first, "url"))
            if comment is not None and flag(thread, "isResolved"):
                yield int(comment[1])
        after = text(answer, *path, "pageInfo", "endCursor")
        if not after or not flag(answer, *path, "pageInfo", "hasNextPage"):
            return


def _named(client: Client, number: int) -> dict[str, object]:
    return {"owner": client.location.owner, "name": client.location.name, "number": number}
