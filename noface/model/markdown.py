"""Text for a forge's pages: Markdown in which nothing that an agent, a log or an issue wrote does anything.

A page acts on what it shows: names after an at sign, numbers after a hash, addresses, images, HTML. In code nothing of
that happens; elsewhere an invisible character breaks what would be found. Titles and commits' messages know no code,
and are copied: `inert` breaks by a plain space.
"""

import re
from collections.abc import Iterable

from noface.model.quoting import CUT, printable_lines

COMMENT_CHARS_MAX = 60_000
"""The longest text of a comment or a pull request: GitHub takes 65,536, and a tracker's mark needs some room."""
_BREAK = "\u200b"
_MARKS = re.compile(r"([\\`*_{}\[\]|~])")
_REFERENCE = re.compile(r"(@|#|://|\bwww\.|\bGH-)", re.IGNORECASE)
_ACTS = re.compile(
    r"(?P<spaced>(?<!\w)@(?=[A-Za-z0-9])|\#(?=\d++\b)|\bGH(?=-\d))|(?P<scheme>\bhttps?://)"
    r"|\[(?P<skips>skip ci|ci skip|no ci|skip actions|actions skip)\]",
    re.IGNORECASE,
)
_TICKS = re.compile(r"`+")
_FENCE_MIN = 3


def plain(text: str) -> str:
    line = _MARKS.sub(r"\\\1", " ".join(printable_lines(text).split()))
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _REFERENCE.sub(lambda match: f"{match[0]}{_BREAK}" if match[0] != "://" else f":{_BREAK}//", line)


def inert(text: str) -> str:
    """Return a line for a title or a commit's message: it pings nobody, closes and links no issue, skips no checks."""
    return _ACTS.sub(
        lambda match: f"{match[0]} " if match["spaced"] else f"({match['skips']})" if match["skips"] else "", text
    )


def quote(text: str) -> str:
    paragraphs = [plain(part) for part in re.split(r"\n\s*\n", printable_lines(text)) if part.strip()]
    return "\n>\n".join(f"> {paragraph}" for paragraph in paragraphs)


def code(text: str) -> str:
    line = " ".join(printable_lines(text).split())
    if not line:
        return ""
    ticks = "`" * (_longest_row(line) + 1)
    room = " " if "`" in line else ""
    return f"{ticks}{room}{line}{room}{ticks}"


def block(lines: Iterable[str]) -> str:
    text = "\n".join(printable_lines(line).rstrip() for line in lines).strip("\n")
    if not text:
        return ""
    fence = "`" * max(_longest_row(text) + 1, _FENCE_MIN)
    return f"{fence}text\n{text}\n{fence}"


def bounded(parts: Iterable[str], chars_max: int = COMMENT_CHARS_MAX) -> str:
    """Join parts of a page, a blank line between them, as far as they have room: the first ones matter most.

    A part is left out whole, so that no block of code stays open.
    """
    kept: list[str] = []
    room, left_out = chars_max - len(CUT) - 2, False
    for part in filter(None, parts):
        if len(part) + 2 > room:
            left_out = True
            continue
        kept.append(part)
        room -= len(part) + 2
    return "\n\n".join([*kept, *([CUT] if left_out else [])])


def _longest_row(text: str) -> int:
    return max((len(row) for row in _TICKS.findall(text)), default=0)
