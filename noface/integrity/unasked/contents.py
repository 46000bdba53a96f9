"""What happened to a file's bytes by the way: edit tools that read and write a file as if it were other text.

Each row is put right for itself, on what the row before it left, so that the work beside it stays as it is.
"""

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate

from noface.data import table
from noface.integrity.tampering import is_test_file
from noface.integrity.unasked.finding import Changed, Ground, Unasked
from noface.model.attempt import REGULAR

_LOST = "\ufffd"
_LOSS = re.compile(f"{_LOST}([\udc80-\udcff]+)")
_LINES_MAX = 3
_ENDS_MIN = 2
_WIDE = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_OF_ANY = ("undecodable", "nul")
_STEERS = (".gitattributes", ".editorconfig")
Mended = tuple[tuple[str, ...], bytes | None]
"""Lines that show what is wrong with a file, and its bytes put right; None if only its worker can do that."""


def contents(files: Sequence[Changed], ground: Ground) -> Iterator[Unasked]:
    """Yield the files whose bytes are others where the work is not."""
    mends = {row: mend for row, mend in _MENDS.items() if not ground.asks_for(row)}
    if any(file.path.rpartition("/")[2] in _STEERS for file in files):
        mends.pop("line-ends", None)
    for file in files:
        old, new = file.old, file.new
        plain = file.old_mode in REGULAR and file.new_mode in REGULAR
        if plain and old and new == b"" and not (is_test_file(file.path) or ground.asks_for("emptied")):
            yield Unasked("emptied", file.path, ())
        if not plain or not old or not new or old == new:
            continue
        text = _wide(old) or b"\0" not in old
        found: list[tuple[str, tuple[str, ...], bool]] = []
        for row, mend in mends.items():
            if (text or row in _OF_ANY) and (mended := mend(old, new)) is not None:
                found.append((row, mended[0], mended[1] is not None))
                new = new if mended[1] is None else mended[1]
        for row, lines, can_mend in found:
            yield Unasked(row, file.path, lines, {file.path: ("", new)} if can_mend else {})


def _transcoded(old: bytes, new: bytes) -> Mended | None:
    kept = set(new.split(b"\n"))
    if (old.isascii() and not _wide(new)) or any(not line.isascii() and line in kept for line in old.split(b"\n")):
        return None
    for was, now in _pairs(old, new):
        before, after = _decoded(old, was), _decoded(new, now)
        if before is None or after is None:
            continue
        wide = was in _WIDE.values() or now in _WIDE.values()
        special = {line for line in before.splitlines() if line.strip() and (wide or not line.isascii())}
        same = tuple(line for line in after.splitlines() if line in special)
        if 2 * len(same) > len(special):
            after = after.replace("\n", "\r\n") if "\r\n" in before and "\r" not in after else after
            return tuple(same[:_LINES_MAX]), _encoded(after, was)
    return None


def _pairs(old: bytes, new: bytes) -> Iterator[tuple[str, str]]:
    others = table("unasked")["encodings"]["tried"]
    if wide := _wide(old) or _wide(new):
        yield (wide, "utf-8") if _wide(old) else ("utf-8", wide)
    yield from ((other, "utf-8") for other in others)
    yield from (("utf-8", other) for other in others)


def _wide(data: bytes) -> str:
    return _WIDE.get(data[:2], "")


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError:
        return None


def _encoded(text: str, encoding: str) -> bytes | None:
    try:
        return (f"\ufeff{text}" if encoding in _WIDE.values() else text).encode(encoding)
    except UnicodeEncodeError:
        return None


