"""Finds keys among the lines a change adds, by the shapes that mask them everywhere else (secrets/shapes.py).

Names and randomness alone (a password field, a hash) would stop honest work, and so would what only shows the shape of
a key. What main holds already, and what a change only moves, is no news.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import accumulate

from noface.model.failure import Failure
from noface.model.patch import changed_lines, patch_files
from noface.model.patterns import matches_any
from noface.model.taxonomy import FailureKind
from noface.secrets.masking import Masker
from noface.secrets.shapes import PRIVATE_KEY, Key, keys_in, keys_in_place

_LINE_MAX = 4_000
_DIFFERENT_CHARS_MIN = 10
MARK = "[masked by noface: {type}]"
"""What stands for a secret that a patch adds; a patch that holds it has been masked before."""
_NAMED_MAX = 10
_NEW_NAME = ("new file mode ", "rename to ", "copy to ")
_MASK_MORE = "[masked by noface]"
_MASKED = re.compile(r"\[masked by noface: (?P<type>[\w ()-]{1,60})\]")
_ALLOWED = re.compile(r"pragma:\s*(allowlist|whitelist)[ -]secret|gitleaks:allow|nosec\b", re.IGNORECASE)
_EXAMPLE = re.compile(
    r"example|sample|fake|dummy|placeholder|redacted|your|test|mock|invalid|(.)\1{5}|123456|0123|abcdef"
    r"|xxxx",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AddedSecret:
    """Where a secret was added, and of what kind; the secret itself is kept nowhere."""

    path: str
    type: str
    line: str


class _Side:
    """A file before or after a patch: its lines, and the rows of the patch in which they stand."""

    def __init__(self, path: str, rows: list[int], lines: list[str]) -> None:
        self.path, self.rows, self.lines = path, rows, lines
        self.starts = [0, *accumulate(len(line) + 1 for line in lines)]

    @property
    def text(self) -> str:
        """The lines that the patch shows, as one text."""
        return "\n".join(self.lines)

    def line(self, offset: int) -> int:
        """Return the number of the line in which a character of the text stands."""
        return bisect_right(self.starts, offset) - 1

    def adds(self, rows: list[str], key: Key) -> bool:
        """True if the patch adds or removes a line of a key."""
        lines = range(self.line(key.start), self.line(key.end - 1) + 1)
        return any(self.changes(rows, line) for line in lines)

    def changes(self, rows: list[str], line: int) -> bool:
        """True if the patch adds or removes a line."""
        return rows[self.rows[line]][:1] != " "


def scan(patch: str, own: Collection[str] = (), allowed: tuple[str, ...] = ()) -> tuple[str, frozenset[str]]:
    """Return a patch without the keys that it adds, and a line of each, by which it could be found elsewhere.

    Keys told by what is in `own` are on main already; `allowed` are globs of files in which none is looked for.
    """
    rows = patch.split("\n")
    gone = {*own, *(key.telltale for side in _sides(patch, "-") for key in keys_in(side.text))}
    telltales: set[str] = set()
    for side in _sides(patch, "+"):
        for key in () if matches_any(side.path, allowed) else _real_keys(side):
            if key.telltale not in gone and side.adds(rows, key):
                _mask(rows, side, key)
                telltales.add(key.telltale)
    telltales |= _mask_names(rows, gone, allowed)
    return "\n".join(rows) if telltales else patch, frozenset(telltales)


def _mask_names(rows: list[str], gone: Collection[str], allowed: tuple[str, ...]) -> set[str]:
    """Take keys out of the names of new files; return by what they are told."""
    telltales = set()
    for file in patch_files("\n".join(rows)):
        new = any(row.startswith(_NEW_NAME) for row in file.head)
        for key in _real_keys(_Side("", [], [file.head[0]])) if new and not matches_any(file.named, allowed) else ():
            if key.telltale not in gone:
                telltales.add(key.telltale)
                for at in range(file.start, file.start + len(file.head)):
                    rows[at] = rows[at].replace(key.telltale, MARK.format(type=key.name))
    return telltales


def marked(patch: str) -> tuple[AddedSecret, ...]:
    """Return the secrets that a masked patch adds, as its marks tell, also in the names of files."""
    if "[masked by noface: " not in patch:
        return ()
    heads = ((file.named, file.head[0]) for file in patch_files(patch) if file.head)
    named = [AddedSecret(path, match["type"], row) for path, row in heads if (match := _MASKED.search(row))]
    written = (
        AddedSecret(line.path, match["type"], line.text.strip()[:_LINE_MAX])
        for line in changed_lines(patch)
        if not line.removed
        for match in _MASKED.finditer(line.text)
    )
    return (*named, *written)


def keys_of(text: str) -> list[Key]:
    """Return the keys in a file's text that may be anybody's, and that no mark allows."""
    return _real_keys(_Side("", [], text.split("\n")))


def without_secrets(data: bytes, masker: Masker) -> bytes:
    """Return a file's contents with marks for its secrets; what is no text keeps its length."""
    data = masker.content(data, MARK)
    if b"\0" in data:
        left = bytearray(data)
        for start, put in keys_in_place(data):
            left[start : start + len(put)] = put
        return bytes(left)
    text = data.decode("utf-8", "surrogateescape")
    # From the end, so that the places of those before stay right.
    for key in reversed(keys_of(text)):
        text = text[: key.start] + MARK.format(type=key.name) + text[key.end :]
    return text.encode("utf-8", "surrogateescape")


