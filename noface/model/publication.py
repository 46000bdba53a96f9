"""What noface says of an issue where its tracker is, and what it hears there."""

from dataclasses import dataclass

COMMANDS = ("approve", "reject", "retry", "skip")
"""What people may write behind `/noface`."""
ANYONE = "*"
"""Stands in [tracker] authors for everybody."""
APPROVED = "noface:approved"
"""The label that says yes to what an issue waits for."""
ACCOUNT = "<!-- noface:account -->"
"""Stands in a text for the name by which the account that says it is mentioned: the tracker knows it."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What noface says of an issue where its tracker is; the tracker places it.

    `state` is the issue's status, or "gone" for one that is noface's no more. `text` is the comment, Markdown, "" for
    none yet. `closes`: its work has landed. All of it can be said again, and is edited in place, which tells nobody.
    Only where `asks`, a name of what somebody is to read, is another than before, it is said in a new comment that
    mentions `to`, or where that is empty whoever the issue is from.
    """

    issue_id: str
    state: str
    text: str = ""
    closes: bool = False
    asks: str = ""
    to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Heard:
    """What an allowed author has written about an issue since it was last asked: `id` orders what they wrote.

    `command` is one of COMMANDS where it begins with `/noface` and that word, else "". `text` is what was written
    without them. `addressed`: it is meant for noface, since it begins with `/noface`, mentions its account, or quotes
    what it said; where not, it is an answer only to a question that anything answers. `label`: it was no comment but
    a label, which stays until what was asked is settled, and whose id orders nothing.
    """

    issue_id: str
    id: int
    author: str
    text: str
    command: str = ""
    url: str = ""
    addressed: bool = True
    label: bool = False


@dataclass(frozen=True, slots=True)
class Publication:
    """What was last said of an issue, by its digest (recovery/said), when, and in which comment; and what was heard.

    What people have written up to the comment `after` has been acted on or needed no action. `question` names what was
    asked when that was noted (see Publications.marked). `problem` says why the last one, by `author`, could not be
    acted on while the issue was `state`.
    """

    issue_id: str
    digest: str = ""
    comment: int | None = None
    at: float = 0.0
    after: int = 0
    question: str = ""
    problem: str = ""
    author: str = ""
    state: str = ""
