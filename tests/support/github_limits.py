"""Who may ask the server of the tests, how often, and what goes wrong on the way: tokens, rate limits, faults.

What GitHub's guides say of limits: 5,000 requests an hour and user, answers 304 are free; one who goes on gets 403 or
429 with x-ratelimit-remaining 0 until x-ratelimit-reset. Secondary limits answer 403 or 429 with a Retry-After, or
without one (then a minute at least is to be waited), while x-ratelimit-remaining is above 0.
"""

import fnmatch
import threading
from dataclasses import dataclass, field

from .github_state import RefusedError, User

LIMIT_PER_HOUR = 5000
DOCS = "https://docs.github.com/rest"
ALL = "contents issues pull_requests checks statuses actions metadata"


@dataclass
class Token:
    """A token: its user, and what it may, a level ("read", "write") for each permission."""

    text: str
    user: User
    permissions: dict
    revoked: bool = False

    def check(self, wanted):
        """Raise RefusedError where the token lacks a permission such as "issues=write"."""
        name, _, level = wanted.partition("=")
        has = self.permissions.get(name, "")
        if name != "metadata" and has not in {"write", level}:
            kind = "integration" if self.user.type == "Bot" else "personal access token"
            header = {"X-Accepted-GitHub-Permissions": wanted}
            raise RefusedError(403, f"Resource not accessible by {kind}", headers=header)


def permissions(text):
    """Read permissions from "issues=write contents=read"; a name alone is for writing."""
    pairs = (each.partition("=") for each in text.split())
    return {name: level or "write" for name, _, level in pairs}


@dataclass
class Window:
    used: int
    reset: int


class Limits:
    """The primary limit: requests of each user in the hour that began with the first one."""

    def __init__(self, now, per_hour=LIMIT_PER_HOUR):
        self._now = now
        self.per_hour = per_hour
        self._windows = {}

    def _window(self, user, resource="core"):
        key = (user.login, resource)
        window = self._windows.get(key)
        if window is None or window.reset <= self._now():
            window = self._windows[key] = Window(0, self._now() + 3600)
        return window

    def count(self, user, resource="core"):
        """Count a request; raise RefusedError where the hour's are used up. GraphQL has a limit of its own."""
        window = self._window(user, resource)
        if window.used >= self.per_hour:
            raise RefusedError(403, f"API rate limit exceeded for user ID {user.id}.")
        window.used += 1

    def free(self, user):
        self._window(user).used -= 1

    def leave(self, user, remaining):
        """Use up all but so many of the hour's requests."""
        self._window(user).used = self.per_hour - remaining

    def rate(self, user, resource="core"):
        window = self._window(user, resource)
        left = self.per_hour - window.used
        return {"limit": self.per_hour, "remaining": left, "reset": window.reset, "used": window.used}

    def headers(self, user, resource="core"):
        named = {f"X-RateLimit-{key.capitalize()}": str(value) for key, value in self.rate(user, resource).items()}
        return {**named, "X-RateLimit-Resource": resource}


@dataclass
class Fault:
    """What goes wrong with the next `times` requests that match (None: with all until it is taken away).

    `path` is a glob of the path without /api/v3. `kind`: "answer" instead of an answer of the API; "drop" the
    connection `before` the request has an effect, or after it; "hold" the answer, whose effect has happened, until
    `gate` is set.
    """

    kind: str
    times: int | None = 1
    path: str = "*"
    method: str = ""
    status: int = 502
    headers: dict = field(default_factory=dict)
    message: str = ""
    before: bool = True
    gate: threading.Event = field(default_factory=threading.Event)
    entered: threading.Event = field(default_factory=threading.Event)

    def takes(self, method, path):
        """Whether this request is one to go wrong; it counts as such then."""
        if self.times == 0 or self.method not in {"", method} or not fnmatch.fnmatchcase(path, self.path):
            return False
        if self.times is not None:
            self.times -= 1
        return True
