"""What happened to a file's bytes by the way: edit tools that read and write a file as if it were other text."""

import codecs
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate

from noface.integrity.unasked.finding import Changed, Ground, Unasked

_LOST = "\ufffd"
_LOSS = re.compile(f"{_LOST}([\udc80-\udcff]+)")
_LINES_MAX = 5


def contents(files: Sequence[Changed], _: Ground) -> Iterator[Unasked]:
    """Yield the files whose bytes are others where the work is not."""
    for file in files:
        if file.old is not None and file.new is not None and b"\0" not in file.old:
            yield from _undecodable(file, file.old, file.new)


def _undecodable(file: Changed, old: bytes, new: bytes) -> Iterator[Unasked]:
    before = old.decode("utf-8", "noface-lossy")
    lost = [match[1].encode("utf-8", "surrogateescape") for match in _LOSS.finditer(before)]
    if not lost or _LOST.encode() in old or _LOST.encode() not in new:
        return
    now = new.decode("utf-8", "surrogateescape")
    before = _LOSS.sub(_LOST, before)
    known = dict(zip((at for at, char in enumerate(before) if char == _LOST), lost, strict=True))
    put = {at: known[other] for at, other in _aligned(before, now) if now[at] == _LOST and other in known}
    mended = "".join(put[at].decode("utf-8", "surrogateescape") if at in put else char for at, char in enumerate(now))
    shown = tuple(line for line in now.split("\n") if _LOST in line)[:_LINES_MAX]
    right = {} if _LOST in mended else {file.path: (file.new_mode, mended.encode("utf-8", "surrogateescape"))}
    yield Unasked("undecodable", file.path, shown, right)


def _surrogates(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _LOST + error.object[error.start : error.end].decode("ascii", "surrogateescape"), error.end


codecs.register_error("noface-lossy", _surrogates)


def _aligned(before: str, now: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the characters that two texts have in common, in the second and in the first."""
    old, new = before.splitlines(keepends=True), now.splitlines(keepends=True)
    was, at = _starts(old), _starts(new)
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from zip(range(at[c], at[d]), range(was[a], was[b]), strict=True)
        elif tag == "replace":
            one, other = before[was[a] : was[b]], now[at[c] : at[d]]
            for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
                yield from ((at[c] + block.b + n, was[a] + block.a + n) for n in range(block.size))


def _starts(lines: list[str]) -> list[int]:
    return [0, *accumulate(map(len, lines))]
