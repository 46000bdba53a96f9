"""GitHub as the forge: its pull requests, their checks, logs and reviews. What decides about them is elsewhere.

Everything that makes something looks first whether it is there, so that a call which was killed is repeated.
"""

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace

from noface.errors import ForgeAwayError, ForgeError
from noface.forge import parse
from noface.forge.parse import Object
from noface.forge.rest import Client, RefusedError
from noface.forge.rules import RuleRefusal, Rules, refusals
from noface.model.publication import ANYONE
from noface.model.pull_request import Check, PullDraft, PullRequest, PullReview, PullState
from noface.model.quoting import short
from noface.process.clock import Clock

_FORBIDDEN = 403
_INVALID = 422
_NOT_FOR_THIS_TOKEN = (_FORBIDDEN, 404)
_RUNS_MAX = 100
_CHANGED_MAX = 50
_TITLE_CHARS_MAX = 256
_BODY_CHARS_MAX = 65_536
_MAY_PUSH = ("push", "maintain", "admin")
_OF_WORKFLOWS = "github-actions[bot]"
_NO_PULLS = "not permitted to create"
_OWN_MARK = "<!-- noface"
_WRITERS = ("admin", "maintain", "write")
_KNOWN_S = 1800.0

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
_THREAD_PAGES_MAX = 20
_MERGE_METHODS = (("allow_merge_commit", "MERGE"), ("allow_squash_merge", "SQUASH"), ("allow_rebase_merge", "REBASE"))


class People:
    """Tells whose words count. What GitHub says of a login is asked once in half an hour; threads may share it."""

    def __init__(self, client: Client, authors: Collection[str], clock: Clock) -> None:
        self._client = client
        self._authors = frozenset(author.lower().removeprefix("@") for author in authors)
        self._clock = clock
        self._known: dict[str, tuple[float, bool]] = {}

    def may_decide(self, login: str, *, bot: bool) -> bool:
        """True if a login's words count; a program's only if [tracker] authors names it. Raises ForgeAwayError."""
        name = login.lower()
        if self._authors & {name, ANYONE}:
            return True
        if bot or not name:
            return False
        at, writes = self._known.get(name, (float("-inf"), False))
        now = self._clock.monotonic()
        if not at <= now < at + _KNOWN_S:
            writes = may_write(self._client, login)
            self._known[name] = (now, writes)
        return writes


def may_write(client: Client, login: str) -> bool:
    """True if a login has write access to the repository. Raises RefusedError if the token may not know that."""
    try:
        answer = client.get(client.repo("collaborators", login, "permission"), keep=True).body
    except RefusedError as error:
        if error.status == 404:  # noqa: PLR2004 - nobody whom the repository knows
            return False
        raise
    # `permission` is "read" for a custom role that lets write; `role_name` is missing on older servers.
    return parse.text(answer, "permission") in _WRITERS or parse.text(answer, "role_name") in _WRITERS


