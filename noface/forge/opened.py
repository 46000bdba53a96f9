"""Opens GitHub for a run: from the configuration and a remote's URL to a client and a forge.

The library that talks HTTP is an extra, imported here and nowhere else, and only by what talks to GitHub.
"""

import random
from collections.abc import Collection, Mapping
from pathlib import Path

from noface.errors import UsageError
from noface.forge.github import Forge, People
from noface.forge.location import Location
from noface.forge.rest import Client
from noface.forge.token import find_token
from noface.process.clock import Clock
from noface.process.command import Canceller


def opened(
    location: Location,
    authors: Collection[str] = (),
    clock: Clock | None = None,
    cancel: Canceller | None = None,
    environment: Mapping[str, str] | None = None,
    state: Path | None = None,
) -> Forge:
    """Open GitHub for the repository at `location`; nothing is sent yet. All of a run shares the client of this.

    `authors` are those of [tracker]. Raises UsageError if the extra is not installed, and if there is no token.
    """
    check_installed()
    from noface.forge.transport import Transport

    clock = clock if clock is not None else Clock()
    dice = random.SystemRandom().random
    token = find_token(location, environment)
    transport = Transport(location.api, token.value)
    client = Client(location, token, clock, cancel=cancel, dice=dice, transport=transport, state=state)
    return Forge(client, People(client, authors, clock))


def check_installed() -> None:
    """Raise UsageError, which says how to install it, if the library is missing."""
    try:
        import noface.forge.transport  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.split(".")[0] == "noface":
            raise
        from noface.process.installation import bringing

        raise UsageError(
            f"GitHub needs a library that is not installed ({error.name}).", f"Install it: `{bringing('github')}`."
        ) from error
