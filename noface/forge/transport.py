"""How a request reaches GitHub: PyGithub's Requester over connections that never wait and never follow.

Only this module imports PyGithub, and only a run that talks to GitHub imports this module. Requester by itself follows
a 301 without its query, so that a renamed repository would answer with another list than was asked for; it reads
answers of any size; and its timeout starts again with each byte. The connection here hands redirects on, and holds to a
size and to a time for the whole (forge/deadline.py).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import requests
from github.Auth import Token as TokenAuth
from github.Requester import HTTPSRequestsConnectionClass, Requester, RequestsResponse

from noface import __version__
from noface.errors import ForgeError
from noface.forge.deadline import WatchedAdapter, deadline
from noface.forge.limits import Reply
from noface.forge.location import is_loopback

API_VERSION = "2022-11-28"
"""GitHub answers in the form of this version as long as it supports it; its servers from 3.9 on know it."""
BYTES_MAX = 64_000_000
_CONNECT_S = 10.0
_READ_S = 30.0
_WHOLE_S = 120.0
_CHUNK_BYTES = 65_536
_MOVED = 301
_MOVED_FOR_GOOD = 308
"""What Requester is told instead of 301: it means the same, and Requester leaves it alone."""


class UnreachableError(Exception):
    """Nothing came back, or not all of it: the network, a name, a timeout. Says why in a few words."""


class Transport:
    """Sends one request and returns one answer. Threads may share it: each request has a connection to itself."""

    def __init__(self, api: str, token: str, read_s: float = _READ_S, whole_s: float = _WHOLE_S) -> None:
        self._auth = TokenAuth(token)
        self._api = api
        self._read_s = read_s
        self._whole_s = whole_s
        self._requester = Requester(
            auth=self._auth,
            base_url=api,
            timeout=int(_READ_S),
            user_agent=f"noface/{__version__}",
            per_page=100,
            verify=True,
            retry=None,
            pool_size=None,
        )
        self._free: list[_Connection] = []

    def send(self, verb: str, url: str, body: object = None, headers: dict[str, str] | None = None) -> Reply:
        """Send a request to the API. `url` is a path below it, or one of its own whole URLs. Redirects are answers.

        Raises UnreachableError, and ForgeError for a certificate that cannot be trusted.
        """
        given = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": API_VERSION, **(headers or {})}
        try:
            with self._connection() as connection, deadline(self._whole_s):
                status, found, text = self._requester.requestJson(verb, url, None, given, body, connection)
        except requests.RequestException as error:
            raise _unreachable(error, self._requester.hostname_and_port) from None
        except ValueError as error:  # Requester takes the limits' headers for numbers
            host = self._requester.hostname_and_port
            raise UnreachableError(f"{host} answers with headers that GitHub does not send") from error
        return Reply(status, found, text, url)

    def fetch(self, url: str) -> Reply:
        """Get a file from wherever the API has sent us, without the token. Its end is kept where it is too long.

        Raises UnreachableError, and ForgeError for a certificate that cannot be trusted.
        """
        host = urlsplit(url).netloc
        try:
            with self._connection() as connection, deadline(self._whole_s):
                found = connection.fetch(url)
        except requests.RequestException as error:
            raise _unreachable(error, host) from None
        return Reply(found.status, {name.lower(): value for name, value in found.getheaders()}, found.read(), host)

    def close(self) -> None:
        """Close the connections that no request uses."""
        while self._free:
            self._free.pop().close()

    @contextmanager
    def _connection(self) -> Iterator["_Connection"]:
        """Lend a connection that stays open for the next request, of whichever thread."""
        try:
            connection = self._free.pop()
        except IndexError:
            connection = _Connection(self._api, self._read_s)
        try:
            yield connection
        finally:
            self._free.append(connection)


class _Answer(RequestsResponse):
    """An answer that has been read to its end."""

    def __init__(self, response: requests.Response, text: str) -> None:
        super().__init__(response)
        self.status = _MOVED_FOR_GOOD if response.status_code == _MOVED else response.status_code
        self._text = text

    def read(self) -> str:
        return self._text


class _Connection(HTTPSRequestsConnectionClass):
    """A connection of PyGithub's that holds to a size and a whole time. It reads no .netrc, which may hold a login."""

    def __init__(self, api: str, read_s: float) -> None:
        parts = urlsplit(api)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        host = parts.hostname or ""
        super().__init__(f"[{host}]" if ":" in host else host, port)
        self.protocol = parts.scheme
        self.session.trust_env = not is_loopback(parts.netloc)  # a proxy has no way to this machine's own servers
        self._read_s = read_s
        for scheme in ("http://", "https://"):
            self.session.mount(scheme, WatchedAdapter())

    def getresponse(self) -> RequestsResponse:
        response = self.session.request(
            self.verb,
            f"{self.protocol}://{self.host}:{self.port}{self.url}",
            headers=self.headers,
            data=self.input,
            timeout=(_CONNECT_S, self._read_s),
            allow_redirects=False,
            stream=True,
        )
        return self.read(response)

    def fetch(self, url: str) -> _Answer:
        """Get a file of another host, without what was said to the API."""
        response = self.session.get(
            url,
            headers={"User-Agent": f"noface/{__version__}"},
            timeout=(_CONNECT_S, self._read_s),
            allow_redirects=False,
            stream=True,
        )
        return self.read(response, keep_end=True)

    def read(self, response: requests.Response, *, keep_end: bool = False) -> _Answer:
        """Read an answer to its end, or keep only the last part of one that is too long."""
        data = bytearray()
        with response:
            for chunk in response.iter_content(_CHUNK_BYTES):
                data += chunk
                if len(data) > BYTES_MAX and keep_end:
                    del data[:-BYTES_MAX]
                elif len(data) > BYTES_MAX:
                    raise ForgeError(f"{self.host} sent an answer of more than {BYTES_MAX // 1_000_000} MB.")
        return _Answer(response, data.decode("utf-8", "replace"))


def _unreachable(error: requests.RequestException, host: str) -> Exception:
    """Return what a failure of the network means; its own text may hold whole URLs."""
    if isinstance(error, requests.exceptions.SSLError):
        return ForgeError(
            f"The certificate of {host} cannot be trusted.",
            "Behind a company's proxy, name its certificates by the variable REQUESTS_CA_BUNDLE.",
        )
    if isinstance(error, requests.exceptions.InvalidURL | requests.exceptions.InvalidHeader):
        return ForgeError(f"{host} is no address that a request can be sent to.")
    if isinstance(error, requests.exceptions.ProxyError):
        return UnreachableError(f"The proxy on the way to {host} does not answer")
    if isinstance(error, requests.Timeout):
        return UnreachableError(f"{host} did not answer in time")
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return UnreachableError(f"The connection to {host} broke off within an answer")
    return UnreachableError(f"{host} cannot be reached")
