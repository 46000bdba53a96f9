"""What of a run talks to other machines: the git remote, and GitHub if asked for. The token is masked at once."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from noface.config.sections import Config
from noface.errors import LockedError, UsageError
from noface.forge.location import Location, located
from noface.forge.token import Token, find_token
from noface.git.remote import Remote, find_remote
from noface.git.repository import Repository
from noface.process.clock import Clock
from noface.process.command import Canceller
from noface.process.lock import RepositoryLock
from noface.trackers.base import IssueTracker, RemoteTracker

if TYPE_CHECKING:
    from noface.forge.github import Forge


@dataclass(frozen=True, slots=True)
class Connections:
    """The remote, None where there is none; GitHub, None where it is not asked for; `secrets` are to be masked."""

    remote: Remote | None = None
    github: "Forge | None" = None
    secrets: tuple[tuple[str, str], ...] = field(default=(), repr=False)


def talks_to_github(config: Config) -> bool:
    """True if the configuration asks for GitHub: without that no request is made, and no token looked for."""
    return config.tracker.kind == "github" or config.landing.by_pull_request


def connect(
    config: Config,
    repository: Repository,
    clock: Clock | None = None,
    cancel: Canceller | None = None,
    environment: Mapping[str, str] | None = None,
) -> Connections:
    """Find the remote, and open GitHub if the configuration asks for it. Raises UsageError if it cannot be used."""
    landing, asked = config.landing, talks_to_github(config)
    token_of = TokenOfHost(environment)
    remote = find_remote(repository, landing.remote, token_of)
    url = remote.url if remote is not None else ""
    if not asked:
        with suppress(UsageError):
            token_of.location = located(url)
        return Connections(remote)
    from noface.forge.opened import opened

    token_of.location = location = located(url, config.github.repository, config.github.url)
    github = opened(location, config.tracker.authors, clock, cancel, environment, state=repository.state_dir)
    token = token_of.token = github.client.token
    return Connections(remote, github, ((token.variable, token.value),))


def fetch_issues(tracker: IssueTracker, config: Config, repository: Repository) -> None:
    """Bring the copy of issues on another machine up to date, unless a run does. Raises UsageError or ForgeError."""
    if isinstance(tracker, RemoteTracker):
        github = connect(config, repository).github
        if github is not None:
            tracker.use(github)
        with suppress(LockedError), RepositoryLock(repository.state_dir / "lock"):
            tracker.refresh()


class TokenOfHost:
    """Gives git the token for GitHub's host, and no other, once the person's own credentials were refused there."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.location: Location | None = None
        self.token: Token | None = None
        self._environment = environment

    def __call__(self, host: str) -> str | None:
        if self.location is None or urlsplit(f"//{self.location.host}").hostname != host.lower():
            return None
        try:
            self.token = self.token or find_token(self.location, self._environment)
        except UsageError:
            return None  # what git itself said is the better message
        return self.token.value
