"""What a secret is (I12): told by a variable's name, by its value, and by the shape that a provider gave its keys.

A name alone is not enough: MAX_TOKENS is a number, and a variable that names a file of keys holds a path. Values that
are everybody's (`postgres`, `password`) are no secrets either. Shapes are looked for in text that goes to prompts and
reports, whatever variable or file it comes from. The table is secrets.toml; every pattern of it is linear.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from noface.data import table

VALUE_CHARS_MIN = 8
"""Shorter values stand in texts by chance, so they cannot be taken out of them."""

_NUMBER = re.compile(r"[\d.,_]+[kKmMgG]?")
_WORDS = re.compile(r"[A-Za-z]{1,30}(?:[ _-][A-Za-z]{1,30}){0,3}")
_LOGIN = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@]{0,200}:(?P<password>[^\s/@]{1,500})@")


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that must not stay in what noface writes, and the variable it comes from."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class _Names:
    """What names and values say, from secrets.toml."""

    secret: re.Pattern[str]
    place: re.Pattern[str]
    setting: re.Pattern[str]
    everybodys: frozenset[str]


@cache
def _names() -> _Names:
    known = table("secrets")
    return _Names(
        re.compile(known["names"], re.IGNORECASE),
        re.compile(f"(?:{'|'.join(known['places'])})$", re.IGNORECASE),
        re.compile("|".join((*known["settings"], *known["setting_patterns"])), re.IGNORECASE),
        frozenset(known["everybodys"]),
    )


def is_secret_name(name: str) -> bool:
    """Tell whether a variable of this name holds a secret, as far as names tell."""
    return _names().secret.search(name) is not None and _names().place.search(name) is None


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
        setting = _names().setting.search(name) or _NUMBER.fullmatch(value) or _WORDS.fullmatch(value)
        _add(found, name, value, is_path, whole=is_secret_name(name) or not setting)
    return tuple(found.values())


def _add(found: dict[str, Secret], name: str, value: str, is_path: Callable[[str], bool], *, whole: bool) -> None:
    if whole and not is_path(value):
        _keep(found, name, value.strip())
    for login in _LOGIN.finditer(value):
        _keep(found, name, login["password"])


def _keep(found: dict[str, Secret], name: str, value: str) -> None:
    if len(value) >= VALUE_CHARS_MIN and value.lower() not in _names().everybodys and len(set(value)) > 1:
        found.setdefault(value, Secret(name, value))


def _is_plain_number(name: str, value: str) -> bool:
    return "TOKENS" in name.upper() and _NUMBER.fullmatch(value) is not None


_PRIVATE_KEY = "***private key***"
_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"(?:[\s+>|\"',-]|\\[nr])*(?:[A-Za-z0-9+/=]{16,200}(?:[\s+>|\"',-]|\\[nr])*)+")
_KEY_CHARS_MAX = 20_000


@cache
def _shapes() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    """Return for each shape its mark, what every such key holds, and its pattern (secrets.toml)."""
    shapes = table("secrets")["shapes"]
    return tuple((f"***{shape['name']}***", shape["hint"], re.compile(shape["pattern"])) for shape in shapes)


def without_keys(text: str) -> str:
    """Return text without what has the shape of a key, each replaced by what it was."""
    for mark, hint, pattern in _shapes():
        if hint in text:
            text = pattern.sub(mark, text)
    return _without_private_keys(text) if "PRIVATE KEY" in text else text


def _without_private_keys(text: str) -> str:
    """Replace each private key from its first to its last line; of one that is cut off, what is there of it."""
    pieces = []
    done = 0
    ends = [match.end() for match in _END.finditer(text)]
    ends.reverse()
    for begin in _BEGIN.finditer(text):
        if begin.start() < done:
            continue
        while ends and ends[-1] <= begin.end():
            ends.pop()
        whole = bool(ends) and ends[-1] - begin.start() <= _KEY_CHARS_MAX
        pieces += [text[done : begin.start()], _PRIVATE_KEY]
        done = ends[-1] if whole else _after_body(text, begin.end())
    pieces.append(text[done:])
    return "".join(pieces)


def _after_body(text: str, position: int) -> int:
    body = _BODY.match(text, position, position + _KEY_CHARS_MAX)
    return body.end() if body is not None else position
