"""Takes secrets out of text and bytes: `***NAME***` stands for the value of the variable NAME (I12).

A value is found as it is and as JSON, XML or a URL would write it, each long line of it by itself; where a text cannot
hold it by chance also in base64, in hexadecimal and backwards. In bytes what stands for a value has its length:
`***NAME---***`, or `***NA***` for a short one.
"""

import base64
import html
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping

from noface.secrets.rules import VALUE_CHARS_MIN
from noface.secrets.shapes import any_of, begun_key, in_length, keys_in_place, without_keys

_LINE_CHARS_MIN = 24
_TELLING_CHARS_MIN = 12
_HEAD_BYTES = 4
_ENCODED_CHARS_MIN = 15
_ENCODED_FROM_CHARS_MAX = 2048
"""Of a longer value its beginning stands for all of it: encodings of the whole would make every look slow."""
_COLUMNS = 76
"""After so many characters programs such as base64 begin a new line."""
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_NAME = re.compile(r"[A-Za-z0-9_]+")
_FILLED = re.compile(r"\*\*\*(\w[\w-]{0,200}?)-+\*\*\*")
NO_SECRETS: Mapping[str, str] = {}


class Masker:
    """Knows the `secrets` of a run, values with the names of their variables; takes them and known keys out."""

    def __init__(self, secrets: Mapping[str, str] = NO_SECRETS) -> None:
        self.secrets = dict(secrets)
        long = ((value, name) for value, name in secrets.items() if len(value) >= _TELLING_CHARS_MIN)
        telling = {v: name for v, name in long if any(map(str.isdigit, v)) and any(map(str.isalpha, v))}
        self.names, self._telling = frozenset(secrets.values()), frozenset(telling.values())
        hidden = {form: name for value, name in telling.items() for form in _encoded(value)}
        forms = sorted((hidden | _forms(secrets)).items(), key=lambda item: (-len(item[0]), item[0]))
        self._names = dict(forms)
        self._byte_names = {form.encode("utf-8", "surrogateescape"): name for form, name in forms}
        self._over_lines = any(b"\n" in form for form in self._byte_names)
        self._heads: dict[bytes, list[bytes]] = {}
        for form in self._byte_names:
            for size in range(1, _HEAD_BYTES + 1):
                self._heads.setdefault(form[:size], []).append(form)
        self._pattern = _any_of(self._names)
        self._telling_pattern = _any_of(form for form, name in forms if name in self._telling)
        self._any = any_of(self._byte_names)
        self._byte_pattern = re.compile(b"|".join(map(re.escape, self._byte_names)) or rb"(?!)")
        self.longest_bytes = max(map(len, self._byte_names), default=0)

    def __bool__(self) -> bool:
        return bool(self._names)

    def text(self, text: str, keep: Iterable[str] = ()) -> str:
        masked = without_keys(self.values(text, keep))
        try:
            masked.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:  # JSON may name halves of characters that stand for no byte; no file takes them
            masked = masked.encode("utf-8", "replace").decode("utf-8")
        return masked

    def values(self, text: str, keep: Iterable[str] = ()) -> str:
        text = _FILLED.sub(r"***\1***", text) if "-***" in text else text
        if not any(form in text for form in self._names):
            return text
        kept = {path: path for path in keep if self._pattern.search(path)}
        pattern = _any_of(sorted({*self._names, *kept}, key=len, reverse=True)) if kept else self._pattern
        return pattern.sub(lambda match: kept.get(match[0]) or f"***{self._names[match[0]]}***", text)

    def path(self, path: str, own: Collection[str] = ()) -> str:
        """Return a file's path without the known values, but for plain ones and those in `own`."""
        return self._telling_pattern.sub(
            lambda match: match[0] if match[0] in own else f"***{self._names[match[0]]}***", path
        )

    def holds(self, data: bytes) -> bool:
        return self._any.search(data) is not None

    def in_place(self, data: bytes) -> list[tuple[int, bytes]]:
        """Return what to write over `data` to take values and keys out: offsets, and texts as long as they are."""
        if not self.holds(data):
            return keys_in_place(data)
        places = [(match.start(), self._mark(match[0])) for match in self._byte_pattern.finditer(data)]
        return places + keys_in_place(_put(data, places))

    def masked(self, data: bytes) -> bytes:
        places = self.in_place(data)
        return _put(data, places) if places else data

    def begun(self, data: bytes) -> int:
        """Return where at the end of `data` a value or key begins of which more may come; its length if none does."""
        size = len(data)
        line = 0 if self._over_lines else data.rfind(b"\n") + 1
        for start in range(max(line, size - self.longest_bytes + 1), size):
            forms = self._heads.get(data[start : start + _HEAD_BYTES], ())
            if any(len(form) > size - start and form.startswith(data[start:]) for form in forms):
                return min(start, begun_key(data))
        return begun_key(data)

    def telling(self, data: bytes) -> frozenset[str]:
        """Return the values that stand in `data`, as they are written there, but for short and plain ones."""
        if not self.holds(data):
            return frozenset()
        forms = (form for form, name in self._byte_names.items() if name in self._telling and form in data)
        return frozenset(form.decode("utf-8", "surrogateescape") for form in forms)

    def names_of(self, forms: Iterable[str]) -> frozenset[str]:
        return frozenset(self._names[form] for form in forms)

    def content(self, data: bytes, mark: Callable[[str], str]) -> bytes:
        """Return a file's contents with a mark for each known value, by its name; what is no text keeps its length."""
        if b"\0" in data:
            return _put(data, [(match.start(), self._mark(match[0])) for match in self._byte_pattern.finditer(data)])
        return self._byte_pattern.sub(lambda match: mark(self._byte_names[match[0]]).encode(), data)

    def _mark(self, form: bytes) -> bytes:
        name = self._byte_names[form]
        return in_length(name if _NAME.fullmatch(name) else "", len(form))


