"""Opens GitHub for a run: from the configuration and a remote's URL to a client and a forge.

The library that talks HTTP is an extra, imported here and nowhere else, and only by what talks to GitHub.
"""

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from noface.errors import UsageError
from noface.forge.github import GithubForge
from noface.forge.location import Location
from noface.forge.people import People
from noface.forge.rest import Client
from noface.forge.token import Token, find_token
from noface.process.clock import Clock
from noface.process.command import Canceller


@dataclass(frozen=True, slots=True)
class OpenedForge:
    """The parts that talk to GitHub in a run; they share one client, and so one budget and one rest after a limit."""

    location: Location
    token: Token
    client: Client
    people: People
    forge: GithubForge


def opened(
    location: Location,
    authors: Collection[str] = (),
    clock: Clock | None = None,
    cancel: Canceller | None = None,
    environment: Mapping[str, str] | None = None,
    token: Token | None = None,
    state: Path | None = None,
) -> OpenedForge:
    """Open GitHub for the repository at `location` (`forge.location.located`); nothing is sent yet.

    `authors` are those of [tracker]. A `token` that was found before, to be masked, is not looked for again. In
    `state`, the folder of noface's state, stands which repository that belongs to. Raises UsageError if the extra is
    not installed, and if there is no token.
    """
    check_installed()
    clock = clock if clock is not None else Clock()
    token = token if token is not None else find_token(location, environment)
    dice = random.SystemRandom().random
    client = Client(location, token, clock, cancel=cancel, dice=dice, state=state)
    people = People(client, authors, clock)
    return OpenedForge(location, token, client, people, GithubForge(client, people))


def check_installed() -> None:
    """Raise UsageError, which says how to install it, if the library is missing."""
    try:
        import noface.forge.transport  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.split(".")[0] == "noface":
            raise
        from noface.process.installation import installation

        raise UsageError(
            f"GitHub needs a library that is not installed ({error.name}).",
            f"Install it: `{installation().bringing('github')}`.",
        ) from error
