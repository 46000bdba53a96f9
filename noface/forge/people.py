"""Who may decide at GitHub: people with write access to the repository, and those that [tracker] authors names."""

import threading
from collections.abc import Collection

from noface.forge.parse import text
from noface.forge.rest import Client, RefusedError
from noface.process.clock import Clock

ANYONE = "*"
_WRITERS = ("admin", "maintain", "write")
_KNOWN_S = 1800.0


class People:
    """Tells whose words count. What GitHub says of a login is asked once in half an hour; threads may share it."""

    def __init__(self, client: Client, authors: Collection[str], clock: Clock) -> None:
        self._client = client
        self._authors = frozenset(author.lower().removeprefix("@") for author in authors)
        self._clock = clock
        self._known: dict[str, tuple[float, bool]] = {}
        self._lock = threading.Lock()

    def may_decide(self, login: str, *, bot: bool) -> bool:
        """Tell whether a login's words count. A program's do only where [tracker] authors names it.

        Raises ForgeAwayError where GitHub cannot answer now.
        """
        name = login.lower()
        if self._authors & {name, ANYONE}:
            return True
        if bot or not name:
            return False
        with self._lock:
            at, writes = self._known.get(name, (float("-inf"), False))
        now = self._clock.monotonic()
        if not at <= now < at + _KNOWN_S:
            writes = self._writes(login)
            with self._lock:
                self._known[name] = (now, writes)
        return writes

    def _writes(self, login: str) -> bool:
        try:
            found = self._client.get(self._client.repo("collaborators", login, "permission"), keep=True).body
        except RefusedError as error:
            if error.status == 404:  # noqa: PLR2004 - nobody whom the repository knows
                return False
            raise
        return text(found, "permission") in _WRITERS or text(found, "role_name") in _WRITERS
