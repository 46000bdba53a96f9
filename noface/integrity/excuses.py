"""Finds what excuses code from a check, whatever its words: comments, attributes, pragmas, as a language's lexer sees.

No list of words is complete (`# NOQA`, `eslint-disable -- why`, next year's linter). So the comments that a change adds
are muted: each of their letters becomes another one, in place, so that no line is longer or shorter and no formatter
has anything to say. A check that turns red then has been excused. Comments that something else reads stay: the
directives of Go, types of JSDoc, declared encodings.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from noface.integrity.lexing import is_by_hand, pieces, replaced

_SHOWN_MAX = 120
_MUTED = re.compile(
    r"(?P<keep>https?://\S+|coding[:=][ \t]*[-\w.]+|^\W{1,3}(?=\s|\w|$)|(?:(?<!\s)\s++)?(?:\*/|-->)$)"
    r"|(?P<any>[\w:=@\[\](){}<>`])"
)
"""An address stays, since linters let a line be long for one, and so do an encoding and the marks around a comment.

The rest must not look like code that somebody has commented out.
"""
_READ_BY_OTHERS = (
    ((".go",), re.compile(r"//go:(?!build\s+ignore)|//\s*\+build\s|//export\s")),
    ((".ts", ".tsx", ".mts", ".cts"), re.compile(r"///\s*<reference\s")),
    (
        (".js", ".jsx", ".mjs", ".cjs"),
        re.compile(r"/\*\s*(?:webpack\w{1,40}:|[#@]__PURE__\s*\*/$)|//# source\w{0,10}URL="),
    ),
)
"""Comments that compilers and bundlers read, of the languages that these belong to."""
_TYPE_OF_JSDOC = re.compile(r"[\s/*]*+@\w{1,40}\s{0,20}\{")
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
_DIRECTIVE = re.compile(
    r"(?i)\b((?:(?:ruff|flake8|type|mypy|pyright|pylint|rubocop|biome|phpcs|oxlint|deno|shellcheck|eslint|tslint|stylelint)"
    r"[\s:-]{1,3})?(?:noqa|nosec|nolint\w{0,8}|skipcq|(?:ignore|disable|expect|allow|SuppressWarnings)(?:-[a-z]{1,9}){0,2}))"
    r"(?![\w-])[\s:=(\[{]*([^\n]*)"
)
"""Words that excuse from rules, and the rest of the line, which names them."""
_RULE = re.compile(r"@?[A-Za-z][\w./@-]*")
_CODE = re.compile(r"[A-Z]{1,8}\d{1,6}")
_BY_CODE = ("noqa", "nosec")
_PART = re.compile(r"[\s,\"'{}()\[\]]+")
_RULES_MAX = 20
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
    def rules(self) -> frozenset[tuple[str, str]]:
        """From which rules it excuses, each with the words that do so; nothing if it names none, or more than rules."""
        return rules_in(self.kind)

    @property
    def label(self) -> str:
        """Its place and its text."""
        return f"{self.path}:{self.line} `{' '.join(self.text.split())[:_SHOWN_MAX]}`"


def rules_in(line: str) -> frozenset[tuple[str, str]]:
    """Return the rules that a line excuses code from, each with the words that do so."""
    match = _DIRECTIVE.search(line)
    if match is None:
        return frozenset()
    words, rest = "".join(match[1].lower().split()), match[2].partition(": ")[0]
    names = list(filter(None, _PART.split(_SEPARATOR.split(rest, maxsplit=1)[0])))[:_RULES_MAX]
    form = _CODE if words.endswith(_BY_CODE) else _RULE
    return frozenset((words, name) for name in names) if all(map(form.fullmatch, names)) else frozenset()


STUB = "stub"
"""What type checkers read in place of the source beside it: where it is muted, it is not there."""


def stub_beside(path: str, tree: Collection[str]) -> tuple[Excuse, ...]:
    """Return the excuse that a new file is for the source of its name, if it is Python's stub of one in the tree."""
    return (Excuse(path, 1, 0, 0, STUB),) if path.endswith(".pyi") and path[:-1] in tree else ()


def excuses(path: str, text: str, added: Collection[int]) -> tuple[Excuse, ...]:
    """Return what of the lines `added`, counted from 1, may excuse code; nothing in a language without a lexer."""
    if not added or not is_by_hand(text):
        return ()
    comments = [*_comments(path, text), *_in_code(path, text)]
    return tuple(each for each in comments if each.line in added)


def _comments(path: str, text: str) -> Iterator[Excuse]:
    """Yield each line of each comment."""
    from pygments.token import Comment

    for piece in pieces(path, text):
        if not piece.is_a(Comment) or piece.is_a(Comment.Preproc, Comment.PreprocFile, Comment.Hashbang):
            continue
        read = any(pattern.match(piece.text) for ends, pattern in _READ_BY_OTHERS if path.endswith(ends))
        if not read and not (piece.token.startswith("/**") and _TYPE_OF_JSDOC.match(piece.text)):
            yield Excuse(path, piece.line, piece.start, piece.start + len(piece.text), piece.text)


def _in_code(path: str, text: str) -> Iterator[Excuse]:
    for endings, pattern, instead in _IN_CODE:
        line, seen = 1, 0
        for match in pattern.finditer(text) if path.endswith(endings) else ():
            line, seen = line + text.count("\n", seen, match.start()), match.start()
            yield Excuse(path, line, match.start(), match.end(), match[0], instead)


def muted(text: str, excuses: Collection[Excuse]) -> str:
    """Return the text without the words of what was found in it, and with as many characters in each line."""
    return replaced(text, {(each.start, each.end): _mute(each) for each in excuses})


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


def near(excuses: Collection[Excuse], places: str) -> tuple[Excuse, ...]:
    """Return what stands in the files that a check's words name, first what is near a line that it names; else all."""
    named = [each for each in excuses if each.path in places]
    close = [each for each in named if any(f"{each.path}:{each.line + step}" in places for step in (0, 1, -1))]
    return tuple(close or named or excuses)
