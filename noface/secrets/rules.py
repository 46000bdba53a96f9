"""What a secret is (I12) where the environment holds it: told by a variable's name and by its value (secrets.toml).

MAX_TOKENS is a number, a variable that names a file of keys holds a path; everybody's values are no secrets either.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from noface.data import table

VALUE_CHARS_MIN = 8
"""Shorter values stand in texts by chance, so they cannot be taken out of them."""

_NUMBER = re.compile(r"[\d.,_]+[kKmMgG]?")
_WORDS = re.compile(r"[A-Za-z]{1,30}(?:[ _-][A-Za-z]{1,30}){0,3}")
_LOGIN = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@]{0,200}:(?P<password>[^\s/@]{1,500})@")


@cache
def _named(what: str) -> re.Pattern[str]:
    known = table("secrets")
    patterns = {
        "secret": known["names"],
        "place": f"(?:{'|'.join(known['places'])})$",
        "setting": "|".join((*known["settings"], *known["setting_patterns"])),
    }
    return re.compile(patterns[what], re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """True if a variable of this name holds a secret, as far as names tell."""
    return _named("secret").search(name) is not None and _named("place").search(name) is None


def secrets_of(
    environment: Mapping[str, str], given: Iterable[tuple[str, str]], is_path: Callable[[str], bool]
) -> dict[str, str]:
    """Return the secrets among noface's `environment` and the variables `given` to models: values with their variables.

    Of the environment only what is named like a secret is one. What a person writes into `[models.X] env` is one
    unless name or value say that it is a setting. Passwords in URLs count wherever they stand. `is_path` tells values
    that are paths of existing files.
    """
    secrets: dict[str, str] = {}
    for name, value in environment.items():
        amount = "TOKENS" in name.upper() and _NUMBER.fullmatch(value) is not None
        _add(secrets, name, value, is_path, whole=is_secret_name(name) and not amount)
    for name, value in given:
        setting = _named("setting").search(name) or _NUMBER.fullmatch(value) or _WORDS.fullmatch(value)
        _add(secrets, name, value, is_path, whole=is_secret_name(name) or not setting)
    return secrets


def _add(secrets: dict[str, str], name: str, value: str, is_path: Callable[[str], bool], *, whole: bool) -> None:
    if whole and not is_path(value):
        _keep(secrets, name, value.strip())
    for login in _LOGIN.finditer(value):
        _keep(secrets, name, login["password"])


def _keep(secrets: dict[str, str], name: str, value: str) -> None:
    # One character many times over is a placeholder, such as "xxxxxxxx".
    if len(value) >= VALUE_CHARS_MIN and value.lower() not in table("secrets")["everybodys"] and len(set(value)) > 1:
        secrets.setdefault(value, name)
