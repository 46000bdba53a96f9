"""What the server of the tests keeps of a repository: issues, labels, comments, and who may do what.

Persons' events and the REST API change it by the same methods, so that a label that alice sets in a test and one that
noface sets differ in nothing but their author. Times are epoch seconds, whole as GitHub's are.
"""

import itertools
import re
from dataclasses import dataclass, field

ROLES = ("none", "read", "triage", "write", "maintain", "admin")
MENTION = re.compile(r"(?<![\w`/@.\u200b-])@([A-Za-z0-9][A-Za-z0-9-]*)")
CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)", re.IGNORECASE)
BODY_CHARS_MAX = 65_536
LABEL_CHARS_MAX = 50


class RefusedError(Exception):
    """GitHub refuses what was asked for: `status`, its message, and for 422 the errors by field."""

    def __init__(self, status, message, errors=(), headers=None):
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = list(errors)
        self.headers = headers or {}


def invalid(resource, fieldname, code="invalid", message=None):
    error = {"resource": resource, "field": fieldname, "code": code}
    return RefusedError(422, "Validation Failed", [error if message is None else {**error, "message": message}])


def not_found():
    return RefusedError(404, "Not Found")


@dataclass
class User:
    id: int
    login: str
    type: str = "User"


@dataclass
class Label:
    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass
class Comment:
    id: int
    number: int
    user: User
    body: str
    created_at: int
    updated_at: int


@dataclass
class Reaction:
    id: int
    user: User
    content: str
    at: int


@dataclass(frozen=True)
class Mail:
    """What somebody is told of by mail: in which issue or pull request, and by what. Edits are told to nobody."""

    to: str
    number: int
    what: str


@dataclass
class Event:
    id: int
    number: int
    kind: str
    actor: User
    at: int
    label: Label | None = None
    commit: str | None = None
    assignee: User | None = None
    rename: tuple[str, str] | None = None


@dataclass
class Issue:
    """An issue, or the issue's side of a pull request: then `pull` is what only that has."""

    id: int
    number: int
    title: str
    body: str | None
    user: User
    created_at: int
    updated_at: int
    labels: list[Label] = field(default_factory=list)
    assignees: list[User] = field(default_factory=list)
    state: str = "open"
    state_reason: str | None = None
    closed_at: int | None = None
    closed_by: User | None = None
    blocked_by: list["Issue"] = field(default_factory=list)
    locked: bool = False
    sub_issues: list["Issue"] = field(default_factory=list)
    parent: "Issue | None" = None
    pull: object = None
    edits: list[tuple[int, User]] = field(default_factory=list)
    """When the text was edited, and by whom."""
    readers: list[User] = field(default_factory=list)
    """Who was mentioned there, and so is told what follows."""


