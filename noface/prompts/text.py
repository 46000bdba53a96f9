"""Makes text fit to stand in a prompt: makes it safe, cuts it, and divides the room of a prompt among its parts.

What comes from issues, logs and agents is data. `line` keeps it on one line that opens no heading, list or fence,
`code` puts it between backquotes, `fenced` between fences longer than any inside. Of a long text both ends stay.

Each part of a prompt keeps a share of the room that the fixed parts leave. The parts are cut in their order, each down
to its share before the next one is touched. Where not even the marks of the cuts find room, whole parts go.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from noface.diagnosis.text import strip_codes

LINE_CHARS_MAX = 500
BYTES_A_TOKEN = 4
"""How many UTF-8 bytes are taken for one token: an estimate, on the safe side for English and for code."""

_READ_FACTOR = 20
_RUN_MAX = 60
_CUT = " […]"
_LONG_RUN = re.compile(rf"`{{{_RUN_MAX + 1},}}")
_BREAK = re.compile(r"\r\n?|[\x85\u2028\u2029]")
_UNSEEN = re.compile(r"[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
"""Characters that turn the direction of writing round, and tags that no font shows: a person reads past them."""
_NO_TEXT = re.compile(r"[\x80-\x9f]")
_HALF = re.compile(r"[\ud800-\udfff]")
_OPENER = re.compile(
    r"#{1,6}(?:\s|$)|`{3}|~{3}|>|<[A-Za-z/!?]|[-+*](?:\s|$)|=+$|-+$|(?:[-_*] ?){3,}$|\d{1,9}[.)](?:\s|$)|\[.+\]:"
)
"""What opens a heading, fence, quotation, block of HTML, list item, rule or link definition in Markdown."""
_BLOCK = re.compile(r"\s*(?:#{1,6}(?:\s|$)|`{3}|~{3}|<[A-Za-z/!?]|=+$|-+$)")
_ANY_RUN = re.compile(r"`+")
_FENCE = re.compile(r" {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$")


def clean(text: str) -> str:
    """Return text valid as UTF-8, without control characters; what hides text is written out (<U+202E>)."""
    text = _NO_TEXT.sub("", strip_codes(_BREAK.sub("\n", text)))
    text = _HALF.sub("\ufffd", text)
    text = _UNSEEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)
    return _LONG_RUN.sub("`" * _RUN_MAX, text)


def line(text: object, chars_max: int = LINE_CHARS_MAX) -> str:
    flat = _flat(text, chars_max)
    return f"\\{flat}" if _OPENER.match(flat) else flat


def sentence(text: object, chars_max: int = LINE_CHARS_MAX) -> str:
    """Return text on one line without its full stop, for the template to end the sentence."""
    return line(text, chars_max).rstrip(". ")


def code(text: object, chars_max: int = LINE_CHARS_MAX) -> str:
    flat = _flat(text, chars_max)
    runs = {len(run) for run in _ANY_RUN.findall(flat)}
    quotes = "`" * next(length for length in range(1, len(runs) + 2) if length not in runs)
    space = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{quotes}{space}{flat}{space}{quotes}" if flat else "(nothing)"


def fenced(text: object, language: str = "") -> str:
    body = clean(str(text)).rstrip("\n")
    longest = max((len(run) for run in _ANY_RUN.findall(body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def words(text: object) -> str:
    """Return what the owner says, which stands in no fence: no row of it opens a heading, a fence or HTML."""
    return "\n".join(f"\\{row}" if _BLOCK.match(row) else row for row in clean(str(text)).rstrip("\n").split("\n"))


def tidy(text: str) -> str:
    """Return a prompt without runs of blank lines and trailing spaces; what stands between fences is left alone."""
    rows: list[str] = []
    fence = ""
    for row in text.split("\n"):
        if fence:
            rows.append(row)
            bare = row.strip()
            fence = "" if bare.startswith(fence) and not bare.strip(fence[0]) else fence
            continue
        trimmed = row.rstrip()
        if trimmed or (rows and rows[-1]):
            rows.append(trimmed)
        opened = _FENCE.match(trimmed)
        fence = (opened[1] or opened[2]) if opened else ""
    return "\n".join(rows).strip("\n") + "\n"


def size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _flat(text: object, chars_max: int) -> str:
    whole = str(text)
    start = len(whole) - len(whole.lstrip())
    read = whole[start : start + _READ_FACTOR * chars_max]
    flat = " ".join(clean(read).split())
    complete = len(flat) <= chars_max and len(whole) - start <= len(read)
    return flat if complete else flat[:chars_max] + _CUT


_ENDS_MIN = 40
"""Less of a text's two ends than so many bytes tells nothing."""


def mark_of(left_out: int) -> str:
    return f"[… {left_out} characters left out …]"


def ends_of(text: str, chars_max: int) -> tuple[str, int]:
    """Return a clean text and how many characters it has; of a longer one two ends, with a NUL between them."""
    if len(text) <= chars_max:
        whole = clean(text).rstrip("\n")
        return whole, len(whole)
    half = chars_max // 2
    ends = f"{clean(text[:half])}\0{clean(text[len(text) - half :]).rstrip(chr(10))}"
    return ends, len(text) - 2 * half + len(ends) - 1


