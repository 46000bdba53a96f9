"""A person's settings, written anew for a box: of each file the keys that are known to be harmless.

Tokens stand under names that nobody can list, so the harmless keys are listed (sandbox_places.toml). An address stays
without its login: a private index that is left out would be taken for the public one.
"""

import os
import re
import tomllib
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from noface.data import pattern, table
from noface.process.files import read_regular
from noface.secrets.shapes import keys_in

SETTINGS_BYTES_MAX = 1 << 20
_HEADER = re.compile(r"\s*\[+(?P<name>[^\]]*)\]+\s*(?:[#;].*)?")
_KEY = re.compile(r"\s*(?P<key>[\w@/.'\"-](?:[\w@/.:'\"-]{0,200}[\w@/.'\"-])?)(?:\s*=|:(?=\s|$)|\s+(?=\"))")
_LOGIN = re.compile(r"(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]{0,20}://)[^\s/\"'@]{1,500}(?:@[^\s/\"'@]{1,500})*@")
_ADDRESS = re.compile(r"[a-zA-Z]://[^\s\"']{1,2000}")
_PART = re.compile(r"[A-Za-z0-9_~-]{16,}")
_known = partial(pattern, "sandbox_places", "credentials", flags=re.IGNORECASE)


class _Form(NamedTuple):
    """Which keys of a file of settings are kept; those of its first level, unless it has sections."""

    keys: tuple[str, ...]
    sections: bool

    def keeps(self, section: str, key: str) -> bool:
        name = f"{section}.{key}".lower() if self.sections else key.lower()
        return any(fnmatchcase(name, pattern) for pattern in self.keys)


@cache
def _forms() -> dict[str, _Form]:
    entries = table("sandbox_places")["rebuilt"].values()
    return {path: _Form(tuple(one["keys"]), one.get("sections", False)) for one in entries for path in one["paths"]}


def rebuilt_paths() -> tuple[str, ...]:
    return tuple(_forms())


def rebuilt(source: str, path: str) -> bytes:
    """Return what a box has of the file `source`, which in its home lies at `path`; nothing if it cannot be read."""
    form, kept = _forms()[path], []
    section, head, taken = "", "", False
    for line in (_read(source) or b"").decode("utf-8", "replace").splitlines():
        if form.sections and (header := _HEADER.fullmatch(line)):
            section, head, taken = ".".join(re.sub(r"[\"']", "", header["name"]).split()), line, False
        elif line.strip() and line.lstrip()[0] not in "#;":
            key = None if not form.sections and line[0].isspace() else _KEY.match(line)
            taken = form.keeps(section, key["key"].strip("\"'")) if key else taken
            harmless = _harmless(line) if taken else ""
            taken = taken and (bool(harmless) or not key)
            kept += [each for each in (head, harmless) if each] if harmless else []
            head = "" if harmless else head
    text = "".join(f"{line}\n" for line in kept)
    try:
        tomllib.loads(text if path.endswith((".toml", "cargo/config")) else "")
    except tomllib.TOMLDecodeError:  # a line within a value was left out
        return b""
    return text.encode()


def holds_credentials(path: str, *, script: bool = False) -> bool:
    """True if a file holds what looks like a password or token (a `script`: sets one), or cannot be read."""
    data = _read(path)
    if data is None:
        return True
    text = data.decode("utf-8", "replace")
    return bool(_known("assigned").search(text) or keys_in(text) or (not script and _known("keys").search(text)))


def _read(path: str) -> bytes | None:
    """Return what a file holds; settings are often links to a repository of the person's."""
    return read_regular(Path(os.path.realpath(path)), SETTINGS_BYTES_MAX)


def _harmless(line: str) -> str:
    line = _LOGIN.sub(lambda match: match["scheme"], line)
    if _known("keys").search(line) or keys_in(line):
        return ""
    parts = (part[0] for address in _ADDRESS.finditer(line) for part in _PART.finditer(address[0]))
    return "" if any(re.search(r"\d", part) and re.search(r"[A-Za-z]", part) for part in parts) else line