class Forge:
    """The pull requests of a repository on GitHub. Threads may share it.

    Every method raises ForgeAwayError if GitHub cannot answer now, and ForgeError if it refuses.
    """

    def __init__(self, client: Client, people: People) -> None:
        self.client = client
        self._people = people
        self._login = ""
        self._home: Object = {}

    def whoami(self) -> str:
        """Return the login that the token belongs to, as comments show it."""
        if not self._login:
            try:
                self._login = parse.text(self.client.get("/user").body, "login")
            except RefusedError as error:
                if error.status != _FORBIDDEN:
                    raise
                self._login = parse.text(
                    self.client.graphql(_VIEWER, {}), "viewer", "login"
                )  # the token of a workflow or an app has no user
        return self._login

    def check_access(self) -> None:
        """Raise ForgeError, which tells why, if nothing can be pushed or proposed. It only reads."""
        login, home = self.whoami(), self._repository()
        name, allowed = parse.text(home, "full_name"), home.get("permissions") or {}
        if home.get("archived"):
            raise ForgeError(f"{name} is archived: nothing can be pushed to it.", "Unarchive it in its settings.")
        if allowed and not login.endswith("[bot]") and not any(allowed.get(role) for role in _MAY_PUSH):
            hint = f"Give {login} write access, or use the token of somebody who has it."
            raise ForgeError(f"{login} may read {name}, but not push to it.", hint)
        if login == _OF_WORKFLOWS:
            self._check_may_propose(home)

    def refusals(self, branch: str) -> tuple[RuleRefusal, ...]:
        """Return what the repository's rules would refuse of such pushes; a token that is not shown rules has none."""
        return tuple(refusals(self._rules(branch), branch))

    def wants_linear(self, branch: str) -> bool:
        return any(
            parse.text(rule, "type") == "required_linear_history" and not free for rule, free in self._rules(branch)
        )

    def find(self, branch: str) -> PullRequest | None:
        newest = self._newest_pull(branch)
        return parse.pull_request(newest) if newest is not None else None

    def open(self, draft: PullDraft) -> PullRequest:
        """Open a pull request, or update the open one of that branch; what could not be had stands in its notes."""
        known = self._newest_pull(draft.branch)
        if known is None or parse.text(known, "state") != "open":
            try:
                wanted = {**_words(draft), "head": draft.branch, "base": draft.base}
                source: Object = self.client.post(self.client.repo("pulls"), wanted)
            except RefusedError as error:
                known = self._newest_pull(draft.branch) if error.status == _INVALID else None
                if known is None or parse.text(known, "state") != "open":
                    raise
                source = self._updated(parse.number(known, "number"), draft)  # somebody was faster
        else:
            source = self._updated(parse.number(known, "number"), draft)
        return replace(parse.pull_request(source), notes=tuple(self._merged_by_github(source, draft)))

    def read(self, number: int) -> PullRequest:
        source = self.client.get(self.client.repo("pulls", number), keep=True).body
        pull = parse.pull_request(source)
        if pull.state is not PullState.CLOSED:
            return pull
        issue = self.client.get(self.client.repo("issues", number), keep=True).body  # only there it stands
        return parse.pull_request(source, parse.text(issue, "closed_by", "login"))

    def changed(self) -> dict[int, float]:
        """Return when the pull requests that changed last did so (epoch seconds), by number; checks are no change."""
        wanted = {"state": "all", "sort": "updated", "direction": "desc", "per_page": _CHANGED_MAX}
        pulls = parse.objects(self.client.get(self.client.repo("pulls"), wanted, keep=True).body)
        return {parse.number(pull, "number"): parse.time_of(pull, "updated_at") or 0.0 for pull in pulls}

    def checks(self, commit: str) -> tuple[Check, ...]:
        """Return the checks of a commit, each once as it stands now.

        A fine-grained token that may not read check runs has a workflow's jobs, and no other app's.
        """
        jobs: list[Object] = []
        try:
            runs = self.client.items(self.client.repo("commits", commit, "check-runs"), key="check_runs", keep=True)
        except RefusedError as error:
            if error.status not in _NOT_FOR_THIS_TOKEN:
                raise
            runs, jobs = [], self._jobs(commit, error)
        try:
            statuses = self.client.items(self.client.repo("commits", commit, "status"), key="statuses", keep=True)
        except RefusedError as error:
            if error.status != _FORBIDDEN:
                raise
            statuses = []  # a token without that permission; workflows do not show as statuses
        return parse.checks(runs, jobs, statuses)

    def log(self, check: Check) -> str:
        """Return the log of a failed check: of a job its failed steps, else its own words. Raises ForgeError."""
        kind, _, number = check.id.partition(":")
        if not number:
            return ""
        if kind != parse.JOB:
            return self._check_run_text(number)
        try:
            return parse.failed_steps(self.client.text(self.client.repo("actions", "jobs", number, "logs")))
        except RefusedError as error:
            try:
                summary = self._check_run_text(number)
            except RefusedError:
                summary = ""
            if not summary:
                raise error  # noqa: TRY201 - why there is no log, not why there is nothing instead of it
            return summary

    def reviews(self, number: int) -> tuple[PullReview, ...]:
        """Return the reviews of a pull request with their comments, oldest first; its plain comments count as some.

        noface's own are left out by their mark: its token may be a person's, who has a say as well.
        """
        client = self.client
        given = client.items(client.repo("pulls", number, "reviews"), keep=True)
        on_lines = client.items(client.repo("pulls", number, "comments"), keep=True)
        plain = client.items(client.repo("issues", number, "comments"), keep=True)
        resolved = resolved_threads(client, number) if on_lines else frozenset()
        listed = []
        for review, source in parse.reviews(given, on_lines, plain):
            if _OWN_MARK not in review.text:
                trusted = self._people.may_decide(review.author, bot=parse.text(source, "user", "type") != "User")
                comments = tuple(replace(each, resolved=each.thread in resolved) for each in review.comments)
                listed.append(replace(review, trusted=trusted, comments=comments))
        return tuple(sorted(listed, key=lambda review: review.at))

    def comment(self, number: int, marker: str, text: str) -> None:
        """Say something on a pull request or an issue, once: a comment of ours with `marker` is edited instead."""
        body = text if marker in text else f"{text}\n\n{marker}"
        path, login = self.client.repo("issues", number, "comments"), self.whoami()
        for known in self.client.items(path, keep=True):
            if marker in parse.text(known, "body") and _plain_login(parse.author_of(known)) == _plain_login(login):
                if parse.text(known, "body") != body:
                    self.client.patch(self.client.repo("issues", "comments", parse.number(known, "id")), {"body": body})
                return
        self.client.post(path, {"body": body})

    def see(self, review: PullReview) -> None:
        """Show its author that what somebody wrote was heard; a review's own text takes no 👀 by REST."""
        for comment in review.comments:
            show_eyes(self.client, "pulls", comment.id)
        if not review.commit:
            show_eyes(self.client, "issues", review.id)

    def ask_again(self, number: int, logins: Collection[str]) -> None:
        """Request reviews of people who have given some; each alone, since GitHub asks nobody if one cannot be."""
        for login in logins:
            with suppress(RefusedError):  # somebody has left
                self.client.post(self.client.repo("pulls", number, "requested_reviewers"), {"reviewers": [login]})

    def reply(self, number: int, comment: int, marker: str, text: str) -> None:
        """Answer in the thread of a comment on a line, once: if an answer of ours has `marker`, that stands."""
        path, login = self.client.repo("pulls", number, "comments"), _plain_login(self.whoami())
        for known in self.client.items(path, keep=True):
            ours = _plain_login(parse.author_of(known)) == login
            if ours and parse.number(known, "in_reply_to_id") == comment and marker in parse.text(known, "body"):
                return
        with suppress(RefusedError):  # the thread is gone
            self.client.post(f"{path}/{comment}/replies", {"body": f"{text}\n\n{marker}"})

    # From here on: the parts of these.

    def _repository(self) -> Object:
        """Return the repository itself: it may have been renamed since its remote was set."""
        if not self._home:
            self._home = self.client.get(self.client.repo(), keep=True).body
        return self._home

    def _rules(self, branch: str) -> Rules:
        """Return the rules for a branch, with whether the token's owner may bypass them; none if they are not shown."""
        client, words = self.client, dict[int, str]()
        try:
            rules = parse.objects(client.items(client.repo("rules", "branches", branch), keep=True))
        except RefusedError as error:
            if error.status not in _NOT_FOR_THIS_TOKEN:
                raise
            return ()
        for ruleset in {parse.number(rule, "ruleset_id") for rule in rules} - {0}:
            try:
                body = client.get(client.repo("rulesets", ruleset), keep=True).body
            except RefusedError as error:  # one of the organization's, or not to be seen
                if error.status not in _NOT_FOR_THIS_TOKEN:
                    raise
            else:
                words[ruleset] = parse.text(body, "current_user_can_bypass")
        told = [words.get(parse.number(rule, "ruleset_id"), "") for rule in rules]
        return tuple(
            (rule, word in ("always", "exempt") if word else None) for rule, word in zip(rules, told, strict=True)
        )

    def _check_may_propose(self, home: Object) -> None:
        """Raise ForgeError if workflows may open no pull requests here.

        Only administrators may read that setting. So what cannot be, main into itself, is asked for, which makes
        nothing.
        """
        main = parse.text(home, "default_branch")
        asked = {"title": "noface asks whether it may", "head": main, "base": main, "body": ""}
        try:
            self.client.post(self.client.repo("pulls"), asked)
        except RefusedError as error:
            if error.status == _FORBIDDEN and _NO_PULLS in error.message:
                raise ForgeError(
                    f"Workflows may open no pull requests in {self.client.location.repository}.",
                    "Tick `Allow GitHub Actions to create and approve pull requests`: Settings, Actions, General,"
                    " Workflow permissions; or use another token.",
                ) from None

    def _newest_pull(self, branch: str) -> Object | None:
        owner = parse.text(self._repository(), "owner", "login") or self.client.location.owner
        wanted = {"head": f"{owner}:{branch}", "state": "all", "sort": "created", "direction": "desc"}
        listed = self.client.items(self.client.repo("pulls"), wanted)
        own = [pull for pull in listed if parse.text(pull, "head", "ref") == branch and parse.is_own(pull)]
        return next((pull for pull in own if parse.text(pull, "state") == "open"), own[0] if own else None)

    def _updated(self, number: int, draft: PullDraft) -> Object:
        changed: Object = self.client.patch(self.client.repo("pulls", number), _words(draft))
        return changed

    def _merged_by_github(self, source: Object, draft: PullDraft) -> list[str]:
        if not draft.auto_merge or source.get("auto_merge"):
            return []
        home = self._repository()
        method = next((method for key, method in _MERGE_METHODS if home.get(key, True) is True), "MERGE")
        try:
            self.client.graphql(_AUTO_MERGE, {"id": parse.text(source, "node_id"), "how": method})
        except RefusedError as error:
            what = "auto_merge (it wants Allow auto-merge in the repository's settings, and a rule to wait for)"
            return [f"{what} could not be had: {error.message}"]
        return []

    def _jobs(self, commit: str, refused: RefusedError) -> list[Object]:
        client = self.client
        try:
            runs = client.items(client.repo("actions", "runs"), {"head_sha": commit}, key="workflow_runs", keep=True)
            return [
                job
                for run in runs[:_RUNS_MAX]
                for job in client.items(
                    client.repo("actions", "runs", parse.number(run, "id"), "jobs"), key="jobs", keep=True
                )
            ]
        except RefusedError as error:
            if error.status in _NOT_FOR_THIS_TOKEN:
                raise refused from None
            raise

    def _check_run_text(self, number: str) -> str:
        path = self.client.repo("check-runs", number)
        run = self.client.get(path).body
        return parse.annotations_text(run, self.client.items(f"{path}/annotations"))


