"""Other ways to write a secret that a program may choose: base64, hexadecimal, backwards.

Only values that a text cannot hold by chance are looked for in these ways.
"""

import base64
import sys
from collections.abc import Iterable

_WORD = 8
LONG_BYTES_MIN = 2 * _WORD - 1
_CHARS_MAX = 2048
"""Of a longer value its beginning stands for all of it: encodings of the whole would make every look slow."""
_COLUMNS = 76
"""After so many characters programs such as base64 begin a new line."""


def encoded(value: str) -> tuple[str, ...]:
    """Return the encodings of a value as they stand in a text, whatever is encoded with it before or after."""
    data = value[:_CHARS_MAX].encode("utf-8", "surrogateescape")
    forms = [value[:_CHARS_MAX][::-1], data.hex(), data.hex().upper()]
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        # What is encoded before it in the same text shifts it; what no neighbour changes is left.
        texts = (encode(b"\0" * before + data).decode() for before in range(3))
        forms += [text[-(-8 * before // 6) : 8 * (before + len(data)) // 6] for before, text in enumerate(texts)]
        whole = encode(data).decode().rstrip("=")
        forms += [whole[at : at + _COLUMNS] for at in range(0, len(whole), _COLUMNS)]
    return tuple(dict.fromkeys(form for form in forms if len(form) >= LONG_BYTES_MIN and form != value))


class WordFilter:
    """Tells quickly that none of many texts stands in data: it compares words of the machine, a few for each text.

    The time it takes does not depend on how many texts there are. Every text has at least 15 bytes.
    """

    def __init__(self, forms: Iterable[bytes]) -> None:
        known = list(forms)
        shortest = min(map(len, known), default=LONG_BYTES_MIN)
        # Every so many words of the data are looked at: any text that long has one of its words among them.
        self._step = (shortest - _WORD + 1) // _WORD
        self._words = {
            int.from_bytes(form[at : at + _WORD], sys.byteorder)
            for form in known
            for at in range(min(len(form) - _WORD + 1, self._step * _WORD))
        }

    def may_hold(self, data: bytes) -> bool:
        """True if one of the texts may stand in `data`; False is certain."""
        if not self._words or len(data) < LONG_BYTES_MIN:
            return False
        words = memoryview(data)[: len(data) // _WORD * _WORD].cast("Q")
        return not self._words.isdisjoint(words[:: self._step])