class MaskedStream:
    """Takes secrets out of bytes that come in pieces: what may be the beginning of one waits for its rest."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Take the next piece; return what of it, and of those before, can be shown now."""
        data = self._held + data
        places, end = self._masker.in_place(data), self._masker.begun(data)
        end = min((start for start, mark in places if start < end < start + len(mark)), default=end)
        self._held = data[end:]
        return _put(data[:end], [(start, mark) for start, mark in places if start < end]) if places else data[:end]

    def finish(self) -> bytes:
        left, self._held = self._masker.masked(self._held), b""
        return left


def _put(data: bytes, places: Iterable[tuple[int, bytes]]) -> bytes:
    left = bytearray(data)
    for start, mark in places:
        left[start : start + len(mark)] = mark
    return bytes(left)


def _forms(secrets: Mapping[str, str]) -> dict[str, str]:
    forms: dict[str, str] = {}
    for secret, name in secrets.items():
        lines = [line.strip() for line in secret.splitlines()]
        long = [line for line in lines if len(line) >= _LINE_CHARS_MIN and " " not in line] if len(lines) > 1 else []
        for value in (secret, *long):
            for form in _written(value):
                if len(form) >= VALUE_CHARS_MIN:
                    forms.setdefault(form, name)
    return forms


def _written(value: str) -> tuple[str, ...]:
    once = json.dumps(value)[1:-1]
    plain = json.dumps(value, ensure_ascii=False)[1:-1]
    twice = json.dumps(once)[1:-1], json.dumps(plain, ensure_ascii=False)[1:-1]
    element, data = html.escape(value, quote=False), value.encode("utf-8", "surrogateescape")
    address = "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in data)
    return (value, once, plain, *twice, element, element.replace('"', "&quot;"), html.escape(value), address)


def _encoded(value: str) -> tuple[str, ...]:
    data = value[:_ENCODED_FROM_CHARS_MAX].encode("utf-8", "surrogateescape")
    forms = [value[:_ENCODED_FROM_CHARS_MAX][::-1], data.hex(), data.hex().upper()]
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        # What is encoded before it in the same text shifts it; what no neighbour changes is left.
        texts = (encode(b"\0" * before + data).decode() for before in range(3))
        forms += [text[-(-8 * before // 6) : 8 * (before + len(data)) // 6] for before, text in enumerate(texts)]
        whole = encode(data).decode().rstrip("=")
        forms += [whole[at : at + _COLUMNS] for at in range(0, len(whole), _COLUMNS)]
    return tuple(dict.fromkeys(form for form in forms if len(form) >= _ENCODED_CHARS_MIN and form != value))


def _any_of(forms: Iterable[str]) -> "re.Pattern[str]":
    return re.compile("|".join(map(re.escape, forms)) or r"(?!)")
