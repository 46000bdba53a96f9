"""Where a repository is on GitHub: from the URL of a git remote to host, owner, name, and REST API. Pure.

Other hosts are taken for a GitHub Enterprise Server, but for those that are known to be something else.
"""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from noface.errors import UsageError

GITHUB = "github.com"
_ALIASES = {"ssh.github.com": GITHUB, "www.github.com": GITHUB, "api.github.com": GITHUB}
_RESIDENCY = ".ghe.com"
"""GitHub Enterprise Cloud with data residency: a subdomain for each enterprise."""
_OTHERS = re.compile(
    r"(?:.+\.)?(?:gitlab\.com|bitbucket\.org|codeberg\.org|sr\.ht|gitee\.com|azure\.com|visualstudio\.com|amazonaws\.com)"
    r"|(?:gitlab|gitea|forgejo|gogs|bitbucket|gerrit)\..+"
)
_SCP_LIKE = re.compile(r"(?:[^@/:\s]+@)?(?P<host>\[[0-9a-fA-F:.]+\]|[^@/:\[\]\s]{2,}):(?P<path>[^:\s]*)")
_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_NAME = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,100}")
_SCHEMES = ("https", "http", "ssh", "git", "git+ssh", "ssh+git")
_SET_IT = 'Set [github] repository = "owner/name" in noface.toml; for GitHub Enterprise Server url as well.'


@dataclass(frozen=True, slots=True)
class Location:
    """A repository on GitHub. `host` is what the web and `gh` call it; `api` is the REST API's URL, no slash last."""

    host: str
    owner: str
    name: str
    api: str

    @property
    def repository(self) -> str:
        return f"{self.owner}/{self.name}"


def located(remote_url: str, repository: str = "", url: str = "") -> Location:
    """Return where the repository of a git remote is; `repository` and `url`, the keys of [github], win over it.

    Raises UsageError if the place cannot be told or is not GitHub.
    """
    host, path, api = _remote(remote_url)
    shown = f"The git remote {_without_login(remote_url)}"
    if url:
        host, api = _api_given(url)
    elif repository and "." not in host and not is_loopback(host):
        host, api = GITHUB, api_of(GITHUB)  # without a remote, or with a name of ~/.ssh/config for its host
    elif not host:
        why = f"{shown} is not on GitHub" if remote_url else "There is no git remote"
        raise UsageError(f"{why}: it is not known which repository is meant.", _SET_IT)
    elif _OTHERS.fullmatch(host):
        raise UsageError(f"{shown} is not on GitHub, but on {host}.", _SET_IT)
    elif "." not in host and not api:
        raise UsageError(f"{shown} does not tell its host: {host!r} is a name of ~/.ssh/config.", _SET_IT)
    parts = (repository or path).strip().strip("/").removesuffix(".git").split("/")
    if len(parts) == 2 and _OWNER.fullmatch(parts[0]) and _NAME.fullmatch(parts[1]):  # noqa: PLR2004 - owner and name
        return Location(host, parts[0], parts[1], api or api_of(host))
    named = f'[github] repository = "{repository}"' if repository else f"The path {path!r} of the git remote"
    raise UsageError(f"{named} is not owner/name.", _SET_IT)


def api_of(host: str) -> str:
    if host == GITHUB:
        return "https://api.github.com"
    if host.endswith(_RESIDENCY):
        return f"https://api.{host}"
    return f"https://{host}/api/v3"


def is_hosted(host: str) -> bool:
    return host == GITHUB or host.endswith(_RESIDENCY)


def is_enterprise_server(host: str) -> bool:
    """True if a host is somebody's own GitHub, where the tokens of github.com mean nothing."""
    return not is_hosted(host) and not is_loopback(host)


def is_loopback(host: str) -> bool:
    name = urlsplit(f"//{host}").hostname or ""
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _remote(url: str) -> tuple[str, str, str]:
    url = url.strip()
    if "://" not in url:
        match = _SCP_LIKE.fullmatch(url)
        return (_host(match["host"]), match["path"], "") if match is not None else ("", "", "")
    try:
        parts = urlsplit(url)
        host, port = _host(parts.hostname or ""), parts.port
    except ValueError:
        return "", "", ""
    if parts.scheme not in _SCHEMES or not host:
        return "", "", ""
    if parts.scheme == "https" and port not in (None, 443):
        return f"{host}:{port}", parts.path, f"https://{host}:{port}/api/v3"
    if parts.scheme == "http" and is_loopback(host):
        place = f"{host}:{port or 80}"
        return place, parts.path, f"http://{place}/api/v3"
    return host, parts.path, ""


def _host(name: str) -> str:
    name = name.lower().rstrip(".")
    return _ALIASES.get(name, name)


def _api_given(url: str) -> tuple[str, str]:
    wrong = f'[github] url = "{_without_login(url)}"'
    try:
        parts = urlsplit(url.strip())
        name, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        parts, name, port = urlsplit(""), "", None
    place = (f"[{name}]" if ":" in name else name) + (f":{port}" if port is not None else "")
    encrypted = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(place))
    if not encrypted or not name or parts.query or parts.fragment or "@" in parts.netloc:
        hint = "Such as https://github.example.com/api/v3: encrypted, and without a login."
        raise UsageError(f"{wrong} is no URL of a REST API.", hint)
    if _host(name) == GITHUB:  # the website, or the API
        return GITHUB, api_of(GITHUB)
    host = place.removeprefix("api.") if place.endswith(_RESIDENCY) else place
    return host, f"{parts.scheme}://{place}{parts.path.rstrip('/')}"


def _without_login(url: str) -> str:
    return re.sub(r"(?<=://)[^/@\s]*@", "", url)
