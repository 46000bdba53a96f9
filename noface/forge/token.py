"""The token that noface speaks to GitHub with: from the environment, else from the `gh` program.

github.com's tokens do not go to a company's own server, as with `gh`: that has variables of its own.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from noface.errors import UsageError
from noface.forge.location import Location, is_enterprise_server

OWN = "NOFACE_GITHUB_TOKEN"
_PUBLIC = (OWN, "GH_TOKEN", "GITHUB_TOKEN")
_SERVER = (OWN, "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
_GH_TIMEOUT_S = 10.0
_SENDABLE = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True, repr=False)
class Token:
    """A token, where it was found, for messages, and the variable whose name stands for it where it is masked."""

    value: str
    source: str
    variable: str = OWN

    def __repr__(self) -> str:
        return f"Token(from {self.source})"


def find_token(location: Location, environment: Mapping[str, str] | None = None) -> Token:
    """Return the token for a repository's host. Raises UsageError, which tells how to make one, if there is none."""
    environment = os.environ if environment is None else environment
    names = variables(location, environment)
    for name in names:
        value = environment.get(name, "").strip()
        if value:
            return Token(_checked(value, f"The variable {name}"), name, name)
    value, why = _from_gh(location.host, environment)
    if value:
        return Token(_checked(value, "What `gh auth token` prints"), "gh auth token")
    raise UsageError(
        f"There is no token for {location.host}: {', '.join(names)} are not set, and {why}.",
        f"Run `gh auth login --hostname {location.host}`, or make a fine-grained token for {location.repository} at"
        f" https://{location.host}/settings/personal-access-tokens/new with the permissions contents, issues and pull"
        f" requests: read and write; actions and commit statuses: read; and set it as {variables(location, {})[1]}.",
    )


def variables(location: Location, environment: Mapping[str, str]) -> tuple[str, ...]:
    if not is_enterprise_server(location.host):
        return _PUBLIC
    here = environment.get("GITHUB_SERVER_URL", "").rstrip("/") == f"https://{location.host}"
    return (*_SERVER, "GITHUB_TOKEN") if here else _SERVER  # a workflow's own token is that of the server it runs on


def _checked(value: str, what: str) -> str:
    if not _SENDABLE.fullmatch(value):
        raise UsageError(f"{what} is no token: it holds blanks or characters that no token has.", "Set it anew.")
    return value


def _from_gh(host: str, environment: Mapping[str, str]) -> tuple[str, str]:
    program = shutil.which("gh", path=environment.get("PATH"))
    if program is None:
        return "", "the program gh is not installed"
    try:
        done = subprocess.run(
            [program, "auth", "token", "--hostname", host],
            env={**environment, "GH_PROMPT_DISABLED": "1", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_GH_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"`gh auth token` did not answer within {_GH_TIMEOUT_S:.0f} seconds"
    except OSError as error:
        return "", f"gh cannot be started: {error.strerror}"
    if done.returncode != 0:
        return "", f"`gh auth token --hostname {host}` has none"
    return done.stdout.strip(), "`gh auth token` printed none"
