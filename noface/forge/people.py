"""Who may decide at GitHub: people with write access to the repository, and those that [tracker] authors names."""

from collections.abc import Collection

from noface.forge.parse import text
from noface.forge.rest import Client, RefusedError
from noface.model.publication import ANYONE
from noface.process.clock import Clock

_WRITERS = ("admin", "maintain", "write")
_KNOWN_S = 1800.0


class People:
    """Tells whose words count. What GitHub says of a login is asked once in half an hour; threads may share it."""

    def __init__(self, client: Client, authors: Collection[str], clock: Clock) -> None:
        self._client = client
        self._authors = frozenset(author.lower().removeprefix("@") for author in authors)
        self._clock = clock
        self._known: dict[str, tuple[float, bool]] = {}

    def may_decide(self, login: str, *, bot: bool) -> bool:
        """True if a login's words count; a program's only if [tracker] authors names it. Raises ForgeAwayError."""
        name = login.lower()
        if self._authors & {name, ANYONE}:
            return True
        if bot or not name:
            return False
        at, writes = self._known.get(name, (float("-inf"), False))
        now = self._clock.monotonic()
        if not at <= now < at + _KNOWN_S:
            writes = may_write(self._client, login)
            self._known[name] = (now, writes)
        return writes


def may_write(client: Client, login: str) -> bool:
    """True if a login has write access to the repository. Raises RefusedError if the token may not know that."""
    try:
        answer = client.get(client.repo("collaborators", login, "permission"), keep=True).body
    except RefusedError as error:
        if error.status == 404:  # noqa: PLR2004 - nobody whom the repository knows
            return False
        raise
    # `permission` is "read" for a custom role that lets write; `role_name` is missing on older servers.
    return text(answer, "permission") in _WRITERS or text(answer, "role_name") in _WRITERS
