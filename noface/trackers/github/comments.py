"""Comments on GitHub: what one says to noface, and which of noface's own is which. Pure.

Each of noface's begins with a hidden line: the clone that wrote it, so that another one adds to what stands there, and
what it asks, so that after a kill the question is found where it was asked.
"""

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass

from noface.forge import parse
from noface.model.publication import COMMANDS, Heard
from noface.trackers.issue_body import uncommented

MARKER = "<!-- noface:issue"
HEARD_CHARS_MAX = 20_000
EARLIER_CHARS_MAX = 6_000
COMMENT_CHARS_MAX = 65_000
"""GitHub takes 65,536."""
MOVED = "moved"
"""What the hidden line says instead of a question if a later comment says more."""

_NOTHING = "-"
_HEAD = re.compile(r"<!-- noface:issue (?P<clone>[0-9a-f]{1,32}) (?P<asks>[0-9a-z-]{1,32}) -->\n?")
_EARLIER = "\n\n<details><summary>What noface said here before</summary>\n\n"
_EARLIER_END = "\n\n</details>"
_COMMAND = re.compile(r"/noface(?![\w-])[ \t]*:?[ \t]*", re.IGNORECASE)
_WORD = re.compile(rf"({'|'.join(COMMANDS)})\b[ \t]*:?[ \t]*", re.IGNORECASE)
_OF_OTHERS = re.compile(r"/[a-z][\w-]*", re.IGNORECASE)
"""A command for another program, such as `/lgtm`; or for noface, without its name."""
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*(?:\[bot\])?(?:/[A-Za-z0-9][\w.-]*)?")
_ANYBODY = re.compile(r"(?<![\w`/@.-])@[A-Za-z0-9]")
_FENCE = re.compile(r"[ ]{0,3}(?:```|~~~)")
_QUOTED_CHARS_MIN = 8
"""A quoted line that is shorter may stand anywhere."""


@dataclass(frozen=True, slots=True)
class Own:
    """A comment of noface's: who wrote it, what it asks and says, and what another clone had said before."""

    id: int
    body: str
    clone: str
    asks: str
    text: str
    earlier: str
    url: str = ""

    @property
    def moved(self) -> bool:
        return self.asks == MOVED


def own_of(entry: object) -> Own | None:
    """Read a comment of noface's account; None for one that is not noface's."""
    number, body = parse.number(entry, "id"), parse.text(entry, "body").replace("\r\n", "\n")
    head = _HEAD.match(body)
    if head is None or not number:
        return None
    text, _, earlier = body[head.end() :].partition(_EARLIER)
    asks = head["asks"]
    return Own(
        number,
        body,
        head["clone"],
        "" if asks == _NOTHING else asks,
        text.strip(),
        earlier.removesuffix(_EARLIER_END).strip(),
        parse.text(entry, "html_url"),
    )


def asks_key(asks: str) -> str:
    return hashlib.sha256(asks.encode()).hexdigest()[:12] if asks else ""


def body_of(text: str, clone: str, asks: str, earlier: str = "") -> str:
    """Return the text of a comment with its hidden line, no longer than GitHub takes."""
    body = f"{MARKER} {clone} {asks or _NOTHING} -->\n{text}"
    cut = earlier if len(earlier) <= EARLIER_CHARS_MAX else f"{earlier[:EARLIER_CHARS_MAX]} …"
    folded = f"{_EARLIER}{cut}{_EARLIER_END}" if earlier else ""
    if len(body) + len(folded) > COMMENT_CHARS_MAX:
        folded = ""
    if len(body) > COMMENT_CHARS_MAX:
        body = body[:COMMENT_CHARS_MAX] + "\n\n… cut here; `noface blocked` and `noface show` tell all of it."
    return body + folded


def moved_body(url: str, clone: str) -> str:
    return body_of(f"noface's word on this is now [in a newer comment]({url}).", clone, MOVED)


def earlier_of(own: Own, clone: str, asks: str = "") -> str:
    """Return what is kept below what this clone says now: another clone's words, and what was asked and is no more."""
    if own.moved:
        return own.earlier
    asked = "\n".join(line for line in own.text.split("\n") if line.startswith(">")) if own.asks and not asks else ""
    return "\n\n---\n\n".join(filter(None, (asked if own.clone == clone else own.text, own.earlier)))


def mention(login: str) -> str:
    name = login.removeprefix("@")
    return f"@{name}" if _LOGIN.fullmatch(name) and not name.endswith("[bot]") else ""


def heard_of(
    issue_id: str,
    own_id: int,
    author: str,
    body: str,
    url: str = "",
    *,
    login: str = "",
    own_texts: Collection[str] = (),
) -> Heard | None:
    """Read a comment: quotations and hidden parts are left out; None if nothing is left, or it is for another program.

    `login` is noface's own, `own_texts` the texts of its comments: who quotes one of their lines answers them.
    """
    lines: list[str] = []
    quoted: list[str] = []
    commented = False
    for line in body[: 4 * HEARD_CHARS_MAX].replace("\r\n", "\n").replace("\0", "").split("\n"):
        visible, commented = uncommented(line, commented)
        (quoted if visible.lstrip().startswith(">") else lines).append(visible)
    kept = "\n".join(lines).strip()
    if not kept:
        return None
    begins = _COMMAND.match(kept)
    if begins is None and _OF_OTHERS.match(kept):
        return None
    rest = kept[begins.end() :] if begins else kept
    word = _WORD.match(rest) if begins else None
    command = word[1].lower() if word else ""
    text = (rest[word.end() :] if word else rest).strip()
    addressed = bool(begins) or _mentions(kept, login) or (_quotes(quoted, own_texts) and not _ANYBODY.search(kept))
    return Heard(issue_id, own_id, author, text[:HEARD_CHARS_MAX], command, url, addressed)


def _mentions(text: str, login: str) -> bool:
    name = login.removesuffix("[bot]").lower()
    if not name:
        return False
    wanted = re.compile(rf"(?<![\w`/@.-])@{re.escape(name)}(?![\w-])")
    fenced = False
    for line in text.lower().split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and wanted.search(line):
            return True
    return False


def _quotes(quoted: Collection[str], comments: Collection[str]) -> bool:
    wanted = {_bare(line) for text in comments for line in text.split("\n")}
    return any(len(line) >= _QUOTED_CHARS_MIN and line in wanted for line in map(_bare, quoted))


def _bare(line: str) -> str:
    """Return the letters and digits of a line: mail programs and GitHub quote with other marks."""
    return "".join(filter(str.isalnum, line)).lower()
