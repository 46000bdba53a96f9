"""Tests that ask for something else: the values that assertions name are turned into others, in any language. Pure.

A test that passes with them looks at nothing: whoever judges must be able to turn red. What main's tests would see, a
change must let them see: a runner that the product patches, a value that equals everything, or an equality that does
not look, passes whatever is asked for.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from zlib import crc32

from noface.data import pattern
from noface.integrity.inner_tests import inner_spans
from noface.integrity.lexing import TEXT_CHARS_MAX, LexedPiece, is_by_hand, pieces, replaced
from noface.integrity.tampering import is_code

_LINE_CHARS_MAX = 2_000
_LINES_OF_ASSERTION_MAX = 30
_TURNED = {"True": "False", "False": "True", "true": "false", "false": "true"}
_OTHER_ERROR = (
    ((".py",), "FloatingPointError"),
    ((".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx"), "EvalError"),
    ((".java", ".kt", ".kts", ".scala", ".groovy"), "ArrayStoreException"),
    ((".rb",), "FloatDomainError"),
    ((".php",), "UnderflowException"),
)
"""An error that hardly any code raises, in the languages whose assertions name one."""
_ERROR = re.compile(r"[A-Z]\w*(?:Error|Exception)")
_VERB = "".join(rf"(?<!%[-+#.0-9]{{{number}}})" for number in range(4))
"""Stands before what is no letter of a format's verb, such as %s or %05d: with another one Go would not build."""
_LAST = re.compile(rf"(?<!\\){_VERB}[A-Za-z0-9](?=(?:[^A-Za-z0-9%]|%[-+#.0-9]*+[A-Za-z%]?+)*+$)")
_PROMPT = ">>> "
_DOC_MARKS = re.compile(r"^\s*(?://[/!]|\*)?")
_OUTPUT = re.compile(r"//\s*(?:unordered )?output:", re.IGNORECASE)
_VALUE = re.compile(r"(?:\d|(?<=\w)\w(?=\"))(?=[^\w]*$)")
_IMPORTS = re.compile(
    r"^import \([^()]*+\)|^[ \t]*+(?:import|from|use|using|#include)\b[^\n]*+"
    r"|\b(?:require|import)\([^()\n]*+\)|\bfrom[ \t]++[\"'][^\"'\n]*+",
    re.MULTILINE,
)
_QUOTES = "\"'`"
_TEXTS = re.compile(r"""\"[^\"\n]*+\"|'[^'\n]*+'|`[^`\n]*+`""")
_NAMES = re.compile(r"[A-Za-z_]\w*+")
_WORDS = re.compile(r"\w++")
_LETTERS, _DIGITS = "qzkwjvxy", "7382"
_CIRCLE_OF_LETTERS, _CIRCLE_OF_DIGITS = "qazwsxedcrfvtgbyhnujmikolp", "0672913854"
"""Which letter or digit may follow which: in an order that no calculation keeps."""
_SLASHES, _JOINTS = re.compile(r"[/\\]"), re.compile(r"[._-]")
_IN_BRACKETS = re.compile(r"""\[["'](\w++)["']\]""")
_DATUM = re.compile(
    r"""</?+[\w:.-]++|(?<![\w.-])\w[\w.-]*+(?=[(\[])"""
    r"""|(?:"[^"\\\n]{0,200}+"|'[^'\\\n]{0,200}+'|`[^`\\\n]{0,200}+`|(?<![\w.-])\w[\w.-]*+)\]?+[ \t]*+[:=](?![=/])"""
    r"""|"(?P<double>(?:\\.|[^"\\\n]){1,400}+)"|(?<!\w)'(?P<single>[^'\n]{1,400}+)'(?!\w)"""
    r"""|(?P<bare>[^\s"'`,;|\[\]{}()<>:=][^\s"`,;|\[\]{}()<>:=]*+(?:\ [^\s"'`,;|\[\]{}()<>:=]++)*+)"""
)
"""A value of data in any format, quoted or bare. None are tags, what is called, and keys, before a colon or `=`."""
_NONE = "null"


@dataclass(frozen=True, slots=True)
class Untouched:
    """What stays in all files of one look: names of `files`, and in data the `words` that code goes by."""

    files: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    def names_file(self, value: str) -> bool:
        """True if a text names a file or a folder: a path, the last part of one, its stem, its ending, a glob."""
        parts = [part.strip("*?") for part in _SLASHES.split(value) if part.strip("*?.")]
        return bool(parts) and not value.isdigit() and all(part in self.files for part in parts)


_NOTHING = Untouched()


