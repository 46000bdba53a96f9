"""People at work on the server of the tests: what they do is what noface has to hear of. Nothing here is a request."""

from functools import wraps

from .github_bare import WEB_FLOW


def _locked(act):
    """Run an event of a person between two requests, never during one."""

    @wraps(act)
    def run(self, *args, **kwargs):
        with self.repository.server.lock:
            return act(self, *args, **kwargs)

    return run


class Person:
    """Somebody in a repository. Issues, pull requests and comments are named by their numbers and ids."""

    def __init__(self, repository, login):
        self.repository = repository
        self.login = login
        self.user = repository.server.user(login)

    def _issue(self, number):
        return self.repository.issue(number)

    def _pull(self, number):
        self.repository.look()
        return self.repository.pull(number)

    @_locked
    def opens_issue(self, title, body=None, *, labels=()):
        """Open an issue; return its number."""
        return self.repository.open_issue(self.user, title, body, labels=labels).number

    @_locked
    def edits(self, number, **fields):
        self.repository.edit(self._issue(number), self.user, **fields)

    @_locked
    def closes(self, number, reason="completed"):
        """Close an issue, or a pull request without merging it."""
        self.repository.set_state(self._issue(number), self.user, "closed", reason)

    closes_pull = closes

    @_locked
    def reopens(self, number):
        self.repository.set_state(self._issue(number), self.user, "open")

    @_locked
    def labels(self, number, *names):
        self.repository.add_labels(self._issue(number), self.user, names)

    @_locked
    def unlabels(self, number, *names):
        for name in names:
            self.repository.remove_label(self._issue(number), self.user, name)

    @_locked
    def transfers(self, number, to):
        """Move an issue, with what was said of it, to another repository; return its number there."""
        return self.repository.transfer(self._issue(number), to)

    @_locked
    def deletes_issue(self, number):
        self.repository.away[number] = None
        del self.repository.issues[number]
        for comment in self.repository.comments_of(number):
            del self.repository.comments[comment.id]

    @_locked
    def blocks(self, number, by):
        self.repository.block(self._issue(number), self.user, self._issue(by))

    @_locked
    def adds_sub_issue(self, parent, child):
        self.repository.add_sub_issue(self._issue(parent), self.user, self._issue(child))

    @_locked
    def comments(self, number, text):
        """Comment an issue or a pull request; return the comment's id."""
        return self.repository.comment(self._issue(number), self.user, text).id

    @_locked
    def deletes_comment(self, comment):
        del self.repository.comments[comment]

    @_locked
    def opens_pull(self, title, head, base="main", body=None):
        return self.repository.open_pull(self.user, title, head, base, body).number

    @_locked
    def reviews(self, number, state, text="", comments=()):
        """Review a pull request: "approved", "changes_requested" or "commented"; comments are (path, line, text)."""
        return self.repository.review(self._pull(number), self.user, state.upper(), text, comments).id

    @_locked
    def replies(self, number, comment, text):
        """Answer a comment on a line; return the answer's id."""
        first = self.repository.review_comments[comment]
        return self.repository.reply(self._pull(number), self.user, first, text).id

    @_locked
    def resolves(self, comment):
        """Mark the thread of a comment on a line as resolved, which shows in nothing but the thread."""
        self.repository.resolved.add(comment)

    @_locked
    def assigns(self, number, *logins):
        self.repository.assign(self._issue(number), self.user, logins)

    @_locked
    def updates_branch(self, number):
        """Merge the base into the branch of a pull request by its button; return the commit."""
        return self.repository.update_branch(self._pull(number), self.user)

    @_locked
    def commits_suggestion(self, number, files):
        """Commit a suggestion to the branch of a pull request by its button; return the commit."""
        branch = self._pull(number).pull.head
        message = (
            "Apply suggestions from code review\n\nCo-authored-by: noface-bot <noface-bot@users.noreply.github.com>"
        )
        at = self.repository.server.now()
        made = self.repository.bare.write(branch, files, message, self.login, at, committer=WEB_FLOW)
        self.repository.look()
        return made

    @_locked
    def merges(self, number, how="merge"):
        """Merge a pull request by "merge", "squash" or "rebase"; return the commit on its base."""
        return self.repository.merge(self._pull(number), self.user, how)

    @_locked
    def pushes(self, branch, files, message="A person's change"):
        """Commit files on top of a branch (None deletes one); return the commit."""
        commit = self.repository.bare.write(branch, files, message, self.login, self.repository.server.now())
        self.repository.look()
        return commit
