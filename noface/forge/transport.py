"""How a request reaches GitHub: requests, with its own habits off. It never follows, never waits, never sends again.

Only a run that talks to GitHub imports this module, the one that imports the library.
"""

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import requests

from noface import __version__
from noface.errors import ForgeError
from noface.forge.limits import HttpReply
from noface.forge.location import is_loopback
from noface.process.apart import run_apart

_T = TypeVar("_T")
API_VERSION = "2022-11-28"
"""GitHub answers in the form of this version as long as it supports it; its servers from 3.9 on know it."""
BYTES_MAX = 64_000_000
_CONNECT_S = 10.0
_READ_S = 30.0
_WHOLE_S = 120.0
_CHUNK_BYTES = 65_536
_AGENT = {"User-Agent": f"noface/{__version__}"}


class UnreachableError(Exception):
    """Nothing came back, or not all of it: the network, a name, a timeout. Says why in a few words."""


class Transport:
    """Sends one request and returns one answer. Threads may share it: each request has a connection to itself."""

    def __init__(self, api: str, token: str, read_s: float = _READ_S, whole_s: float = _WHOLE_S) -> None:
        self._api = api
        self._origin = urlsplit(api)[:2]
        self._read_s = read_s
        self._whole_s = whole_s
        self._headers = {
            **_AGENT,
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": API_VERSION,
            "Authorization": f"token {token}",
        }
        self._session = requests.Session()
        # Without an answer of our own requests takes a login of ~/.netrc for the host, in the place of the token.
        self._session.auth = lambda request: request
        self._session.trust_env = not is_loopback(self._origin[1])  # a proxy has no way to this machine's own servers

    def send(self, verb: str, url: str, body: Any = None, headers: dict[str, str] | None = None) -> HttpReply:
        """Send a request to a path of the API, or one of its own URLs. Raises UnreachableError, and ForgeError."""
        whole = urlsplit(self._api + url if url.startswith("/") else url)
        here = urlunsplit((*self._origin, *whole[2:]))  # whatever URL an answer told: the token goes to no other host
        return self._sent(verb, here, {**self._headers, **(headers or {})}, body)

    def fetch(self, url: str) -> HttpReply:
        """Get a file from wherever the API has sent us, without the token. Its end is kept if it is too long."""
        return self._sent("GET", url, _AGENT, keep_end=True)

    def close(self) -> None:
        self._session.close()

    def _sent(
        self, verb: str, url: str, headers: dict[str, str], body: Any = None, *, keep_end: bool = False
    ) -> HttpReply:
        host = urlsplit(url).netloc

        def ask() -> HttpReply:
            with self._session.request(
                verb,
                url,
                headers=headers,
                json=body,
                timeout=(_CONNECT_S, self._read_s),
                allow_redirects=False,  # requests makes a GET of a POST that has moved
                stream=True,
            ) as response:
                named = {name.lower(): value for name, value in response.headers.items()}
                return HttpReply(response.status_code, named, _text(response, host, keep_end=keep_end))

        try:
            return within(self._whole_s, ask)
        except requests.RequestException as error:
            raise _unreachable(error, host) from None


def within(seconds: float, make: Callable[[], _T]) -> _T:
    """Return what a request brings, which is made in a thread of its own; one that takes longer is left behind.

    The library's own time begins anew at each byte that a server sends. Raises what `make` does, and requests.Timeout.
    """
    outcome = run_apart(make, "request")
    try:
        return outcome.result(seconds)
    except TimeoutError:
        if outcome.done():
            raise
        raise requests.Timeout(f"the answer took more than {seconds:.0f} s") from None


def _text(response: requests.Response, host: str, *, keep_end: bool) -> str:
    data = bytearray()
    for chunk in response.iter_content(_CHUNK_BYTES):
        data += chunk
        if len(data) > BYTES_MAX and keep_end:
            del data[:-BYTES_MAX]
        elif len(data) > BYTES_MAX:
            raise ForgeError(f"{host} sent an answer of more than {BYTES_MAX // 1_000_000} MB.")
    return data.decode("utf-8", "replace")


def _unreachable(error: requests.RequestException, host: str) -> Exception:
    """Return what a failure of the network means; its own text may hold whole URLs."""
    if isinstance(error, requests.exceptions.SSLError):
        return ForgeError(
            f"The certificate of {host} cannot be trusted.",
            "Behind a company's proxy, name its certificates by the variable REQUESTS_CA_BUNDLE.",
        )
    if isinstance(error, requests.exceptions.ProxyError):
        return UnreachableError(f"The proxy on the way to {host} does not answer")
    what = "did not answer in time" if isinstance(error, requests.Timeout) else "cannot be reached"
    return UnreachableError(f"{host} {what}")
