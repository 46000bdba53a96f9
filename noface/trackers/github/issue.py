"""An issue on GitHub: from the JSON of the REST API to a record, and from that to an Issue or a fault. Pure.

`issue_body.py` reads the text, `accept_forms.py` decides which commands count. Front matter may set what an issue file
may, but for `may_change` and the title; what it sets wins over labels, and lists are joined with what the text says.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from noface.forge import parse
from noface.model.backlog import number_of
from noface.model.issue import DEFAULT_PRIORITY, Issue
from noface.model.listed import IssueFault
from noface.model.quoting import some
from noface.trackers.base import clean_title, content_hash, title_problem
from noface.trackers.issue_file import BODY_BYTES_MAX, ParsedFile, empty_body

OWN_LABELS = "noface:"
RUNNING = f"{OWN_LABELS}running"
"""Labels that begin so show noface's state. They say nothing of the work, and only these are ever changed."""
DEPENDENCIES_MAX = 100

_PRIORITY_WORDS = {
    "critical": 0, "urgent": 0, "blocker": 0, "highest": 0, "high": 1, "medium": 2, "normal": 2, "low": 3, "lowest": 4,
}  # fmt: skip
_PRIORITY = re.compile(
    r"p(?P<p>\d)|(?:priority|prio)[\s:/=_-]*(?:p?(?P<number>\d)|(?P<word>[a-z]+))|(?P<first>[a-z]+)[\s_-]priority"
)


@dataclass(frozen=True, slots=True)
class RemoteIssue:
    """An issue as the REST API shows it. `children` and `blockers` are its sub-issues and what it is blocked by.

    `open_children` and `open_blockers` are how many of these are open, by its own summary; `elsewhere` names those of
    other repositories.
    """

    number: int
    title: str
    body: str = ""
    open: bool = True
    labels: tuple[str, ...] = ()
    author: str = ""
    url: str = ""
    updated: str = ""
    pull: bool = False
    open_children: int = 0
    open_blockers: int = 0
    children: tuple[int, ...] = ()
    blockers: tuple[int, ...] = ()
    elsewhere: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()

    @property
    def home(self) -> str:
        return self.url.rsplit("/", 2)[0] if self.url.count("/") > 1 else ""


def remote_issue(data: Any) -> RemoteIssue | None:
    """Read an issue of the REST API; None for what is none. Total: what is of a wrong type is taken for absent."""
    if (number := parse.number(data, "number")) < 1:
        return None
    names = [each if isinstance(each, str) else parse.text(each, "name") for each in parse.listed(data, "labels")]
    children, done = (parse.number(data, "sub_issues_summary", key) for key in ("total", "completed"))
    return RemoteIssue(
        number,
        parse.text(data, "title"),
        parse.text(data, "body"),
        open=parse.text(data, "state") != "closed",
        labels=tuple(filter(None, names)),
        author=parse.text(data, "user", "login"),
        url=parse.text(data, "html_url"),
        updated=parse.text(data, "updated_at"),
        pull=bool(data.get("pull_request")),
        open_children=max(0, children - max(0, done)),
        open_blockers=max(0, parse.number(data, "issue_dependencies_summary", "blocked_by")),
        assignees=tuple(filter(None, (parse.text(each, "login") for each in parse.listed(data, "assignees")))),
    )


def remote_issues(page: object) -> list[RemoteIssue]:
    return [issue for entry in parse.listed(page) if (issue := remote_issue(entry)) is not None]


def priority_of(labels: Iterable[str]) -> int:
    """Return the most urgent priority that labels name ("P1", "priority: high", "high priority"), else the default."""
    priorities = []
    for label in labels:
        match = _PRIORITY.fullmatch(label.strip().lower())
        if match is None:
            continue
        if digit := match["p"] or match["number"]:
            priorities.append(int(digit))
        elif (word := match["word"] or match["first"]) in _PRIORITY_WORDS:
            priorities.append(_PRIORITY_WORDS[word])
    return min(priorities, default=DEFAULT_PRIORITY)


@lru_cache(maxsize=10_000)
def read_remote(remote: RemoteIssue, gates: tuple[str, ...] = ()) -> ParsedFile:
    """Make of an issue on GitHub what it says; `gates` are the commands of the project's gates. Total."""
    title = clean_title(remote.title)
    if problem := title_problem(title):
        return ParsedFile(_fault(remote, problem))
    try:
        size = len(remote.body.encode())
    except UnicodeEncodeError as error:
        return ParsedFile(_no_text(remote, error.start))
    if (at := remote.body.find("\0")) >= 0:
        return ParsedFile(_no_text(remote, at))
    if size > BODY_BYTES_MAX:
        return ParsedFile(_fault(remote, f"the body has {size} bytes, at most {BODY_BYTES_MAX} are allowed"))
    return _build(remote, title, gates)


def _build(remote: RemoteIssue, title: str, gates: tuple[str, ...]) -> ParsedFile:
    # Only issues that are read again pay for these.
    from noface.trackers.accept_forms import part_accepted
    from noface.trackers.front_matter import read_settings, refused_keys
    from noface.trackers.issue_body import read_body

    body = read_body(remote.body, remote.home)
    matter, problems = read_settings(body)
    here = [number for number, place in body.depends_on if not place]
    named = [*matter.depends_on, *map(str, (*here, *remote.children, *remote.blockers))]
    bare = (name.removeprefix("#") for name in named)
    depends_on = tuple(dict.fromkeys(number_of(name) or name for name in bare))
    outside = [f"{place}#{number}" for number, place in body.depends_on if place]
    elsewhere = dict.fromkeys([*outside, *remote.elsewhere])
    if elsewhere:
        problems.append(f"depends on {some(tuple(elsewhere), 5)} of another repository, which noface cannot follow")
    if len(depends_on) > DEPENDENCIES_MAX:
        problems.append(f"depends on {len(depends_on)} issues, at most {DEPENDENCIES_MAX} are allowed")
    if problems:
        return ParsedFile(_fault(remote, "; ".join(problems)))
    source = remote.url or f"#{remote.number}"
    labels = tuple(name for name in remote.labels if not name.startswith(OWN_LABELS) and name.isprintable())
    accept, refused = part_accepted([*matter.accept, *body.accept], gates, source, str(remote.number))
    plain = Issue(str(remote.number), title, body.text, priority=priority_of(labels), source=source)
    chosen = {name: getattr(matter, name) for name in matter.model_fields_set - _NOT_CHOSEN}
    issue = replace(
        replace(plain, **chosen),
        labels=tuple(dict.fromkeys([*labels, *matter.labels])),
        depends_on=depends_on,
        paths=matter.paths,
        accept=accept,
    )
    warnings = [] if body.text.strip() else [empty_body(source, issue.id)]
    # A label that says nothing of the work is no edit of the issue.
    content = (remote.title, remote.body, issue.priority, issue.depends_on)
    return ParsedFile(
        replace(issue, content_hash=content_hash(content)), (*warnings, *refused_keys(matter, issue), *refused)
    )


_NOT_CHOSEN = {"labels", "depends_on", "paths", "accept", "title", "may_change"}
"""Keys that are joined with what the issue says elsewhere, and those that only a file may set."""


def _no_text(remote: RemoteIssue, at: int) -> IssueFault:
    line = remote.body.count("\n", 0, at) + 1
    return _fault(remote, f"line {line}: the body holds {remote.body[at]!a}, which is no text")


def _fault(remote: RemoteIssue, problem: str) -> IssueFault:
    source = remote.url or f"#{remote.number}"
    return IssueFault(source, problem, f"Edit {source}.", str(remote.number))