def kept(paths: Iterable[str], texts: Mapping[str, str]) -> Untouched:
    """Return what stays in the tests of a tree with these paths; `texts` are the tests, by path."""
    files = set[str]()
    for path in paths:
        *folders, name = path.split("/")
        files.update(folders, (name, name.partition(".")[0], name.rpartition(".")[0]))
        if not is_code(path):  # a test may put its name together
            files.update(part for at in _JOINTS.finditer(name) for part in (name[: at.end()], name[at.start() :]))
    code = [text for path, text in texts.items() if is_code(path)]
    words = (word for text in code for word in (*_NAMES.findall(_TEXTS.sub("", text)), *_IN_BRACKETS.findall(text)))
    return Untouched(frozenset(files - {""}), frozenset(words))


def turned(path: str, text: str, stays: Untouched = _NOTHING, shift: int = 0) -> str | None:
    """Return a file of tests whose assertions and tables ask for other values; None if there is nothing to turn.

    Each value of code becomes one of its own, so that what is equal in a test is not so any more, and of data the last
    of each line another one. The names of tests stay, and so do those of files: a test that misses one looks at
    nothing. With another `shift` they are others again.
    """
    if not is_by_hand(text):
        return None
    if not is_code(path):
        return turned_examples(text, shift) if _PROMPT in text else _turned_data(text, stays, shift, ends=True)
    asked = _asked(text)
    by: dict[tuple[int, int], str] = {}
    for piece in _values(path, text):
        names_file = stays.names_file(piece.text.strip(_QUOTES))
        other = _other(path, piece, shift + len(by)) if piece.line in asked and not names_file else piece.text
        by |= {(piece.start, piece.start + len(piece.text)): other} if other != piece.text else {}
    if path.endswith(".go"):
        by |= _outputs(text, shift)
    return replaced(text, by) if by else None


def turned_alike(path: str, text: str, stays: Untouched = _NOTHING, shift: int = 0) -> str | None:
    """Return tests, or data of tests, with another value for each value in them; None without any.

    What a value becomes depends on that and on `shift` alone: equal ones stay equal over all files, and others do not
    become so. What is computed from other values is another result, so that a test fails that compares it with anything
    else than itself. A word that is also a name in the file stays, as that of a parameter or of a fixture, and so does
    what names a file.
    """
    if not is_code(path):
        return _turned_data(text, stays, shift)
    if not is_by_hand(text):
        return None
    values, names = tuple(_values(path, text)), frozenset(_NAMES.findall(_TEXTS.sub("", text)))
    by: dict[tuple[int, int], str] = {}
    for piece in values:
        value, other = piece.text.strip(_QUOTES), _other(path, piece, 0)
        if other == piece.text or names.issuperset(_WORDS.findall(value)) or stays.names_file(value):
            continue
        other = other if _is_word(piece) else piece.text.replace(value, _other_alike(value, shift))
        by |= {(piece.start, piece.start + len(piece.text)): other} if other != piece.text else {}
    return replaced(text, by) if by else None


def _turned_data(text: str, stays: Untouched, shift: int, *, ends: bool = False) -> str | None:
    """Return data with other values; with `ends` the last of each line alone, which is mostly what is expected there.

    What a case is given beside that stays then, so that it is still read.
    """
    by: dict[tuple[int, int], str] = {}
    line = len(text)
    for match in reversed(tuple(_DATUM.finditer(text))) if len(text) <= TEXT_CHARS_MAX else ():
        value = match[match.lastgroup] if match.lastgroup else ""
        if value in ("", _NONE) or stays.words.issuperset(_WORDS.findall(value)) or stays.names_file(value):
            continue
        if ends and match.start() >= line:
            continue  # a later one of its line is turned
        other, line = _TURNED.get(value) or _other_alike(value, shift), text.rfind("\n", 0, match.start()) + 1
        by |= {match.span(match.lastgroup or 0): other} if other != value else {}
    return replaced(text, by) if by else None


def _is_word(piece: LexedPiece) -> bool:
    """True if a piece is a word of its language, such as a constant or the name of an error."""
    from pygments.token import Keyword, Name

    return piece.is_a(Keyword, Name)


def _other_alike(value: str, shift: int) -> str:
    """Return a value with another last letter or digit, which tells as much: unequal values remain so."""

    def following(match: re.Match[str]) -> str:
        letter = match[0]
        circle = _CIRCLE_OF_DIGITS if letter.isdigit() else _CIRCLE_OF_LETTERS
        step = (crc32((value[: match.start()] + value[match.end() :]).encode("utf-8", "replace")) + shift) % (
            len(circle) - 1
        )
        other = circle[(circle.index(letter.lower()) + 1 + step) % len(circle)]
        return other.upper() if letter.isupper() else other

    return _LAST.sub(following, value, count=1)