def shorten(text: str, bytes_max: int, chars: int) -> tuple[str, int]:
    """Return a clean text in `bytes_max` bytes, and how many of its `chars` are gone; at least a mark."""
    bare = mark_of(chars)
    first, cut, last = text.partition("\0")
    if not cut and size(text) <= max(bytes_max, size(bare)):
        return text, 0
    room = bytes_max - size(bare) - 2
    if room < _ENDS_MIN:
        return bare, chars
    # Cut as text first: of a log of many megabytes only this much is encoded.
    head = first[:room].encode("utf-8", "replace")[: room // 2].decode("utf-8", "ignore")
    rest = room - size(head)
    tail = (last if cut else text)[-rest:].encode("utf-8", "replace")[-rest:].decode("utf-8", "ignore")
    left_out = chars - len(head) - len(tail)
    return f"{head}\n{mark_of(left_out)}\n{tail}", left_out


def excerpt(text: str, bytes_max: int) -> str:
    ends, chars = ends_of(text, 2 * bytes_max)
    return shorten(ends, bytes_max, chars)[0]


_SHOWN_MANY_TIMES = 8
_UNUSED = 50
"""The part of the limit that may be left unused before it is tried to show more."""
_ROW_BYTES = 60
"""What a row takes beside its text: markup and words of the template."""
_UNLIMITED = 1 << 62


@dataclass(frozen=True, slots=True)
class Item:
    """One text of a part, as of `ends_of`; `name` is what a person reads was cut."""

    name: str
    text: str
    chars: int

    @property
    def least(self) -> int:
        """How many bytes it takes however far it is cut."""
        return size(shorten(self.text, 0, self.chars)[0])


@dataclass(frozen=True, slots=True)
class PromptPart:
    """Texts of one sort. `share` is what it keeps, in hundredths of the room; of `rows` the first stay longest."""

    key: str
    name: str
    share: int
    items: tuple[Item, ...]
    rows: bool = False
    bytes_max: int = _UNLIMITED

    @property
    def need(self) -> int:
        """How many bytes it may take beyond what it takes at least."""
        return min(self.bytes_max, sum(_need(item, rows=self.rows) for item in self.items))


@dataclass(frozen=True, slots=True)
class Kept:
    """What is shown of a part; `left_out` counts its rows that are not."""

    texts: tuple[str, ...] = ()
    left_out: int = 0
    cuts: tuple[str, ...] = ()


Pieces = Mapping[str, Kept]
"""What is shown of each part, by its key."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, and what was cut from it, in sentences for a person."""

    text: str
    cuts: tuple[str, ...]


def fit(parts: Sequence[PromptPart], draw: Callable[[Pieces], str], bytes_max: int) -> Prompt:
    """Return the prompt of at most `bytes_max` bytes, if its fixed parts leave room; `parts` are cut in order."""
    pieces = whole(parts)
    text = draw(pieces)
    if size(text) <= bytes_max:
        return Prompt(text, _cuts(parts, pieces))
    kept, pieces = list(parts), _cut_all(parts, 0)
    text = draw(pieces)
    for part in parts:
        if size(text) <= bytes_max:
            break
        kept.remove(part)
        pieces = {**pieces, part.key: Kept(cuts=(f"{part.name}: all of it left out",))}
        text = draw(pieces)
    bare, shown = size(text), pieces
    if bare > bytes_max:
        return Prompt(text, (*_cuts(parts, pieces), f"even so it is {bare} bytes long; the limit is {bytes_max}"))
    # What a part takes in the prompt is the template's business: it may show a text many times, or not at all.
    room, fits, too_much = bytes_max - bare, 0, _SHOWN_MANY_TIMES * bytes_max
    while room > 0 and too_much - fits > max(1, bytes_max // _UNUSED):
        more = {**pieces, **_cut_all(kept, room)}
        drawn = draw(more)
        if size(drawn) <= bytes_max:
            text, shown, fits = drawn, more, room
        else:
            too_much = room
        room = (fits + too_much) // 2
    return Prompt(text, _cuts(parts, shown))


def whole(parts: Sequence[PromptPart]) -> dict[str, Kept]:
    return _cut_all(parts, _UNLIMITED)


def allot(needs: Sequence[int], shares: Sequence[int], room: int) -> list[int]:
    """Divide `room` among parts that need so much: each is cut to its share (hundredths) before the next one is."""
    given = list(needs)
    excess = sum(needs) - room
    for index, share in enumerate(shares):
        gone = max(0, min(excess, given[index] - room * share // 100))
        given[index] -= gone
        excess -= gone
    return given


def _cut_all(parts: Sequence[PromptPart], room: int) -> dict[str, Kept]:
    given = allot([part.need for part in parts], [part.share for part in parts], room)
    return {
        part.key: _rows(part, extra) if part.rows else _texts(part, extra)
        for part, extra in zip(parts, given, strict=True)
    }


def _rows(part: PromptPart, extra: int) -> Kept:
    texts: list[str] = []
    for item in part.items:
        extra -= _need(item, rows=True)
        if extra < 0:
            break
        texts.append(item.text)
    total, left_out = len(part.items), len(part.items) - len(texts)
    return Kept(tuple(texts), left_out, (f"{part.name}: {left_out} of {total} left out",) if left_out else ())


def _texts(part: PromptPart, extra: int) -> Kept:
    """Cut the texts of a part: each gets its share of what those before it have left."""
    texts: list[str] = []
    cuts: list[str] = []
    for place, item in enumerate(part.items):
        more = min(_need(item, rows=False), extra // (len(part.items) - place))
        extra -= more
        text, left_out = shorten(item.text, item.least + more, item.chars)
        texts.append(text)
        cuts += [f"{item.name}: {left_out} of {item.chars} characters left out"] if left_out else []
    return Kept(tuple(texts), cuts=tuple(cuts))


def _need(item: Item, *, rows: bool) -> int:
    return size(item.text) + _ROW_BYTES if rows else max(0, size(item.text) - item.least)


def _cuts(parts: Sequence[PromptPart], pieces: Pieces) -> tuple[str, ...]:
    return tuple(cut for part in parts for cut in pieces[part.key].cuts)
