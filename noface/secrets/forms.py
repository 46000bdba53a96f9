"""Other ways to write a secret that a program may choose: base64, hexadecimal, UTF-16, backwards, broken over lines.

Only values that a text cannot hold by chance are looked for in these ways.
"""

import base64
import re
import sys
from collections.abc import Iterable, Iterator, Mapping

_WORD = 8
_PIECES_BYTES_MAX = 8 * 1024
_FORM_BYTES_MIN = 2 * _WORD - 1
_COMMENTED = rb"\n[+-]?[ \t]*(?:#+|//+|\*+|;+)[ \t]"
_GAP = rb"(?:" + _COMMENTED + rb"|\n-|[\s\"'+,\\]|\\[nrt]){1,64}?"
_SEPARATORS = b" \t\r\n\"'+,\\"
_ESCAPED_BREAKS = (b"\\n", b"\\r", b"\\t")
_REMOVED_LINE = b"\n-"
_COMMENT = re.compile(_COMMENTED)


_CHARS_MAX = 2048
"""Of a longer value its beginning stands for all of it: dozens of encodings of the whole would make every look slow."""


def encoded(value: str) -> tuple[str, ...]:
    """Return the encodings of a value as they stand in a text, whatever is encoded with it before or after."""
    value = value[:_CHARS_MAX]
    data = value.encode("utf-8", "surrogateescape")
    forms = [value[::-1], data.hex(), data.hex().upper()]
    for sign in ("%", "\\x"):
        forms += ["".join(f"{sign}{byte:02x}" for byte in data), "".join(f"{sign}{byte:02X}" for byte in data)]
    forms += ["".join(f"\\\\x{byte:02x}" for byte in data), data.hex(" "), data.hex(":")]
    forms += [", ".join(f"0x{byte:02x}" for byte in data), ", ".join(f"0x{byte:02X}" for byte in data)]
    forms += [forms[-2].replace(" ", ""), forms[-1].replace(" ", "")]
    units = data.decode("utf-8", "replace")
    for sign in ("\\u", "\\\\u"):
        forms += [
            "".join(f"{sign}{ord(char):04x}" for char in units),
            "".join(f"{sign}{ord(char):04X}" for char in units),
        ]
    for order in ("utf-16-le", "utf-16-be"):
        forms.append(units.encode(order).decode("utf-8", "surrogateescape"))
    # What is encoded before it in the same text shifts it: base32 has five such shifts, base64 three.
    for before in range(5):
        text = base64.b32encode(b"\0" * before + data).decode()
        forms.append(text[-(-8 * before // 5) : 8 * (before + len(data)) // 5])
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        whole = encode(data).decode()
        forms += [whole, whole.rstrip("=")]
        for before in range(3):
            text = encode(b"\0" * before + data).decode()
            forms.append(text[-(-8 * before // 6) : 8 * (before + len(data)) // 6])  # what no neighbour changes
    return tuple(dict.fromkeys(form for form in forms if len(form) >= _FORM_BYTES_MIN and form != value))


class WordFilter:
    """Tells quickly that none of many texts stands in data: it compares words of the machine, a few for each text.

    The time it takes does not depend on how many texts there are. Every text has at least 15 bytes.
    """

    def __init__(self, forms: Iterable[bytes]) -> None:
        known = [form for form in forms if len(form) >= _FORM_BYTES_MIN]
        shortest = min(map(len, known), default=_FORM_BYTES_MIN)
        # Every so many words of the data are looked at: any text that long has one of its words among them.
        self._step = (shortest - _WORD + 1) // _WORD
        self._words = {
            int.from_bytes(form[at : at + _WORD], sys.byteorder)
            for form in known
            for at in range(min(len(form) - _WORD + 1, self._step * _WORD))
        }

    def may_hold(self, data: bytes) -> bool:
        """True if one of the texts may stand in `data`; False is certain."""
        if not self._words or len(data) < _FORM_BYTES_MIN:
            return False
        words = memoryview(data)[: len(data) // _WORD * _WORD].cast("Q")
        return not self._words.isdisjoint(words[:: self._step])


class Wrapped:
    """Finds values, and their encodings, that are broken into pieces: over lines, by quotes, or put together by `+`."""

    def __init__(self, forms: Mapping[bytes, str]) -> None:
        pieces = (
            (_joined(form), name)
            for form, name in forms.items()
            if len(form) <= _PIECES_BYTES_MAX and b"\0" not in form
        )
        self._names = {form: name for form, name in pieces if len(form) >= _FORM_BYTES_MIN - 3}
        self._patterns: dict[bytes, re.Pattern[bytes]] = {}

    def find(self, data: bytes) -> Iterator[tuple[str, "re.Match[bytes]"]]:
        """Yield the names of the values in `data` with where each stands; what is in one piece is left out."""
        if not self._names:
            return
        joined = _joined(data)
        removed = (
            _joined(_COMMENT.sub(b"", data).replace(_REMOVED_LINE, b"")) if _REMOVED_LINE in data else b""
        )  # as a patch has them
        taken: list[tuple[int, int]] = []
        for form, name in self._names.items():
            if form in joined or form in removed:
                pattern = self._patterns.get(form) or self._patterns.setdefault(form, _broken(form))
                for match in pattern.finditer(data):
                    start, end = match.span()
                    if match[0] != form and not any(start < other[1] and other[0] < end for other in taken):
                        taken.append((start, end))
                        yield name, match

    def pieces(self, match: "re.Match[bytes]") -> list[tuple[int, int]]:
        """Return the spans of a match that are the value's own, without what stands between them."""
        return [match.span(group) for group in range(1, len(match.groups()) + 1)]


def _joined(data: bytes) -> bytes:
    if b"\n" in data:
        data = _COMMENT.sub(b"", data)
    for escaped in _ESCAPED_BREAKS:
        data = data.replace(escaped, b"")
    return data.translate(None, _SEPARATORS)


def _broken(form: bytes) -> re.Pattern[bytes]:
    # Each character is a group of its own: where the value is broken is not known before.
    gap = b"(?:" + _GAP + b")?"
    return re.compile(gap.join(b"(" + re.escape(form[at : at + 1]) + b")" for at in range(len(form))))
