"""Finds keys by the shape that their providers gave them, wherever they come from (I12; secrets.toml)."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from noface.data import table

PRIVATE_KEY = "private key"
KEY_CHARS_MAX = 8_192
"""No key of a shape in the table is longer; of a longer private key the rest is taken out with it where it is seen."""
_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"(?:[\s+>|\"',-]|\\{1,4}[nr])*(?:[A-Za-z0-9+/=]{16,200}(?:[\s+>|\"',-]|\\{1,4}[nr])*)+")
_MORE = re.compile(r"[\w+/=\s\\\"'>|,-]{0,60}")
"""What may follow the whole lines of a private key that goes on."""
_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}")
_LETTERS = re.compile(rb"\\+.|[A-Za-z0-9+/=]+")
_KEY_CHARS_MAX = 20_000
_TAIL_BYTES = 512
_BODY_CHARS_MIN = 60


class Key(NamedTuple):
    """A key in a text: what it is called, where it stands, and a part of it in one line by which to find it again."""

    name: str
    start: int
    end: int
    telltale: str


@cache
def _shapes() -> tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]:
    shapes = table("secrets")["shapes"]
    return tuple((shape["name"], tuple(shape["hints"]), re.compile(shape["pattern"], re.ASCII)) for shape in shapes)


def keys_in(text: str) -> list[Key]:
    """Return the keys in a text, in their order; none lies in another."""
    private = list(_private_keys(text)) if "PRIVATE KEY" in text else []
    for name, hints, pattern in _shapes():
        if any(hint in text for hint in hints):
            group = "key" if "key" in pattern.groupindex else 0
            private += [Key(name, *match.span(group), match[group]) for match in pattern.finditer(text)]
    keys: list[Key] = []
    for key in sorted(private, key=lambda key: key.start):  # of two that begin together the one of the earlier shape
        if not keys or key.start >= keys[-1].end:
            keys.append(key)
    return keys


def without_keys(text: str) -> str:
    done, pieces = 0, []
    for key in keys_in(text):
        pieces += [text[done : key.start], f"***{key.name}***"]
        done = key.end
    return "".join((*pieces, text[done:])) if pieces else text


def keys_in_place(data: bytes) -> list[tuple[int, bytes]]:
    """Return what to write over `data` to take its keys out: offsets, and texts as long as what they stand for."""
    keys = keys_in(data.decode("latin-1")) if _any_hint().search(data) else []
    places: list[tuple[int, bytes]] = []
    for key in keys:
        end = key.end
        if key.name == PRIVATE_KEY:
            end = data.index(b"PRIVATE KEY", key.start) + len(b"PRIVATE KEY")
            places += [
                (end + run.start(), b"*" * len(run[0]))
                for run in _LETTERS.finditer(data[end : key.end])
                if not run[0].startswith(b"\\")
            ]
        places.append((key.start, in_length(key.name.replace(" ", "-"), end - key.start)))
    return places


def begun_key(data: bytes) -> int:
    """Return where at the end of `data` a key begins of which more may come; the length of `data` if none does."""
    unfinished = _unfinished().search(data, max(data.rfind(b"\n") + 1, len(data) - _TAIL_BYTES))
    begun = [unfinished.start()] if unfinished is not None else []
    if b"PRIVATE KEY" in data:
        text = data.decode("latin-1")
        going_on = (key for key in _private_keys(text) if _END.search(text, key.start, key.end) is None)
        begun += [key.start for key in going_on if _MORE.fullmatch(text, key.end)]
    return min(begun, default=len(data))


@cache
def _hints() -> tuple[bytes, ...]:
    known = {hint.encode() for _, hints, _ in _shapes() for hint in hints}
    return b"PRIVATE KEY", *(hint for hint in sorted(known) if not any(o != hint and o in hint for o in known))


@cache
def _any_hint() -> re.Pattern[bytes]:
    return any_of(_hints())


def any_of(texts: Iterable[bytes]) -> re.Pattern[bytes]:
    """Match any text, by its rarest byte first: 256 kB of one letter take 5 ms, and 33 with a search for each."""
    branches: dict[bytes, list[bytes]] = {}
    for text in texts:
        at = min(range(len(text)), key=lambda place: (text[place : place + 1].islower(), text[place]))
        before, rarest, after = re.escape(text[: at + 1]), re.escape(text[at : at + 1]), re.escape(text[at + 1 :])
        branches.setdefault(rarest, []).append(b"(?<=" + before + b")" + after)
    return re.compile(
        b"|".join(rarest + b"(?:" + b"|".join(rest) + b")" for rarest, rest in branches.items()) or b"(?!)"
    )


@cache
def _unfinished() -> re.Pattern[bytes]:
    """Match the beginning of a key at the end of bytes: a hint or a part of one, and what follows it of the key."""
    hints = "|".join(re.escape(hint.decode()) for hint in _hints()[1:])
    parts = "|".join({re.escape(hint.decode()[:size]) for hint in _hints() for size in range(1, len(hint))})
    begin = r"-{1,5}[A-Z -]*"
    named = r"(?i:aws).{0,20}?(?i:secret).{0,80}|[0-9a-f]{16,}"
    return re.compile(rf"(?:(?:{hints})[\w+/=.-]*|{parts}|{begin}|{named})\Z".encode(), re.ASCII)


def in_length(name: str, length: int) -> bytes:
    """Return what stands for a secret of `length` bytes in its place, without what JSON or a shell would take amiss."""
    room = length - len("******")
    return f"***{name[:room].ljust(room, '-')}***".encode()


def _private_keys(text: str) -> Iterator[Key]:
    """Yield each private key from its first to its last line, or as far as it goes; what only speaks of one is none."""
    done = 0
    ends = [match.end() for match in _END.finditer(text)]
    ends.reverse()
    for begin in _BEGIN.finditer(text):
        if begin.start() < done:
            continue
        while ends and ends[-1] <= begin.end():
            ends.pop()
        whole = bool(ends) and ends[-1] - begin.start() <= _KEY_CHARS_MAX
        body = _BODY.match(text, begin.end(), begin.end() + _KEY_CHARS_MAX)
        done = ends[-1] if whole else body.end() if body is not None else begin.end()
        lines = [
            line
            for line in _LINE.findall(text[begin.end() : done])
            if line.lower() != line != line.upper() and not line.isalpha()
        ]
        yield Key(
            PRIVATE_KEY, begin.start(), done, max(lines, key=len) if sum(map(len, lines)) >= _BODY_CHARS_MIN else ""
        )
