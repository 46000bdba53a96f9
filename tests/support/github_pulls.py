"""Pull requests, reviews and checks of a repository on the server of the tests.

A pull request's head is what its branch really is: the bare repository is read whenever pull requests are, so that a
push over `file://`, of which no server is told, moves it as one over http does.
"""

from dataclasses import dataclass, field

from .github_bare import WEB_FLOW, Bare
from .github_state import CLOSES, RefusedError, Tracked, User, invalid, not_found


@dataclass
class Pull:
    """What a pull request has beyond its issue's side: `head` and `base` are branches, the others commits."""

    head: str
    base: str
    head_sha: str
    base_sha: str
    draft: bool = False
    merged_at: int | None = None
    merged_by: User | None = None
    merge_commit: str | None = None
    auto_merge: tuple[User, str] | None = None
    requested: list[User] = field(default_factory=list)
    tested: tuple | None = None
    """Head and base for which GitHub has tried the merge: it begins when it is first asked, and answers the next time."""


@dataclass
class Review:
    id: int
    number: int
    user: User
    state: str
    body: str
    commit: str
    at: int


@dataclass
class ReviewComment:
    id: int
    number: int
    review: int
    user: User
    body: str
    path: str
    line: int | None
    commit: str
    created_at: int
    updated_at: int
    reply_to: int | None = None


@dataclass
class CheckRun:
    """A check run; one of GitHub Actions is a job as well, with the same id and a log."""

    id: int
    name: str
    sha: str
    status: str
    conclusion: str | None
    at: int
    app: str
    run: int
    summary: str | None = None
    text: str | None = None
    log: str | None = None
    step: str = "Run tests"
    annotations: tuple[dict, ...] = ()


@dataclass
class Status:
    id: int
    sha: str
    context: str
    state: str
    description: str | None
    target_url: str | None
    creator: User
    at: int


