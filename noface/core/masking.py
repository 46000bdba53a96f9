"""Takes secrets out of text and bytes: `***NAME***` stands for the value of the variable NAME (I12).

A value is found as it is and as JSON, or a URL, would write it; of a value of several lines each long line counts by
itself, since logs cut texts into lines. Values are searched for before shapes, so that a key whose variable is known
is called by its name.
"""

import json
import re
from collections.abc import Iterable

from noface.core.key_shapes import without_keys
from noface.core.secret_names import VALUE_CHARS_MIN, Secret

_LINE_CHARS_MIN = 24
_MARKED_CHARS_MAX = 60
_TELLING_CHARS_MIN = 12
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class Masker:
    """Knows the secrets of a run and takes them out. Without any, only keys of known shapes are taken out."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        kept = tuple(secrets)
        self.names = frozenset(secret.name for secret in kept)
        self._telling = frozenset(secret.name for secret in kept if _is_telling(secret.value))
        forms = _forms(kept)
        self._marks = {form: f"***{name}***" for form, name in forms.items()}
        self._pattern = _any_of(list(forms))
        encoded = {form.encode("utf-8", "surrogateescape"): name for form, name in forms.items()}
        self._byte_names = encoded
        self._byte_pattern = _any_of_bytes(list(encoded))
        self.longest_bytes = max(map(len, encoded), default=0)

    def __bool__(self) -> bool:
        """Tell whether any value is known."""
        return bool(self._marks)

    def text(self, text: str) -> str:
        """Return text without the known values, and without what has the shape of a key: for prompts and reports."""
        return without_keys(self.values(text))

    def values(self, text: str) -> str:
        """Return text without the known values."""
        if not any(form in text for form in self._marks):
            return text
        return self._pattern.sub(lambda match: self._marks[match[0]], text)

    def holds(self, data: bytes) -> bool:
        """Tell whether a known value stands in `data`."""
        return any(form in data for form in self._byte_names)

    def log(self, data: bytes) -> bytes:
        """Return bytes of a log without the known values."""
        if not self.holds(data):
            return data
        return self._byte_pattern.sub(lambda match: f"***{self._byte_names[match[0]]}***".encode(), data)

    def patch(self, patch: bytes, mark: str) -> bytes:
        """Return a patch without the known values. Of those that it adds `mark` says so, with the variable as {type}.

        Some are only taken out: a value that the patch also removes has been in the project before, and a short or
        plain one (`app_test`) may stand there for something else.
        """
        if not self.holds(patch):
            return patch
        lines = patch.split(b"\n")
        names = {sign: self._names_in(b"\n".join(line for line in lines if line[:1] == sign)) for sign in (b"+", b"-")}
        telling = (names[b"+"] - names[b"-"]) & self._telling
        new = {name: mark.format(type=name[:_MARKED_CHARS_MAX]) for name in telling}
        known = {name: f"***{name}***" for name in self.names}

        def masked(match: "re.Match[bytes]") -> bytes:
            name = self._byte_names[match[0]]
            return (new.get(name) or known[name]).encode()

        return self._byte_pattern.sub(masked, patch)

    def _names_in(self, data: bytes) -> frozenset[str]:
        return frozenset(name for form, name in self._byte_names.items() if form in data)

    def spans(self, data: bytes) -> list[tuple[int, int]]:
        """Return where known values stand in `data`: start and end."""
        return [match.span() for match in self._byte_pattern.finditer(data)] if self.holds(data) else []


def _forms(secrets: tuple[Secret, ...]) -> dict[str, str]:
    """Return the ways in which the values may be written, and the names they stand for; the longest come first."""
    found: dict[str, str] = {}
    for secret in secrets:
        lines = [line.strip() for line in secret.value.splitlines()]
        long = [line for line in lines if len(line) >= _LINE_CHARS_MIN and " " not in line] if len(lines) > 1 else []
        for value in (secret.value, *long):
            for form in _written(value):
                if len(form) >= VALUE_CHARS_MIN:
                    found.setdefault(form, secret.name)
    return dict(sorted(found.items(), key=lambda item: (-len(item[0]), item[0])))


def _is_telling(value: str) -> bool:
    """Tell whether a value is none that a text may hold by chance."""
    return len(value) >= _TELLING_CHARS_MIN and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _written(value: str) -> tuple[str, ...]:
    once = json.dumps(value)[1:-1]
    plain = json.dumps(value, ensure_ascii=False)[1:-1]
    return (value, once, plain, json.dumps(once)[1:-1], json.dumps(plain, ensure_ascii=False)[1:-1], _percent(value))


def _percent(value: str) -> str:
    data = value.encode("utf-8", "surrogateescape")
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in data)


def _any_of(forms: list[str]) -> "re.Pattern[str]":
    return re.compile("|".join(map(re.escape, forms)) if forms else r"(?!)")


def _any_of_bytes(forms: list[bytes]) -> "re.Pattern[bytes]":
    return re.compile(b"|".join(map(re.escape, forms)) if forms else rb"(?!)")