def _values(path: str, text: str) -> Iterator[LexedPiece]:
    """Yield the pieces that may be values: neither names of tests or of what is imported nor keys in brackets."""
    names, before = (*_names(text), *(match.span() for match in _IMPORTS.finditer(text))), ("", "")
    for piece in pieces(path, text):
        end = piece.start + len(piece.text)
        is_name = any(start < end and piece.start < stop for start, stop in names)
        key = before[1] == "[" and (before[0][-1:].isalnum() or before[0] in ("]", ")"))
        if not is_name and not key:
            yield piece
        before = (before[1], piece.text) if piece.text.strip().strip(_QUOTES) else before


def turned_inside(path: str, text: str, shift: int = 0) -> str | None:
    """Return a source whose inner tests and examples ask for other values; None if there is nothing to turn."""
    by: dict[tuple[int, int], str] = {}
    for start, end, is_documentation in inner_spans(path, text) if is_by_hand(text) else ():
        inner = text[start:end]
        other = turned_examples(inner, shift) if is_documentation else turned(path, inner, shift=shift)
        by |= {(start, end): other} if other is not None else {}
    return replaced(text, by) if by else None


def turned_examples(text: str, shift: int = 0) -> str | None:
    """Return documentation with other values in what its examples print, or assert between fences."""
    lines = text.split("\n")
    now, expected, fenced = [], False, False
    for number, line in enumerate(lines, shift):
        words = _DOC_MARKS.sub("", line).strip()
        prompted = words.startswith((_PROMPT.strip(), "..."))
        fenced ^= words.startswith("```")
        printed = expected and words and not prompted and not words.startswith("Traceback")
        asserted = fenced and _PROMPT not in text and pattern("integrity", "tests", "assertion").search(words)
        now.append(_another_end(line, number, _LAST if printed else _VALUE) if printed or asserted else line)
        expected = prompted or (expected and bool(words))
    return "\n".join(now) if now != lines else None


def _outputs(text: str, shift: int) -> dict[tuple[int, int], str]:
    """Return other words for what Go's examples print, which the comment at their end says, by their places."""
    by: dict[tuple[int, int], str] = {}
    at, expected = 0, False
    for number, line in enumerate(text.split("\n"), shift):
        words = line.strip()
        begins = _OUTPUT.match(words) is not None
        expected = words.startswith("//") and (expected or begins)
        if expected and (words.rpartition(":")[2].strip() if begins else words):
            by[at, at + len(line)] = _another_end(line, number)
        at += len(line) + 1
    return by


def _names(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the names of tests stand, as places in the text."""
    name, at = pattern("integrity", "tests", "case_name"), 0
    for line in text.split("\n"):
        if len(line) <= _LINE_CHARS_MAX and (match := name.search(line)) is not None:
            groups = (match.span(number) for number in range(1, match.re.groups + 1) if match[number])
            yield from ((at + start, at + end) for start, end in groups)
        at += len(line) + 1


def _other(path: str, piece: LexedPiece, turn: int) -> str:
    """Return what stands in the place of a value, the same for what is none."""
    from pygments.token import Keyword, Name, Number, String

    value = piece.text
    if value.isdigit() or piece.is_a(Number):
        return _another_end(value, turn)
    if piece.is_a(Keyword, Name):
        names = (name for endings, name in _OTHER_ERROR if path.endswith(endings) and _ERROR.fullmatch(value))
        return _TURNED.get(value) or next(names, value)
    is_text = piece.is_a(String) and not piece.is_a(String.Doc, String.Escape, String.Affix, String.Interpol)
    return _another_end(value, turn) if is_text else value


def _another_end(value: str, turn: int, end: re.Pattern[str] = _LAST) -> str:
    return end.sub(lambda match: _another(match[0], turn), value, count=1)


def _another(letter: str, turn: int) -> str:
    """Return another letter or digit, a different one for each `turn` of a few."""
    others = _DIGITS if letter.isdigit() else _LETTERS
    return next(each for each in (others[turn % len(others)], others[(turn + 1) % len(others)]) if each != letter)


def _asked(text: str) -> frozenset[int]:
    """Return the numbers of the lines that assert or hold rows of a table, counted from 1."""
    asserts, no, row = (pattern("integrity", "tests", key) for key in ("assertion", "no_assertion", "row"))
    compares = pattern("integrity", "tests", "exact")
    result: set[int] = set()
    until = depth = 0
    for number, line in enumerate(text.split("\n"), 1):
        short = line[:_LINE_CHARS_MAX]
        begins = asserts.search(short) and not no.search(short)
        if begins or number <= until or row.search(short) or compares.search(short):
            result.add(number)
        if begins:
            until = number + _LINES_OF_ASSERTION_MAX
            depth = 0
        if number <= until:
            depth += sum(line.count(c) for c in "([{") - sum(line.count(c) for c in ")]}")
            until = until if depth > 0 else 0
    return frozenset(result)