def show_eyes(client: Client, kind: str, comment: int) -> None:
    with suppress(RefusedError):  # the token may not: what becomes of the comment shows as well
        client.post(client.repo(kind, "comments", comment, "reactions"), {"content": "eyes"})


def _words(draft: PullDraft) -> dict[str, str]:
    return {"title": short(draft.title, _TITLE_CHARS_MAX), "body": draft.body[:_BODY_CHARS_MAX]}


def _plain_login(login: str) -> str:
    return login.removesuffix("[bot]")


def edits_of(client: Client, number: int) -> Iterator[tuple[str, str]]:
    answer = client.graphql(_EDITS, _named(client, number))
    for edit in parse.listed(answer, "repository", "issue", "userContentEdits", "nodes"):
        yield parse.text(edit, "editedAt"), parse.text(edit, "editor", "login")


def resolved_threads(client: Client, number: int) -> frozenset[int]:
    try:
        return frozenset(_resolved(client, number))
    except ForgeAwayError:
        raise
    except ForgeError:
        return frozenset()


def _resolved(client: Client, number: int) -> Iterator[int]:
    after: str | None = None
    for _ in range(_THREAD_PAGES_MAX):
        answer = client.graphql(_THREADS, {**_named(client, number), "after": after})
        path = ("repository", "pullRequest", "reviewThreads")
        for thread in parse.listed(answer, *path, "nodes"):
            first = next(iter(parse.listed(thread, "comments", "nodes")), None)
            comment = _COMMENT.search(parse.text(first, "url"))
            if comment is not None and parse.flag(thread, "isResolved"):
                yield int(comment[1])
        after = parse.text(answer, *path, "pageInfo", "endCursor")
        if not after or not parse.flag(answer, *path, "pageInfo", "hasNextPage"):
            return


def _named(client: Client, number: int) -> dict[str, object]:
    return {"owner": client.location.owner, "name": client.location.name, "number": number}