def secret_failure(secrets: tuple[AddedSecret, ...]) -> Failure:
    """Return the failure for added secrets: a boundary, since no retry makes one public that was not meant to be."""
    named = dict.fromkeys(f"{secret.type} in {secret.path}" for secret in secrets)
    return Failure(
        FailureKind.BOUNDARY_VIOLATION,
        f"the change adds what looks like a secret: {', '.join(list(named)[:_NAMED_MAX])}; read it from the environment"
        " instead, have a test make its own, or mark the line with `pragma: allowlist secret` if it opens nothing",
        rule="secret-added",
        location=secrets[0].path,
        signature="secret-added:" + ",".join(sorted(named)),
        evidence=tuple(f"{secret.path}: {secret.line[:200]}" for secret in secrets[:_NAMED_MAX]),
    )


def _real_keys(side: _Side) -> list[Key]:
    return [key for key in keys_in(side.text) if _is_real(key) and not _is_allowed(side, key)]


def _is_real(key: Key) -> bool:
    """True if it may be anybody's key: none that is only shown, cut short, or spelt out as an example."""
    if key.name == PRIVATE_KEY:
        return key.telltale != ""
    return len(set(key.telltale)) >= _DIFFERENT_CHARS_MIN and _EXAMPLE.search(key.telltale) is None


def _is_allowed(side: _Side, key: Key) -> bool:
    """True if a mark stands in one of the key's lines; for a private key beside them, if there is room."""
    first, last = side.line(key.start), side.line(key.end - 1)
    beside = key.name == PRIVATE_KEY
    return any(_ALLOWED.search(line) for line in side.lines[max(0, first - beside) : last + beside + 1])


def _mask(rows: list[str], side: _Side, key: Key) -> None:
    """Take a key out of the rows of a patch; the first that the patch adds says what it was."""
    first, last = side.line(key.start), side.line(key.end - 1)
    mark = MARK.format(type=key.name)
    for at in range(last, first - 1, -1):
        line, start = side.lines[at], side.starts[at]
        if side.changes(rows, at) and (inside := line[max(0, key.start - start) : key.end - start]).strip():
            named = not any(side.changes(rows, before) for before in range(first, at))
            rows[side.rows[at]] = rows[side.rows[at]].replace(inside, mark if named else _MASK_MORE)


def _sides(patch: str, sign: str) -> Iterator[_Side]:
    """Yield each file as it is before ("-") or after ("+") a patch, as far as the patch shows it."""
    for file in patch_files(patch):
        rows = [row for row in file.rows if row.sign in (sign, " ")]
        if rows:
            path = file.old if sign == "-" else file.new
            yield _Side(path, [row.at for row in rows], [row.text for row in rows])
