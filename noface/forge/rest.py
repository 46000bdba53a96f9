"""The client of GitHub's REST and GraphQL APIs: limits kept, pages followed, what is unchanged not sent again.

Every method raises ForgeAwayError if GitHub cannot answer now, and RefusedError if it refuses. Requests that may be
repeated are, twice; a POST is not: its sender looks first whether it is there. Threads may share a client. Nothing is
read or written outside the repository of the configuration, known by its id: what was transferred is refused as MOVED.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlencode, urljoin, urlsplit

from noface.errors import ForgeAwayError, ForgeError
from noface.forge.limits import (
    WRITE_PAUSE_S,
    Away,
    HttpReply,
    Refused,
    Request,
    Verdict,
    judged,
    judged_graphql,
    outage_wait,
)
from noface.forge.location import Location, is_hosted, is_loopback
from noface.forge.token import Token
from noface.model.json_record import JsonRecord, json_value
from noface.process.clock import Clock
from noface.process.command import Canceller
from noface.process.files import read_regular, write_atomic

if TYPE_CHECKING:
    from noface.forge.transport import Transport

Json = Any
"""What a body holds; whoever asked takes it apart at once."""

_KEPT_CHARS_MAX = 64_000_000
_PER_PAGE = 100
_PAGES_MAX = 1000
_TRIES = 3
_AGAIN_WITHIN_S = 5.0
_AGAIN_BASE_S = 0.5
_HOPS_MAX = 4
_STEP_S = 0.1
_REPEATABLE = ("GET", "PATCH", "DELETE")
_NOT_MODIFIED = 304
_REDIRECTS = (301, 302, 307, 308)
MOVED = 301
MISSING = (MOVED, 404, 410)
"""What RefusedError says of things that are not in the repository (any more): moved, unknown or hidden, deleted."""
NOT_FOR_US = (401, 403, 404, 410, 451)
"""What it says of things that this token may not do at all."""
_GRAPHQL = "graphql"
IDENTITY_FILE = "github-repository.json"
_DOTS = (".", "..")
_NEXT = re.compile(r'<(?P<url>[^<>]*)>\s*;[^,<]*\brel="?next\b')
_REPOSITORY = re.compile(r"(/repos/[^/]++/[^/]++|/repositories/\d++)(?:/|\Z)", re.IGNORECASE)
_URL_HINT = "Is [github] url in noface.toml the URL of the REST API?"
_AWAY_HINT = "noface asks again by itself; nothing is lost meanwhile."


class RefusedError(ForgeError):
    """GitHub refused a request; `status` is that of its answer."""

    def __init__(self, message: str, hint: str = "", status: int = 0) -> None:
        super().__init__(message, hint)
        self.status = status


@dataclass(frozen=True, slots=True)
class Document:
    """A body, parsed. `changed` is False if GitHub said that it is as it was when it was last kept."""

    body: Json
    changed: bool = True
    next: str = ""


class Client:
    """The API of one host, for one repository. Once `cancel` is set, waits end and nothing more is sent."""

    def __init__(
        self,
        location: Location,
        token: Token,
        clock: Clock,
        cancel: Canceller | None = None,
        dice: Callable[[], float] = lambda: 0.5,
        *,
        transport: "Transport",
        state: Path | None = None,
    ) -> None:
        self.location = location
        self.token = token
        self._clock = clock
        self._kept: dict[str, HttpReply] = {}
        self._cancel = cancel
        self._dice = dice
        self._transport = transport
        self._folder = state
        self._lock = threading.Lock()
        # What threads share, below the lock.
        self._away = (0.0, "")
        self._failures = 0
        self._homes: tuple[str, ...] = ()
        self._last_write = float("-inf")

    def repo(self, *parts: object) -> str:
        names = [str(part) for part in (self.location.owner, self.location.name, *parts)]
        if wrong := [name for name in names if name in ("", *_DOTS)]:
            raise ForgeError(f"Nothing can be asked of {self.location.host} with {wrong[0]!r} for a name.")
        return "/repos/" + "/".join(quote(name, safe="", errors="replace") for name in names)

    def get(self, path: str, params: Mapping[str, object] | None = None, *, keep: bool = False) -> Document:
        """Return what is at a path. With `keep` only if it has changed is it sent again: that costs no budget."""
        url = f"{path}?{urlencode(sorted((name, str(value)) for name, value in params.items()))}" if params else path
        kept = self._kept.get(url) if keep else None
        reply = self._exchange("GET", url, None, {"If-None-Match": kept.headers["etag"]} if kept is not None else {})
        if reply.status == _NOT_MODIFIED and kept is not None:
            return Document(kept.json(), changed=False, next=self._next(kept))
        document = Document(self._parsed(reply, f"GET {path}"), next=self._next(reply))
        if keep and reply.headers.get("etag"):
            with self._lock:
                self._kept[url] = reply
                if sum(len(each.body) for each in self._kept.values()) > _KEPT_CHARS_MAX:
                    self._kept.clear()  # asking for them anew costs requests, and nothing else
        return document

    def pages(self, path: str, params: Mapping[str, object] | None = None, *, keep: bool = False) -> Iterator[Document]:
        """Yield a listing's pages of up to 100 entries, each when it is asked for."""
        answer = self.get(path, {"per_page": _PER_PAGE, **(params or {})}, keep=keep)
        yield answer
        for _ in range(_PAGES_MAX - 1):
            if not answer.next:
                return
            answer = self.get(answer.next, keep=keep)
            yield answer

    def items(
        self, path: str, params: Mapping[str, object] | None = None, *, key: str = "", keep: bool = False
    ) -> list[Json]:
        """Return all entries of a listing. `key` names them if each page is an object and no list."""
        entries: list[Json] = []
        for page in self.pages(path, params, keep=keep):
            listed = page.body.get(key) if key and isinstance(page.body, dict) else page.body
            if not isinstance(listed, list):
                raise ForgeError(f"{self.location.host} answered GET {path} with no list.", _URL_HINT)
            entries += listed
        return entries

    def post(self, path: str, body: Json = None) -> Json:
        return self._parsed(self._exchange("POST", path, body, {}), f"POST {path}")

    def patch(self, path: str, body: Json) -> Json:
        return self._parsed(self._exchange("PATCH", path, body, {}), f"PATCH {path}")

    def delete(self, path: str) -> Json:
        return self._parsed(self._exchange("DELETE", path, None, {}), f"DELETE {path}")

    def graphql(self, query: str, variables: Mapping[str, object]) -> Json:
        # It lies beside the REST API on GitHub Enterprise Server, below it elsewhere.
        path = f"{self.location.api.removesuffix('/v3')}/{_GRAPHQL}"
        reply = self._exchange("POST", path, {"query": query, "variables": dict(variables)}, {})
        parsed = self._parsed(reply, "the GraphQL query")
        if not isinstance(parsed, dict) or not isinstance(parsed.get("data"), dict):
            raise ForgeError(f"{self.location.host} answered the GraphQL query without data.", _URL_HINT)
        return parsed["data"]

    def text(self, path: str) -> str:
        """Return a file that the API leads to, such as a job's log. Another host gets no token."""
        return self._exchange("GET", path, None, {}, follow_away=True).body

    def close(self) -> None:
        self._transport.close()

    # From here on: one request and what becomes of it.

    def _exchange(
        self, verb: str, url: str, body: Json, headers: Mapping[str, str], *, follow_away: bool = False
    ) -> HttpReply:
        asked = Request(f"{verb} {urlsplit(url).path}", self.location.repository, self.location.host, self.token.source)
        if not _is_plain(url):
            raise ForgeError(f"noface makes no such request: {verb} {self._path(url)} is not sent.")
        if (named := self._named(url)) and not self._is_ours(verb, url, named):
            only = f"noface works with {self.location.repository} only"
            raise ForgeError(f"{only}: {verb} {self._path(url)} is not sent.")
        tries = 1
        while True:
            now = self._clock.now()
            if self._cancel is not None and self._cancel.cancelled:
                raise ForgeAwayError("The run is being stopped; nothing more is sent.", now)
            with self._lock:
                until, why = self._away
            if now < until:
                raise ForgeAwayError(why, until, _AWAY_HINT)
            self._space(verb)
            reply, verdict = self._once(verb, url, body, headers, asked, follow_away=follow_away)
            if verdict is None:
                return reply
            if isinstance(verdict, Refused):
                raise RefusedError(f"{verdict.why}.", verdict.hint, reply.status)
            long = verdict.limit and verdict.wait_s > _AGAIN_WITHIN_S
            if long or tries == _TRIES or verb not in _REPEATABLE:
                raise self._stopped(verdict)
            self._pause(verdict.wait_s if verdict.limit else _AGAIN_BASE_S * 2**tries * self._dice())
            tries += 1

    def _stopped(self, verdict: Away) -> ForgeAwayError:
        """Return what is told of an answer that did not come; after a limit nothing is sent until its end."""
        until, why = self._clock.now() + verdict.wait_s, f"{verdict.why}."
        if verdict.limit:
            with self._lock:
                self._away = until, why
        return ForgeAwayError(why, until, _AWAY_HINT)

    def _once(
        self, verb: str, url: str, body: Json, headers: Mapping[str, str], asked: Request, *, follow_away: bool
    ) -> tuple[HttpReply, Verdict]:
        from noface.forge.transport import UnreachableError

        with self._lock:
            failures = self._failures
        try:
            reply = self._followed(verb, url, body, headers, follow_away=follow_away)
        except UnreachableError as error:
            with self._lock:
                self._failures += 1
            return HttpReply(0, {}), Away(str(error), outage_wait(failures, self._dice()))
        now, by_graphql = self._clock.now(), asked.what.endswith(f"/{_GRAPHQL}")
        verdict = (judged_graphql if by_graphql else judged)(reply, asked, now, failures, self._dice())
        with self._lock:
            self._failures = failures + 1 if isinstance(verdict, Away) else 0
        return reply, verdict

    def _followed(self, verb: str, url: str, body: Json, headers: Mapping[str, str], *, follow_away: bool) -> HttpReply:
        """Send a request and follow redirects: within the API's host with the token, elsewhere only files, without."""
        reply, asked = self._transport.send(verb, url, body, dict(headers)), f"{verb} {urlsplit(url).path}"
        for _ in range(_HOPS_MAX):
            if reply.status not in _REDIRECTS or not reply.headers.get("location"):
                return reply
            target = urljoin(f"{self.location.api}/", reply.headers["location"])
            root = f"{urlsplit(self.location.api).path}/"  # on a server of one's own other things lie at the same host
            if _origin(target) == _origin(self.location.api) and f"{urlsplit(target).path}/".startswith(root):
                source, named = self._named(url), self._named(target)
                stays = source == named or (source and named and self._is_ours(verb, url, named))
                if not (stays and _is_plain(target)):
                    raise RefusedError(
                        f"{self.location.host} leads {verb} {urlsplit(url).path} away from {self.location.repository}.",
                        "What was transferred to another repository is left alone there.",
                        MOVED,
                    )
                url = target
                reply = self._transport.send(verb, url, body, dict(headers))
            elif follow_away and verb == "GET" and (target.startswith("https://") or is_loopback(_origin(target)[1])):
                reply = self._transport.fetch(target)
            else:
                where = f"another place, at {_origin(target)[1]}"
                raise ForgeError(
                    f"{self.location.host} leads {asked} to {where}: the token is not sent there.", _URL_HINT
                )
        raise ForgeError(f"{self.location.host} answers {asked} with redirects only.", _URL_HINT)

    def _is_ours(self, verb: str, url: str, named: str) -> bool:
        known = self.repo().lower()
        if verb == "GET" and self._path(url).lower() == known:  # the repository itself: the answer tells its id
            return True
        return (named == known and self._folder is None) or named in (known, *self._home())

    def _home(self) -> tuple[str, ...]:
        with self._lock:
            homes = self._homes
        if not homes:
            body = self.get(self.repo(), keep=True).body
            known = body if isinstance(body, dict) else {}
            if self._folder is not None:
                check_identity(self._folder, self.location, known.get("id"))
            homes = (f"/repositories/{known.get('id')}", f"/repos/{known.get('full_name')}".lower())
            with self._lock:
                self._homes = homes
        return homes

    def _path(self, url: str) -> str:
        return urlsplit(url).path.removeprefix(urlsplit(self.location.api).path)

    def _named(self, url: str) -> str:
        match = _REPOSITORY.match(self._path(url))
        return match[1].lower() if match is not None else ""

    def _next(self, reply: HttpReply) -> str:
        match = _NEXT.search(reply.headers.get("link", ""))
        return urljoin(f"{self.location.api}/", match["url"]) if match is not None else ""

    def _parsed(self, reply: HttpReply, what: str) -> Json:
        try:
            return reply.json()
        except ValueError:
            raise ForgeError(
                f"{self.location.host} answered {what} with something that is no JSON.", _URL_HINT
            ) from None

    def _space(self, verb: str) -> None:
        """Keep writes apart, as GitHub asks for; on a company's own server no limit is on unless it is set there."""
        if verb == "GET" or not is_hosted(self.location.host):
            return
        with self._lock:
            now = self._clock.monotonic()
            # Taken below the lock, waited for outside: threads line up a second apart, and reads go on meanwhile.
            at = self._last_write = max(now, self._last_write + WRITE_PAUSE_S)
        self._pause(at - now)

    def _pause(self, seconds: float) -> None:
        ends = self._clock.monotonic() + seconds
        while (left := ends - self._clock.monotonic()) > 0 and not (self._cancel and self._cancel.cancelled):
            self._clock.sleep(min(left, _STEP_S))


def _is_plain(url: str) -> bool:
    """True if a URL means what it says: libraries drop other characters, and resolve dots, also those quoted as %2E."""
    return url.isascii() and url.isprintable() and not any(unquote(part) in _DOTS for part in url.split("/"))


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower().removesuffix(":443" if parts.scheme == "https" else ":80")


def check_identity(folder: Path, location: Location, own_id: object) -> None:
    """Remember the id of the repository in noface's state; raise ForgeError if it was another before.

    On GitHub anyone can take a name that became free, and its issues have the numbers of those before.
    """
    name = f"{location.api} {location.repository.lower()}"
    try:
        known = JsonRecord.of(json_value(read_regular(folder / IDENTITY_FILE, 1 << 20) or b"")).values
    except OSError:
        known = {}
    before = known.get(name)
    if not isinstance(own_id, int) or before == own_id:
        return
    if before is not None:
        raise ForgeError(
            f"{location.repository} is another repository than the one that noface has worked with here: its id is"
            f" {own_id}, and it was {before}.",
            "If yours was renamed, set the git remote's address, or [github] repository, to the new name. If it"
            f" was made anew, begin anew here too: move {folder} away.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / IDENTITY_FILE, json.dumps({**known, name: own_id}), durable=False)