class Hosted(Tracked):
    """A repository with its bare git repository: issues, pull requests, checks."""

    def __init__(self, server, owner, name, path, *, private=False, main="main"):
        super().__init__(server, owner, name, private=private)
        self.bare = Bare(path, main)
        self.main = main
        self.allow_auto_merge = True
        self.merge_methods = {"merge", "squash", "rebase"}
        self.reviews: dict[int, Review] = {}
        self.review_comments: dict[int, ReviewComment] = {}
        self.check_runs: dict[int, CheckRun] = {}
        self.statuses: dict[int, Status] = {}
        self.resolved: set[int] = set()
        self._refs = {}

    def pull(self, number):
        if number not in self.issues or self.issues[number].pull is None:
            raise not_found()
        return self.issues[number]

    @property
    def pulls(self):
        return [each for each in self.issues.values() if each.pull is not None]

    def open_pull(self, user, title, head, base, body=None, *, draft=False):
        """Open a pull request from a branch of this repository, "owner:branch" or the branch alone."""
        self.look()
        owner, _, branch = head.rpartition(":")
        head_sha, base_sha = self.bare.branch(branch), self.bare.branch(base)
        if not head_sha or owner not in {"", self.owner.login}:
            raise invalid("PullRequest", "head")
        if not base_sha:
            raise invalid("PullRequest", "base")
        where = f"{self.owner.login}:{branch}"
        if any(each.state == "open" and (each.pull.head, each.pull.base) == (branch, base) for each in self.pulls):
            raise _custom(f"A pull request already exists for {where}.")
        if self.bare.holds(base_sha, head_sha):
            raise _custom(f"No commits between {base} and {branch}")
        made = self.open_issue(user, title, body)
        made.pull = Pull(branch, base, head_sha, base_sha, draft)
        self.bare.set(f"refs/pull/{made.number}/head", head_sha)
        self._refs = self.bare.refs()
        return made

    def look(self):
        """Take in what has been pushed to the bare repository: heads move, pull requests are merged or closed by it."""
        refs = self.bare.refs()
        if refs == self._refs:
            return
        before, self._refs = self._refs, refs
        for issue in [each for each in self.pulls if each.state == "open"]:
            self._look_at(issue, refs)
        old, new = (each.get(f"refs/heads/{self.main}") for each in (before, refs))
        if old and new and old != new and self.bare.holds(new, old):
            self._close_named(self.bare.messages(old, new), self.owner, new)
        self._refs = self.bare.refs()

    def _look_at(self, issue, refs):
        pull = issue.pull
        head, base = (refs.get(f"refs/heads/{name}") for name in (pull.head, pull.base))
        if base and base != pull.base_sha and self.bare.holds(base, pull.head_sha):
            self._merged(issue, self.owner, base)
        elif not head or (head != pull.head_sha and base and self.bare.holds(base, head)):
            self.set_state(issue, self.owner, "closed")
        elif head != pull.head_sha:
            if not self.bare.holds(head, pull.head_sha):
                self.happened(issue, "head_ref_force_pushed", self.owner)
            pull.head_sha = head
            issue.updated_at = self.server.now()
            self.bare.set(f"refs/pull/{issue.number}/head", head)
        pull.base_sha = base or pull.base_sha

    def _merged(self, issue, user, commit):
        issue.pull.merged_at, issue.pull.merged_by = self.server.now(), user
        issue.pull.merge_commit = commit
        issue.pull.auto_merge = None
        self.happened(issue, "merged", user, commit=commit)
        self.set_state(issue, user, "closed")
        if issue.pull.base == self.main:
            self._close_named(issue.body or "", user, commit)

    def _close_named(self, text, user, commit):
        """Close the issues that words such as «Closes #7» name."""
        for number in dict.fromkeys(int(found[1]) for found in CLOSES.finditer(text)):
            issue = self.issues.get(number)
            if issue is not None and issue.state == "open" and issue.pull is None:
                self.set_state(issue, user, "closed", "completed", commit)

    def mergeable(self, issue):
        """Whether a pull request can be merged; None at the first question about these commits."""
        pull, commits = issue.pull, (issue.pull.head_sha, issue.pull.base_sha)
        if issue.state != "open" or pull.tested != commits:
            pull.tested = commits
            return None
        return self.bare.merged_tree(pull.base_sha, pull.head_sha) is not None

    def merge(self, issue, user, how="merge", title=None, message=None, sha=None):
        """Merge a pull request as the button does; return the commit on its base branch."""
        self.look()
        pull = issue.pull
        if sha and sha != pull.head_sha:
            raise RefusedError(409, "Head branch was modified. Review and try the merge again.")
        if how not in self.merge_methods:
            raise RefusedError(405, f"{how.capitalize()} merges are not allowed on this repository.")
        tree = self.bare.merged_tree(pull.base_sha, pull.head_sha)
        if issue.state != "open" or pull.draft or tree is None:
            raise RefusedError(405, "Pull Request is not mergeable")
        at = self.server.now()
        if how == "merge":
            subject = title or f"Merge pull request #{issue.number} from {self.owner.login}/{pull.head}"
            text = f"{subject}\n\n{issue.title if message is None else message}\n"
            made = self.bare.commit_tree(tree, [pull.base_sha, pull.head_sha], text, user.login, at)
        elif how == "squash":
            text = f"{title or f'{issue.title} (#{issue.number})'}\n\n{message or ''}\n"
            made = self.bare.commit_tree(tree, [pull.base_sha], text, user.login, at)
        else:
            made = self._rebased(pull, user, at)
        self.bare.set(f"refs/heads/{pull.base}", made)
        self._merged(issue, user, made)
        pull.base_sha = made
        self.look()  # the others' base has moved
        return made

    def update_branch(self, issue, user):
        """Merge the base into a pull request's branch by its button; return the commit."""
        self.look()
        pull = issue.pull
        tree = self.bare.merged_tree(pull.head_sha, pull.base_sha)
        if tree is None:
            raise RefusedError(422, "merge conflict between base and head")
        text = f"Merge branch '{pull.base}' into {pull.head}\n"
        made = self.bare.commit_tree(
            tree, [pull.head_sha, pull.base_sha], text, user.login, self.server.now(), WEB_FLOW
        )
        self.bare.set(f"refs/heads/{pull.head}", made)
        self.look()
        return made

    def _rebased(self, pull, user, at):
        made = pull.base_sha
        for commit in self.bare.commits(pull.base_sha, pull.head_sha):
            tree = self.bare.merged_tree(made, commit)  # what both sides have of earlier commits is the same
            text = self.bare.git("log", "-1", "--format=%B", commit)
            made = self.bare.commit_tree(tree, [made], text, user.login, at)
        return made

    # Reviews.

    def review(self, issue, user, state, body="", comments=()):
        """Review a pull request; `comments` are (path, line, text), where line is None for a file as a whole."""
        self.look()
        if issue.user is user and state in {"APPROVED", "CHANGES_REQUESTED"}:
            what = "approve" if state == "APPROVED" else "request changes on"
            raise _custom(f"Can not {what} your own pull request")
        now = self.server.now()
        made = Review(self.server.new_id(), issue.number, user, state, body, issue.pull.head_sha, now)
        self.reviews[made.id] = made
        for path, line, text in comments:
            self.review_comment(issue, user, made, path, line, text)
        if user in issue.pull.requested:
            issue.pull.requested.remove(user)
        self.happened(issue, "reviewed", user)
        self.mail(issue, user, "review", body)
        issue.readers.append(user)
        return made

    def reply(self, issue, user, first, text):
        """Answer a comment on a line in its thread: a review of its own, as GitHub shows it."""
        made = Review(self.server.new_id(), issue.number, user, "COMMENTED", "", issue.pull.head_sha, self.server.now())
        self.reviews[made.id] = made
        said = self.review_comment(issue, user, made, first.path, first.line, text, first.id)
        self.mail(issue, user, "reply", text, [each.user for each in self._thread(first)])
        self._touch(issue)
        return said

    def _thread(self, first):
        return [each for each in self.review_comments.values() if first.id in {each.id, each.reply_to}]

    def review_comment(self, issue, user, review, path, line, text, reply_to=None):
        now = self.server.now()
        made = ReviewComment(
            self.server.new_id(), issue.number, review.id, user, text, path, line, review.commit, now, now, reply_to
        )
        self.review_comments[made.id] = made
        return made

    # Checks.

    def check(self, sha, name, conclusion=None, *, app="github-actions", **fields):
        """Set the check of a commit by name; without a conclusion it runs. A second one of that name replaces it."""
        now = self.server.now()
        made = CheckRun(
            self.server.new_id(), name, sha, "completed" if conclusion else "in_progress", conclusion, now, app, 0
        )
        for key, value in fields.items():
            assert hasattr(made, key), key
            setattr(made, key, value)
        made.run = made.id + 1_000_000
        self.check_runs[made.id] = made
        self._auto_merge(sha)
        return made

    def checks_of(self, sha, *, newest=True):
        """Return the check runs of a commit; `newest`: of each name and app the last one only."""
        found = [each for each in self.check_runs.values() if each.sha == sha]
        return list({(each.app, each.name): each for each in found}.values()) if newest else found

    def set_status(self, sha, user, context, state, description=None, target_url=None):
        made = Status(self.server.new_id(), sha, context, state, description, target_url, user, self.server.now())
        self.statuses[made.id] = made
        self._auto_merge(sha)
        return made

    def statuses_of(self, sha):
        return [each for each in reversed(self.statuses.values()) if each.sha == sha]

    def green(self, sha):
        checks = all(each.conclusion in {"success", "skipped", "neutral"} for each in self.checks_of(sha))
        newest = {each.context: each for each in reversed(self.statuses_of(sha))}
        return checks and all(each.state == "success" for each in newest.values())

    def enable_auto_merge(self, issue, user, how):
        if not self.allow_auto_merge or how not in self.merge_methods:
            raise RefusedError(200, "Pull request Auto merge is not allowed for this repository")
        if issue.state != "open" or (self.green(issue.pull.head_sha) and self.checks_of(issue.pull.head_sha)):
            raise RefusedError(200, "Pull request Pull request is in clean status")
        issue.pull.auto_merge = (user, how)
        self.happened(issue, "auto_merge_enabled", user)

    def _auto_merge(self, sha):
        for issue in self.pulls:
            pull = issue.pull
            if issue.state == "open" and pull.auto_merge and pull.head_sha == sha and self.green(sha):
                self.merge(issue, *pull.auto_merge)


def _custom(message):
    return RefusedError(422, "Validation Failed", [{"resource": "PullRequest", "code": "custom", "message": message}])