def _undecodable(old: bytes, new: bytes) -> Mended | None:
    if _LOST.encode() in old or _LOST.encode() not in new:
        return None
    before = old.decode("utf-8", "noface-lossy")
    if new == old.decode("utf-8", "replace").encode():
        return (f"{new.count(_LOST.encode())} times",), old
    if b"\0" in old and not _wide(old):
        return (), None
    lost = [match[1].encode("utf-8", "surrogateescape") for match in _LOSS.finditer(before)]
    if not lost:
        return None
    before, now = _LOSS.sub(_LOST, before), new.decode("utf-8", "surrogateescape")
    known = dict(zip((at for at, char in enumerate(before) if char == _LOST), lost, strict=True))
    put = {at: known[other] for at, other in _aligned(before, now) if now[at] == _LOST and other in known}
    mended = "".join(put[at].decode("utf-8", "surrogateescape") if at in put else char for at, char in enumerate(now))
    lines = tuple(line for line in now.split("\n") if _LOST in line)[:_LINES_MAX]
    # What the work adds is in UTF-8 by then: beside bytes of another encoding it would be in none.
    mixed = any(char > "\x7f" and not "\udc80" <= char <= "\udcff" for char in mended) and not _decoded(old, "utf-8")
    return lines, None if mixed or _LOST in mended else mended.encode("utf-8", "surrogateescape")


def _surrogates(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _LOST + error.object[error.start : error.end].decode("ascii", "surrogateescape"), error.end


codecs.register_error("noface-lossy", _surrogates)


def _aligned(before: str, now: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the characters that two texts have in common, in the second and in the first."""
    old, new = before.splitlines(keepends=True), now.splitlines(keepends=True)
    was, at = [0, *accumulate(map(len, old))], [0, *accumulate(map(len, new))]
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from zip(range(at[c], at[d]), range(was[a], was[b]), strict=True)
        elif tag == "replace":
            one, other = before[was[a] : was[b]], now[at[c] : at[d]]
            for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
                yield from ((at[c] + block.b + n, was[a] + block.a + n) for n in range(block.size))


def _unencodable(old: bytes, new: bytes) -> Mended | None:
    """Find lines in which each letter beyond ASCII became a question mark, or is gone."""
    before = _decoded(old, "utf-8") or old.decode("latin-1")
    if old.isascii() or not new.isascii():
        return None
    encoding = "latin-1" if _decoded(old, "utf-8") is None else "utf-8"
    lines = [line for line in before.split("\n") if not line.isascii()]
    for way in ("replace", "ignore"):
        became = {line.encode("ascii", way).decode(): line for line in lines}
        now = new.decode().split("\n")
        if 2 * sum(line in became for line in now) > len(lines) and len(lines) > (way == "ignore"):
            mended = "\n".join(became.get(line, line) for line in now)
            return tuple(line for line in now if line in became)[:_LINES_MAX], mended.encode(encoding)
    return None


def _mark(old: bytes, new: bytes) -> Mended | None:
    had, has = old.startswith(codecs.BOM_UTF8), new.startswith(codecs.BOM_UTF8)
    if had == has or _wide(old):
        return None
    return (), codecs.BOM_UTF8 + new if had else new.removeprefix(codecs.BOM_UTF8)


def _line_ends(old: bytes, new: bytes) -> Mended | None:
    ends, crlf = old.count(b"\n"), old.count(b"\r\n")
    others = new.count(b"\r\n") if crlf == 0 else new.count(b"\n") - new.count(b"\r\n")
    if _wide(old) or ends < _ENDS_MIN or crlf not in (0, ends) or not others:
        return None
    unix = new.replace(b"\r\n", b"\n")
    return (f"{others} of {new.count(bytes([10]))} lines",), unix if crlf == 0 else unix.replace(b"\n", b"\r\n")


def _last_newline(old: bytes, new: bytes) -> Mended | None:
    if _wide(old) or b"\0" in new or not old.endswith(b"\n") or new.endswith(b"\n"):
        return None
    return (), new + (b"\r\n" if b"\r\n" in new else b"\n")


def _nul(old: bytes, new: bytes) -> Mended | None:
    if b"\0" in old and not _wide(old):
        return None if b"\0" in new else ((f"all {old.count(bytes(1))} of them",), None)
    if _wide(old) or b"\0" not in new:
        return None
    bare = new.rstrip(b"\0")
    lines = tuple(repr(line)[:80] for line in new.split(b"\n") if b"\0" in line)
    return lines[:1], bare if bare and b"\0" not in bare else None


_MENDS: dict[str, Callable[[bytes, bytes], Mended | None]] = {
    "transcoded": _transcoded,
    "undecodable": _undecodable,
    "unencodable": _unencodable,
    "nul": _nul,
    "byte-order-mark": _mark,
    "line-ends": _line_ends,
    "last-newline": _last_newline,
}
