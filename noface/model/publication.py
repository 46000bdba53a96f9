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
    """What noface says of an issue where its tracker is; all of it can be said again, and is edited in place.

    `state` is the issue's status, or "gone". `closes`: its work has landed. Only if `asks`, a name of what somebody is
    to read, is another than before, it is said in a new comment that mentions `to`, or whoever the issue is from.
    """

    issue_id: str
    state: str
    text: str = ""
    closes: bool = False
    asks: str = ""
    to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Heard:
    """What an allowed author has written about an issue: `command` is one of COMMANDS or "", `text` what follows.

    `addressed`: it is meant for noface; if not, it answers only a question that anything answers. `label`: it was a
    label.
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
    """What was last said of an issue, by its digest (recovery/said), and what was heard up to the comment `after`.

    `problem` says why the last one, by `author`, could not be acted on while the issue was `state`.
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
