"""Who may ask the board for what. It is on loopback, which agents and every page in a browser reach too.

What decides is a function of what a request says of itself, and returns a refusal with its reason, or None:

1. A request names the board's own host, exactly. A name that somebody points at 127.0.0.1 is another host.
2. A page of another origin gets nothing but the way in: a port is another origin, and the same site.
3. Nothing changes but by POST, and a POST proves that it comes from the board's own page.
4. All but the way in and what is the same for everybody needs a session.

A session is made of a token that is good once and for some minutes. It is a cookie and a folder of the address, each
random: a browser sends a host's cookies to all of its ports, but only below the folder they are for, so that a server
that an agent runs on another port gets nothing (cookies know no port, RFC 6265 8.5). Both live in this process's memory
and end with it.
"""

import hashlib
import secrets
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hmac import compare_digest
from typing import NamedTuple

LOOPBACK = "127.0.0.1"
COOKIE = "noface"
TOKEN_S = 600.0
_TOKEN_BYTES = 15
_SECRET_BYTES = 32
_GROUP = 4

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""What stands above every answer. No-referrer keeps the folder of a session from other servers."""

WAY_IN = frozenset({"/", "/enter"})
_OF_NO_PAGE = ("", "none")
_OWN = "same-origin"


class RequestFacts(NamedTuple):
    """What a request says of itself; "" for a header that it lacks."""

    method: str
    path: str
    host: str
    origin: str = ""
    fetch_site: str = ""
    purpose: str = ""


class Denial(NamedTuple):
    """Why a request gets nothing: the status of the answer, and words for a person."""

    status: int
    message: str
    hint: str = ""


def refusal(asked: RequestFacts, port: int, *, read_only: bool = False) -> Denial | None:
    """Return why a request is refused, whoever sends it; None if it may go on to its session."""
    if asked.host not in (f"{LOOPBACK}:{port}", f"localhost:{port}"):
        return Denial(421, "this is not the address of the board", f"It is http://{LOOPBACK}:{port}/.")
    if asked.method not in ("GET", "POST"):
        return Denial(405, f"the board knows no {asked.method[:20]}")
    if "prefetch" in asked.purpose or "prerender" in asked.purpose:
        return Denial(403, "nothing is loaded in advance: a token is good once")
    if asked.method == "POST":
        # Under no-referrer a browser calls the origin of a form "null"; what it says of the site, no page can set.
        if asked.fetch_site not in ("", _OWN) or (
            asked.origin not in ("", "null") and asked.origin not in origins(port)
        ):
            return Denial(403, "another page may not decide anything here")
        if asked.origin not in origins(port) and asked.fetch_site != _OWN:
            return Denial(403, "the request does not tell which page it is from", "Use a browser of 2023 or newer.")
        if read_only and asked.path != "/enter":
            return Denial(403, "this board is read-only", "Who started it with --read-only can start one that decides.")
        return None
    if asked.fetch_site not in (*_OF_NO_PAGE, _OWN) and asked.path not in WAY_IN:
        return Denial(403, "another page may not ask the board for anything")
    return None


def origins(port: int) -> tuple[str, str]:
    return f"http://{LOOPBACK}:{port}", f"http://localhost:{port}"


class Entry(StrEnum):
    """What became of a token."""

    OPENED = "opened"
    WRONG = "wrong"
    LATE = "late"
    USED = "used"


@dataclass(frozen=True, slots=True)
class Pass:
    """What a browser gets for a token: the folder of its addresses, and the cookie that belongs to that."""

    folder: str
    cookie: str


@dataclass(slots=True)
class Sessions:
    """The sessions that are open, and the one token that opens another. It keeps digests, not what they are of."""

    _open: dict[str, bytes] = field(default_factory=dict)
    _spent: dict[bytes, str] = field(default_factory=dict)
    _token: bytes = b""
    _until: float = 0.0

    def token(self, now: float) -> str:
        text = b32encode(secrets.token_bytes(_TOKEN_BYTES)).decode().lower()
        self._token, self._until = _digest(text), now + TOKEN_S
        return "-".join(text[at : at + _GROUP] for at in range(0, len(text), _GROUP))

    def enter(self, token: str, now: float) -> tuple[Entry, Pass | None]:
        """Take a token for a session.

        One that comes a second time ends the session it has opened: one of the two who have it read it somewhere. A
        person who opens an address twice is out as well, and gets another one: the price.
        """
        digest = _digest(token.strip().lower().replace("-", ""))
        folder = next((self._spent[each] for each in self._spent if compare_digest(each, digest)), None)
        if folder is not None:
            self.leave(folder)
            return Entry.USED, None
        if not self._token or not compare_digest(digest, self._token):
            return Entry.WRONG, None
        if now > self._until:
            return Entry.LATE, None
        made = Pass(secrets.token_urlsafe(_SECRET_BYTES), secrets.token_urlsafe(_SECRET_BYTES))
        self._spent[digest], self._token = made.folder, b""
        self._open[made.folder] = _digest(made.cookie)
        return Entry.OPENED, made

    def holds(self, folder: str, cookie: str) -> bool:
        asked = folder.encode("utf-8", "replace")  # letters beyond ASCII cannot be compared as text
        known = next((self._open[each] for each in self._open if compare_digest(each.encode(), asked)), b"")
        return bool(known) and compare_digest(known, _digest(cookie))

    def leave(self, folder: str) -> None:
        self._open.pop(folder, None)


def set_cookie(made: Pass) -> str:
    return f"{COOKIE}={made.cookie}; Path=/{made.folder}/; HttpOnly; SameSite=Strict"


def cookies(header: str) -> Mapping[str, str]:
    """Return the cookies of a request. Of two with one name the first counts, as that of the longest path is."""
    known: dict[str, str] = {}
    for part in header.split(";"):
        name, _, value = part.strip().partition("=")
        known.setdefault(name, value)
    return known


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
