"""What the sandbox knows of every machine, as sandbox_places.toml says it."""

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

_CREDENTIALS = re.compile(
    rb"_auth\b|auth_?token|passw(?:or)?d|secret|api_?key|extraheader|[a-z+]{1,20}://[^\s/:@]{0,200}:[^\s/@]{1,500}@",
    re.IGNORECASE,
)
_SETTINGS_BYTES_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class Places:
    """The lists of sandbox_places.toml; paths of homes have no leading slash."""

    private_folders: tuple[str, ...]
    needed: tuple[str, ...]
    kernel_read: tuple[str, ...]
    kernel_hidden: tuple[str, ...]
    caches: tuple[str, ...]
    copied: tuple[str, ...]
    cached_read: tuple[str, ...]
    secret: tuple[str, ...]
    settings: tuple[str, ...]


@lru_cache(maxsize=1)
def known_places() -> Places:
    """Return what sandbox_places.toml says."""
    data = tomllib.loads(files("noface.system").joinpath("sandbox_places.toml").read_text("utf-8"))
    return Places(
        private_folders=tuple(data["private"]["folders"]),
        needed=tuple(data["private"]["needed"]),
        kernel_read=tuple(data["kernel"]["read"]),
        kernel_hidden=tuple(data["kernel"]["hidden"]),
        caches=tuple(data["caches"]["private"]),
        copied=tuple(data["caches"]["copied"]),
        cached_read=tuple(data["caches"]["read"]),
        secret=tuple(data["secret"]["paths"]),
        settings=tuple(data["secret"]["settings"]),
    )


def holds_credentials(path: str) -> bool:
    """Tell whether a file of settings, such as ~/.npmrc, holds what looks like a password or token."""
    try:
        with open(path, "rb") as file:
            return _CREDENTIALS.search(file.read(_SETTINGS_BYTES_MAX)) is not None
    except OSError:
        return False
