"""What work that landed a short while ago brought, and the change takes back by the way. Pure.

Of what nobody has used for long no line tells whether it may go; what another issue brought in the same night may not.
A block of its lines counts if all of it goes and nothing like it takes its place, or if what stood there before does.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from posixpath import basename

from noface.integrity.asked_for import words_of
from noface.integrity.judges import Part, is_hidden, part_of
from noface.integrity.unasked.definitions import IMPORTS, Text, telling, texts_of
from noface.integrity.unasked.finding import Brought, Changed, Ground, Unasked
from noface.integrity.uses import stem_of
from noface.model.attempt import ABSENT

_TAKES_BACK = re.compile(r"(?i)\brevert|\broll(?:s|ed|ing)?.?back|\bundo(?:es|ne|ing)?\b|\bback(?:ed)? out\b")
_COMMENT = re.compile(r"^(?:#(?![\[!]|.*[{,]$)|//|/?\*|--(?![\w-]+\s*:)|<!--|;)")
_NAME = re.compile(r"(?<![\w.-])[^\W\d_](?:[^\W\d]|-(?=[^\W\d])){3,}(?![\w-])")
_IDENTIFIER = re.compile(r"_|[a-z][A-Z]|[a-z]-[a-z]")
_ALIKE = 0.6
_PART = 3
_LINES_MAX = 5
_LINE_CHARS_MAX = 400


def undone(files: Sequence[Changed], ground: Ground) -> Iterator[Unasked]:
    """Yield the files of which a change takes back what recent work brought."""
    words = words_of(ground.issue)
    if any(map(_TAKES_BACK.search, words)):
        return
    texts, issue = texts_of(files), "\n".join(words).casefold()
    added = {stem_of(file.path) for file in files if file.old_mode == ABSENT}
    gained = sum((text.gained for text in texts), Counter[str]())
    said, left = _names(words), _names(text.new for text in texts)
    for text in texts:
        if part_of(text.path) not in (Part.PRODUCT, Part.SOFT) or is_hidden(text.path):
            continue
        stem = stem_of(text.path)
        meant = stem in added or re.search(rf"\b{re.escape(basename(stem).casefold())}", issue)
        if not text.new and meant:  # it moved, or was to go
            continue
        lines = [
            f"{line} (of {one.by})"
            for one in ground.brought(text.path)
            for line in _taken_back(one, text, gained, said, left)[:_LINES_MAX]
        ]
        if lines:
            yield Unasked("undone", text.path, tuple(dict.fromkeys(lines)))


def _taken_back(
    one: Brought, text: Text, gained: Counter[str], said: frozenset[str], left: frozenset[str]
) -> list[str]:
    old, new = ([line.strip() for line in each.split("\n")] for each in (one.old, one.new))
    before, now = Counter(telling(text.old.split("\n"))), Counter(telling(text.new.split("\n")))
    found = list[str]()
    if (text.old, text.new) == (one.new, one.old):
        lines = [*dict.fromkeys((*text.lost, *text.gained))]
        return lines if not _most(_names(lines) & said, _names(lines)) else []
    for tag, a, b, c, d in _blocks(old, new):
        if tag in ("equal", "delete"):
            continue
        was, brought = telling(old[a:b]), [line for line in telling(new[c:d]) if not _COMMENT.match(line)]
        there = [line for line in brought if before[line]]
        lost = [line for line in there if now[line] < before[line] and not gained[line]]
        if 2 * len(there) < len(brought) or all(map(IMPORTS.match, lost)):
            continue
        back = bool(was) and lost == there and all(now[line] > before[line] for line in was)
        gone = [line for line in lost if not now[line]]
        own = _names(gone) - _names(line for line in before if line not in gone)
        if _most(own & said, own):
            continue
        named = len(own) > 1 or any(map(_IDENTIFIER.search, own))
        if back or (named and not _most(own & left, own) and not _replaced(lost, text)):
            found += lost
    return found


def _blocks(old: list[str], new: list[str]) -> list[tuple[str, int, int, int, int]]:
    """Return the steps from the one to the other; lines that both begin with are not compared at length."""
    same = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    steps = SequenceMatcher(None, old[same:], new[same:]).get_opcodes()
    return [(tag, a + same, b + same, c + same, d + same) for tag, a, b, c, d in steps]


def _most(some: frozenset[str], names: frozenset[str]) -> bool:
    return bool(some) and _PART * len(some) >= len(names)


def _names(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(word for line in lines for word in _NAME.findall(line))


def _replaced(lost: Sequence[str], text: Text) -> bool:
    """True if a line that is new in the file is much like one of those that are gone: it is changed, then."""
    new = [line[:_LINE_CHARS_MAX] for line in text.gained]
    alike = (SequenceMatcher(None, line[:_LINE_CHARS_MAX], other) for line in lost for other in new)
    return any(each.quick_ratio() >= _ALIKE and each.ratio() >= _ALIKE for each in alike)
