"""Why a git remote failed: git has no codes, so its words are read, by data/remote_messages.toml."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

from noface.data import table


class RemoteCause(StrEnum):
    """Why a remote failed. What is `passing` goes by itself, MOVED is settled by fetching, the rest need a person."""

    OFFLINE = "offline"
    AWAY = "away"
    AUTH = "auth"
    CERTIFICATE = "certificate"
    FULL = "full"
    HOOK = "hook"
    HOST_KEY = "host_key"
    LARGE_FILE = "large_file"
    MOVED = "moved"
    NOT_FOUND = "not_found"
    PERMISSION = "permission"
    PROTECTED = "protected"
    SECRET = "secret"  # noqa: S105 - the word, and none itself
    UNKNOWN = "unknown"

    @property
    def of_all(self) -> bool:
        """True for what lies neither in the work that is pushed nor in a passing outage: any other is refused, too."""
        return not self.passing and self not in (
            RemoteCause.MOVED,
            RemoteCause.SECRET,
            RemoteCause.LARGE_FILE,
            RemoteCause.UNKNOWN,
            RemoteCause.FULL,
        )

    @property
    def passing(self) -> bool:
        """True for what goes without a person's doing."""
        return self in (RemoteCause.OFFLINE, RemoteCause.AWAY)


@dataclass(frozen=True, slots=True)
class RemoteReason:
    """A cause, the line of git's message that tells of it, and what a person can do."""

    cause: RemoteCause
    line: str
    advice: str


@cache
def _causes() -> tuple[tuple[re.Pattern[str], RemoteReason], ...]:
    return tuple(
        (re.compile("|".join(entry["patterns"])), RemoteReason(RemoteCause(entry["cause"]), "", entry["advice"]))
        for entry in table("remote_messages")["messages"]
    )


_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]{1,1000}@")
_NOISE = ("hint: ", "To ", "Everything up-to-date", "Done")
_MARKS = ("remote:", "fatal:", "error:", "ssh:")
_LINE_CHARS_MAX = 400
_READ_CHARS_MAX = 20_000


def without_credentials(text: str) -> str:
    return _CREDENTIALS.sub("", text)


def reason_of(message: str) -> RemoteReason:
    """Return why git failed, from all it said; of several causes the first of the table that a line tells of."""
    lines = _lines(message)
    for pattern, reason in _causes():
        line = next((line for line in lines if pattern.search(line)), None)
        if line is not None:
            return replace(reason, line=_plain(line))
    telling = [line for line in lines if not line.startswith(_NOISE)]
    line = _plain(telling[-1]) if telling else "git said nothing"
    return RemoteReason(RemoteCause.UNKNOWN, line, "Try by hand what it says: `git fetch`, `git push --dry-run`.")


def server_words(message: str) -> str:
    """Return what the server itself said: the lines that git marks as the remote's."""
    words = (line.removeprefix("remote:").strip() for line in _lines(message) if line.startswith("remote:"))
    return "\n".join(line for line in words if line)


def _lines(message: str) -> list[str]:
    text = without_credentials(message[-_READ_CHARS_MAX:])
    return [line.strip() for line in text.splitlines() if line.strip()]


def _plain(line: str) -> str:
    for mark in _MARKS:
        line = line.removeprefix(mark).strip()
    return line[:_LINE_CHARS_MAX]
