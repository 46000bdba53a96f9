"""Which environment variables hold secrets, told by their names and by what their values are (I12).

A name alone is not enough: MAX_TOKENS is a number, and a variable that names a file of keys holds a path. Values that
are everybody's (`postgres`, `password`) are no secrets either: taking such words out would make logs unreadable.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

VALUE_CHARS_MIN = 8
"""Shorter values stand in texts by chance, so they cannot be taken out of them."""

_NAME = re.compile(
    r"KEY(?![A-RT-Z])|TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|CREDENTIAL|_(?:AUTH|PAT|PWD)$", re.IGNORECASE
)
_NAMES_A_PLACE = re.compile(
    r"(?:FILE|PATH|DIR|HOME|SOCK|URL|URI|ENDPOINT|HOST|NAME|USER|TYPE|ALGORITHM|LENGTH|SIZE|LIMIT|COUNT|TTL|LAYOUT)$",
    re.IGNORECASE,
)
_NAMES_A_SETTING = re.compile(
    r"MODEL|URL|URI|ENDPOINT|HOST|REGION|PROJECT|FLAGS|OPTIONS|LANG|VERSION|LEVEL|MODE|TIMEOUT|EFFORT|TIER|PROVIDER"
    r"|PATH|DIR|HOME|FILE|NAME|EDITOR|SHELL|TERM$|^TZ$|^USER$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[\d.,_]+[kKmMgG]?")
_WORDS = re.compile(r"[A-Za-z]{1,30}(?:[ _-][A-Za-z]{1,30}){0,3}")
_LOGIN = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@]{0,200}:(?P<password>[^\s/@]{1,500})@")
_EVERYBODYS = frozenset({
    "changeme", "default1", "development", "disabled", "enabled1", "letmein1", "localhost", "mariadb1", "mysecret",
    "password", "password1", "passw0rd", "postgres", "postgresql", "production", "required", "root1234", "rootpass",
    "rootroot", "secret12", "secretkey", "testtest", "test1234", "testpassword", "12345678", "123456789",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that must not stay in what noface writes, and the variable it comes from."""

    name: str
    value: str


def is_secret_name(name: str) -> bool:
    """Tell whether a variable of this name holds a secret, as far as names tell."""
    return _NAME.search(name) is not None and _NAMES_A_PLACE.search(name) is None


def secrets_of(
    environment: Mapping[str, str], given: Iterable[tuple[str, str]], is_path: Callable[[str], bool]
) -> tuple[Secret, ...]:
    """Return the secrets among noface's `environment` and the variables `given` to models, each value once.

    Of the environment only what is named like a secret is one. What a person writes into `[models.X] env` is one
    unless name or value say that it is a setting. Passwords in URLs count wherever they stand. `is_path` tells values
    that are paths of existing files.
    """
    found: dict[str, Secret] = {}
    for name, value in environment.items():
        named = is_secret_name(name) and not _is_plain_number(name, value)
        _add(found, name, value, is_path, whole=named)
    for name, value in given:
        setting = _NAMES_A_SETTING.search(name) or _NUMBER.fullmatch(value) or _WORDS.fullmatch(value)
        _add(found, name, value, is_path, whole=is_secret_name(name) or not setting)
    return tuple(found.values())


def _add(found: dict[str, Secret], name: str, value: str, is_path: Callable[[str], bool], *, whole: bool) -> None:
    if whole and not is_path(value):
        _keep(found, name, value.strip())
    for login in _LOGIN.finditer(value):
        _keep(found, name, login["password"])


def _keep(found: dict[str, Secret], name: str, value: str) -> None:
    if len(value) >= VALUE_CHARS_MIN and value.lower() not in _EVERYBODYS and len(set(value)) > 1:
        found.setdefault(value, Secret(name, value))


def _is_plain_number(name: str, value: str) -> bool:
    return "TOKENS" in name.upper() and _NUMBER.fullmatch(value) is not None
