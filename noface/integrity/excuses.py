"""Finds what excuses code from a check, whatever its words: comments, attributes, pragmas, as a language's lexer sees.

No list of words is complete (`# NOQA`, `eslint-disable -- why`, next year's linter). So the comments that a change adds
are muted: each of their letters becomes another one, in place, so that no line is longer or shorter and no formatter
has anything to say. A check that turns red then has been excused. Comments that something else reads stay: the
directives of Go, types of JSDoc, declared encodings.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import accumulate

TEXT_CHARS_MAX = 1_000_000
_LINE_CHARS_MAX = 5_000
_SHOWN_MAX = 120
_MUTED = re.compile(
    r"(?P<keep>https?://\S+|^\W{1,3}(?=\s|\w|$)|(?:(?<!\s)\s++)?(?:\*/|-->)$)|(?P<any>[\w:=@\[\](){}<>`])"
)
"""An address stays, since linters let a line be long for one, and so do the marks around a comment.

The rest must not look like code that somebody has commented out.
"""
_READ_BY_OTHERS = re.compile(
    r"^//go:(?!build\s+ignore)|^//\s*\+build|^//export\s|^#.*?coding[:=]|^///\s*<reference|^#!|webpack\w{1,40}:|^/[/*]#|__PURE__"
)
_TYPE_OF_JSDOC = re.compile(r"^(?:[^\S\n]|[/*])*+@\w{1,40}\s{0,20}\{.*$", re.MULTILINE)
_RUST_LINTS = re.compile(r"#!?\[\s*+(?:cfg_attr\b(?:[^\]#]|#(?!!?\[))*?\b)?(?:allow|expect|warn)\s*+\([^\]]*+(?:\]|\Z)")
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma\b.*$", re.MULTILINE)
_ANNOTATION = re.compile(
    r"@(?:\w+[.:])*Suppress\w*(?:\([^()\n]*\))?|\[(?:\w+:\s*)?(?:\w+\.)*SuppressMessage\([^()\n]*\)\]"
)
_UNTYPED = re.compile(r"@(?:\w+\.)*no_type_check\b|(?<=\bif )not (?=(?:\w+\.)*TYPE_CHECKING\b)")
_IN_CODE = (
    ((".rs",), _RUST_LINTS, "/**/"),
    ((".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".m"), _PRAGMA, "/**/"),
    ((".java", ".kt", ".kts", ".scala", ".groovy", ".cs"), _ANNOTATION, "/**/"),
    ((".py", ".pyi"), _UNTYPED, "#"),
)
"""What the languages themselves have to switch warnings off, and the comment that takes its place when it is muted."""
_SEPARATOR = re.compile(r"(?<!\s)\s++(?:--?|#|//|;|\()\s*|(?:(?<!\s)\s++)?(?:\*/|-->)\s*+$")


@dataclass(frozen=True, slots=True)
class Excuse:
    """A comment, an attribute or a pragma that may excuse code from a check, and where it stands in its file's text."""

    path: str
    line: int
    start: int
    end: int
    text: str
    instead: str = ""

    @property
    def kind(self) -> str:
        """What it says without its reason: who uses the same elsewhere has the same custom."""
        return _SEPARATOR.split(self.text.strip(), maxsplit=1)[0].strip()

    @property
    def shown(self) -> str:
        """Its place and its text."""
        return f"{self.path}:{self.line} `{' '.join(self.text.split())[:_SHOWN_MAX]}`"


def excuses(path: str, text: str, added: Collection[int]) -> tuple[Excuse, ...]:
    """Return what of the lines `added`, counted from 1, may excuse code; nothing in a language without a lexer."""
    if len(text) > TEXT_CHARS_MAX or not added:
        return ()
    lines = text.split("\n")
    if any(len(line) > _LINE_CHARS_MAX for line in lines):
        return ()  # nobody has written it by hand
    found = [*_comments(path, lines), *_in_code(path, text)]
    return tuple(each for each in found if each.line in added)


def _comments(path: str, lines: list[str]) -> Iterator[Excuse]:
    """Yield each line of each comment.

    Of blank lines in a row the lexer sees one: some lexers look at each from all before it.
    """
    from pygments.lexers import get_lexer_for_filename
    from pygments.token import Comment, is_token_subtype
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_for_filename(path)
    except ClassNotFound:
        return
    kept = [at for at, line in enumerate(lines) if line.strip() or at == 0 or lines[at - 1].strip()]
    text = "\n".join(lines[at] for at in kept)
    places = [0, *accumulate(len(line) + 1 for line in lines)]
    starts = [0, *accumulate(len(lines[at]) + 1 for at in kept)]
    number, code = 0, (Comment.Preproc, Comment.PreprocFile, Comment.Hashbang)
    for start, kind, value in lexer.get_tokens_unprocessed(text):
        if not is_token_subtype(kind, Comment) or any(is_token_subtype(kind, each) for each in code):
            continue
        if _READ_BY_OTHERS.search(value):
            continue
        types = [match.span() for match in _TYPE_OF_JSDOC.finditer(value)] if value.startswith("/**") else []
        at = start
        for part in value.split("\n"):
            while number + 1 < len(kept) and starts[number + 1] <= at:
                number += 1
            place = places[kept[number]] + at - starts[number]
            inside = at - start
            if part.strip() and not any(begin <= inside + len(part) and inside <= end for begin, end in types):
                yield Excuse(path, kept[number] + 1, place, place + len(part), part)
            at += len(part) + 1


def _in_code(path: str, text: str) -> Iterator[Excuse]:
    for endings, pattern, instead in _IN_CODE:
        line, seen = 1, 0
        for match in pattern.finditer(text) if path.endswith(endings) else ():
            line, seen = line + text.count("\n", seen, match.start()), match.start()
            yield Excuse(path, line, match.start(), match.end(), match[0], instead)


def muted(text: str, found: Collection[Excuse]) -> str:
    """Return the text without the words of what was found in it, and with as many characters in each line."""
    left = list(text)
    for each in sorted(found, key=lambda one: one.start, reverse=True):
        words = _mute(each)
        left[each.start : each.end] = words or [""] * (each.end - each.start)
    return "".join(left)


def _mute(excuse: Excuse) -> str:
    words = excuse.text
    if words == "not ":
        return ""
    if excuse.instead:
        half = -(-len(excuse.instead) // 2)
        begin, end = excuse.instead[:half], excuse.instead[half:]
        code = words.lstrip()
        words = words[: len(words) - len(code)] + begin + re.sub(r"[^\n]", "a", code)[len(begin + end) :] + end
    return _MUTED.sub(_muted_part, words)


def _muted_part(match: re.Match[str]) -> str:
    part = match["any"]
    return match[0] if part is None else "A" if part.isupper() else "0" if part.isdigit() else "a"


def near(found: Collection[Excuse], places: str) -> tuple[Excuse, ...]:
    """Return what stands in the files that a check's words name, first what is near a line that it names; else all."""
    named = [each for each in found if each.path in places]
    close = [each for each in named if any(f"{each.path}:{each.line + step}" in places for step in (0, 1, -1))]
    return tuple(close or named or found)