class Tracked:
    """The issues of one repository, and the rights of people in it."""

    def __init__(self, server, owner, name, *, private=False):
        self.server = server
        self.owner = server.user(owner)
        self.name = name
        self.private = private
        self.id = server.new_id()
        self.created_at = server.now()
        self.roles = {owner: "admin"}
        self.issues: dict[int, Issue] = {}
        self.away: dict[int, tuple[Tracked, int] | None] = {}  # transferred issues, and None for deleted ones
        self.comments: dict[int, Comment] = {}
        self.events: list[Event] = []
        self.rules: list[tuple[str, dict]] = []  # what they hold for, and the rule with its ruleset
        self.actions_propose = True
        self.reactions: dict[int, list[Reaction]] = {}
        self.mails: list[Mail] = []
        self._labels: dict[str, Label] = {}
        self._numbers = itertools.count(1)

    @property
    def full_name(self):
        return f"{self.owner.login}/{self.name}"

    def role(self, login):
        """What a login may do: read is what everybody may do in a public repository."""
        return self.roles.get(login, "none" if self.private else "read")

    def may(self, login, role):
        return ROLES.index(self.role(login)) >= ROLES.index(role)

    def association(self, user):
        """What GitHub calls the author of something: a collaborator need not have write access."""
        if user.login == self.owner.login:
            return "OWNER"
        if user.login in self.roles:
            return "COLLABORATOR"
        return "NONE"

    def issue(self, number):
        if number in self.away:  # those that can still be read answer with a redirect
            raise not_found() if self.away[number] else RefusedError(410, "This issue was deleted")
        if number not in self.issues:
            raise not_found()
        return self.issues[number]

    def issue_of(self, issue_id):
        found = next((each for each in self.issues.values() if each.id == issue_id), None)
        if found is None:
            raise not_found()
        return found

    def open_issue(self, user, title, body=None, *, labels=(), assignees=()):
        if not title:
            raise invalid("Issue", "title", "missing_field")
        _short(body, "Issue")
        now = self.server.now()
        made = Issue(self.server.new_id(), next(self._numbers), title, body, user, now, now)
        self.issues[made.number] = made
        made.labels = [self.label(name, make=True) for name in dict.fromkeys(labels)]
        made.assignees = [self.server.user(login) for login in assignees]
        self.mail(made, user, "opened", body)
        return made

    def transfer(self, issue, to):
        """Move an issue to another repository, whose next number it gets; its labels stay behind."""
        old = issue.number
        del self.issues[old]
        issue.number, issue.labels = next(to._numbers), []
        to.issues[issue.number] = issue
        for comment in self.comments_of(old):
            comment.number = issue.number
            to.comments[comment.id] = self.comments.pop(comment.id)
        self.away[old] = to, issue.number
        to._touch(issue)
        return issue.number

    def edit(self, issue, user, **fields):
        """Change title, body, assignees, or the state with its reason."""
        if "assignees" in fields:
            issue.assignees = []
            self.assign(issue, user, fields.pop("assignees"))
        state, reason = fields.pop("state", None), fields.pop("state_reason", None)
        _short(fields.get("body"), "Issue")
        now = self.server.now()
        if "body" in fields and (fields["body"] or "") != (issue.body or ""):
            issue.edits.append((now, user))
        if "title" in fields and fields["title"] != issue.title:
            rename = (issue.title, fields["title"])
            self.events.append(Event(self.server.new_id(), issue.number, "renamed", user, now, rename=rename))
        for name, value in fields.items():
            setattr(issue, name, value)
        if state and state != issue.state:
            self.set_state(issue, user, state, reason)
        self._touch(issue)

    def set_state(self, issue, user, state, reason=None, commit=None):
        closed = state == "closed"
        issue.state = state
        issue.state_reason = None if issue.pull else (reason or "completed") if closed else "reopened"
        issue.closed_at = self.server.now() if closed else None
        issue.closed_by = user if closed else None
        self.happened(issue, "closed" if closed else "reopened", user, commit=commit)
        self.mail(issue, user, "closed" if closed else "reopened")

    def assign(self, issue, user, logins):
        for login in logins:
            other = self.server.user(login)
            if other not in issue.assignees:
                issue.assignees.append(other)
                self.happened(issue, "assigned", user, assignee=other)

    def happened(self, issue, kind, user, label=None, commit=None, assignee=None):
        at = self.server.now()
        self.events.append(Event(self.server.new_id(), issue.number, kind, user, at, label, commit, assignee))
        self._touch(issue)

    def mail(self, issue, actor, what, text="", also=()):
        """Tell by mail who takes part in an issue or pull request, or is mentioned: never who did it."""
        named = {login.lower() for login in MENTION.findall(_shown(text or ""))}
        issue.readers += [user for user in self.server.known(named) if user not in issue.readers]
        wrote = [each.user for each in self.comments_of(issue.number)]
        told = {each.login: None for each in (issue.user, *issue.assignees, *wrote, *issue.readers, *also)}
        self.mails += [Mail(login, issue.number, what) for login in told if login != actor.login]

    def mails_of(self, login, number=None):
        return [each.what for each in self.mails if each.to == login and number in {None, each.number}]

    def react(self, about, user, content):
        """React to a comment; return the reaction, and whether it is new."""
        known = self.reactions.setdefault(about, [])
        found = next((each for each in known if (each.user, each.content) == (user, content)), None)
        if found is None:
            known.append(Reaction(self.server.new_id(), user, content, self.server.now()))
        return found or known[-1], found is None

    def _touch(self, issue):
        issue.updated_at = self.server.now()

    # Labels: their names differ by more than case.

    @property
    def labels(self):
        return list(self._labels.values())

    def label(self, name, *, make=False):
        if name.lower() not in self._labels:
            if not make:
                raise not_found()
            self.make_label(name)
        return self._labels[name.lower()]

    def make_label(self, name, color="ededed", description=None):
        if name.lower() in self._labels:
            raise invalid("Label", "name", "already_exists")
        if not name.strip() or len(name) > LABEL_CHARS_MAX:
            raise invalid("Label", "name", "custom", f"name is too long (maximum is {LABEL_CHARS_MAX} characters)")
        if not re.fullmatch(r"[0-9a-fA-F]{6}", color):
            raise invalid("Label", "color")
        made = Label(self.server.new_id(), name, color, description)
        self._labels[name.lower()] = made
        return made

    def add_labels(self, issue, user, names):
        """Label an issue; GitHub makes labels that the repository does not have."""
        for label in [self.label(name, make=True) for name in names]:
            if label not in issue.labels:
                issue.labels.append(label)
                self.happened(issue, "labeled", user, label)

    def remove_label(self, issue, user, name):
        label = next((each for each in issue.labels if each.name.lower() == name.lower()), None)
        if label is None:
            raise RefusedError(404, "Label does not exist")
        issue.labels.remove(label)
        self.happened(issue, "unlabeled", user, label)

    # Comments of issues and, beside those of reviews, of pull requests.

    def comment(self, issue, user, body):
        if not body.strip():
            raise invalid("IssueComment", "body", "missing_field")
        if issue.locked and not self.may(user.login, "write"):
            raise RefusedError(403, "Unable to create comment because issue is locked.")
        _short(body, "IssueComment")
        now = self.server.now()
        made = Comment(self.server.new_id(), issue.number, user, body, now, now)
        self.mail(issue, user, "comment", body)
        self.comments[made.id] = made
        self._touch(issue)
        return made

    def edit_comment(self, comment, body):
        """Change a comment, which is a change of its issue as well."""
        _short(body, "IssueComment")
        comment.body = body
        comment.updated_at = self.server.now()
        self._touch(self.issues[comment.number])

    def comments_of(self, number):
        return [each for each in self.comments.values() if each.number == number]

    # Dependencies.

    def block(self, issue, user, by):
        if by is issue or by in issue.blocked_by:
            raise invalid("Issue", "issue_id", "custom", "cannot be blocked by this issue")
        issue.blocked_by.append(by)
        self.happened(issue, "blocked_by_added", user)
        self.happened(by, "blocking_added", user)

    def add_sub_issue(self, parent, user, child, *, replace=False):
        if child.parent is not None and not replace:
            raise invalid("Issue", "sub_issue_id", "custom", "Sub issue may only have one parent")
        if child.parent is not None:
            self.remove_sub_issue(child.parent, user, child)
        parent.sub_issues.append(child)
        child.parent = parent
        self.happened(parent, "sub_issue_added", user)
        self.happened(child, "parent_issue_added", user)

    def remove_sub_issue(self, parent, user, child):
        if child not in parent.sub_issues:
            raise not_found()
        parent.sub_issues.remove(child)
        child.parent = None
        self.happened(parent, "sub_issue_removed", user)


def _shown(text):
    """A text without its code: what stands there mentions nobody."""
    return re.sub(r"```.*?```|`[^`\n]*`|<!--.*?-->", "", text, flags=re.DOTALL)


def _short(body, resource):
    if body is not None and len(body) > BODY_CHARS_MAX:
        message = f"body is too long (maximum is {BODY_CHARS_MAX} characters)"
        raise invalid(resource, "body", "custom", message)
