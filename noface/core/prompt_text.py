"""Makes text fit to stand in a prompt: one line, a piece of code, a fenced block; and measures it.

What comes from issues, logs and agents is data. `line` keeps it on one line that opens no heading, list or fence,
`code` puts it between backquotes, `fenced` between fences longer than any inside. All three take out terminal codes
and make visible what a person could not see.
"""

import re

from noface.core.classify.text import strip_codes

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
_ANY_RUN = re.compile(r"`+")
_FENCE = re.compile(r" {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$")


def clean(text: str) -> str:
    """Return text without terminal codes and control characters, its lines ended by newlines, valid as UTF-8.

    Characters that hide text are written out (<U+202E>), runs of more than 60 backquotes shortened.
    """
    text = _NO_TEXT.sub("", strip_codes(_BREAK.sub("\n", text)))
    text = _HALF.sub("\ufffd", text)
    text = _UNSEEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)
    return _LONG_RUN.sub("`" * _RUN_MAX, text)


def line(text: object, chars_max: int = LINE_CHARS_MAX) -> str:
    """Return text on one line of about `chars_max` characters at most, marked where it was cut.

    Where its start would open a heading, list or fence, a backslash before it keeps it from that.
    """
    flat = _flat(text, chars_max)
    return f"\\{flat}" if _OPENER.match(flat) else flat


def sentence(text: object, chars_max: int = LINE_CHARS_MAX) -> str:
    """Return text on one line without its full stop, for the template to end the sentence."""
    return line(text, chars_max).rstrip(". ")


def code(text: object, chars_max: int = LINE_CHARS_MAX) -> str:
    """Return text on one line between backquotes that it cannot close."""
    flat = _flat(text, chars_max)
    runs = {len(run) for run in _ANY_RUN.findall(flat)}
    quotes = "`" * next(length for length in range(1, len(runs) + 2) if length not in runs)
    space = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{quotes}{space}{flat}{space}{quotes}" if flat else "(nothing)"


def fenced(text: object, language: str = "") -> str:
    """Return text between fences longer than any run of backquotes in it."""
    body = clean(str(text)).rstrip("\n")
    longest = max((len(run) for run in _ANY_RUN.findall(body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{body}\n{fence}"


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
        shown = row.rstrip()
        if shown or (rows and rows[-1]):
            rows.append(shown)
        opened = _FENCE.match(shown)
        fence = (opened[1] or opened[2]) if opened else ""
    return "\n".join(rows).strip("\n") + "\n"


def size(text: str) -> int:
    """Return how many bytes of UTF-8 a text is."""
    return len(text.encode("utf-8", "replace"))


def tokens(text: str) -> int:
    """Return the estimate of how many tokens a text is: its UTF-8 bytes by four, rounded up."""
    return -(-size(text) // BYTES_A_TOKEN)


def _flat(text: object, chars_max: int) -> str:
    whole = str(text)
    start = len(whole) - len(whole.lstrip())
    read = whole[start : start + _READ_FACTOR * chars_max]
    flat = " ".join(clean(read).split())
    complete = len(flat) <= chars_max and len(whole) - start <= len(read)
    return flat if complete else flat[:chars_max] + _CUT
