"""What noface says of an issue where its tracker is, and what it hears there."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Said:
    """What noface says of an issue where its tracker is; the tracker places it.

    `state` is the issue's status, or "gone" for one that is noface's no more. `text` is the comment, Markdown, "" for
    none yet. `closes`: its work has landed. All of it can be said again, and is edited in place.
    """

    issue_id: str
    state: str
    text: str = ""
    closes: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """What an allowed author has written about an issue since it was last asked: `id` orders what they wrote.

    `command` is "" for a plain answer, or the word after a leading slash: approve, reject, retry, skip. `/noface retry`
    is the same as `/retry`. `text` is what was written without the command.
    """

    issue_id: str
    id: int
    author: str
    text: str
    command: str = ""
    url: str = ""
