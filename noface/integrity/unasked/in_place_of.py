"""What stands in place of code: comments that say that the rest is as it was, bodies that are to come. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from noface.data import pattern
from noface.integrity.asked_for import words_of
from noface.integrity.judges import Part, part_of
from noface.integrity.rubbish import is_generated
from noface.integrity.tampering import is_code
from noface.integrity.unasked.definitions import Definition, definitions, telling
from noface.integrity.unasked.finding import Changed, Ground, Unasked

_LINE_CHARS_MAX = 200
_LOST_MIN = 3
_LINES_MAX = 10
_COMMENT = re.compile(r"^(?:#(?![\[!])|//|/?\*|--|;|\"\"\")")


def _names(key: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return pattern("unasked", "in_place_of", key, flags)


def in_place_of(files: Sequence[Changed], ground: Ground) -> Iterator[Unasked]:
    """Yield the comments of omission and the stubs that a change writes in place of code."""
    words = "\n".join(words_of(ground.issue))
    for file in files:
        if file.new is None or b"\0" in file.new or is_generated(file.path):
            continue
        old, new = ((data or b"").decode("utf-8", "replace") for data in (file.old, file.new))
        if file.old is not None and (left := [*_omissions(old.split("\n"), new.split("\n"))]):
            yield Unasked("omission", file.path, tuple(left[:_LINES_MAX]))
        if is_code(file.path) and part_of(file.path) in (Part.PRODUCT, Part.SOFT):
            before, after = definitions(file.path, old) or {}, definitions(file.path, new) or {}
            stubs = [one.head for one in after.values() if is_stub(one) and _is_work(one, before.get(one.name), words)]
            if stubs:
                yield Unasked("stub", file.path, tuple(stubs[:_LINES_MAX]))
        if names := [*_declared(file.path, old, new, files, ground)]:
            yield Unasked("declared", file.path, tuple(names[:_LINES_MAX]))


def _omissions(old: list[str], new: list[str]) -> Iterator[str]:
    """Yield the new comments by which code is left out; of dots alone, where lines are gone."""
    known, fewer = {line.strip() for line in old}, len(telling(old)) - len(telling(new)) >= _LOST_MIN
    lost = (Counter(telling(old)) - Counter(telling(new))).total()
    for line in (each.strip()[:_LINE_CHARS_MAX] for each in new):
        if line in known or not _names("comment").search(line):
            continue
        least = 1 if "..." in line or "…" in line else _LOST_MIN
        if (lost >= least and _names("omission").search(line)) or (fewer and _names("dots").search(line)):
            yield line


def is_stub(one: Definition) -> bool:
    """True if a body only says that it is to come."""
    lines = (re.sub(r"/\*[^*\n]{0,200}\*/", "", line).strip() for line in one.body)
    code = [each.strip() for line in lines if not _COMMENT.match(line) for each in line.strip("{}").split(";")]
    says_so = any(_names("stub", 0).search(line) for line in one.body)
    return says_so and all(_names("stub_line", 0).search(line) for line in code if line)


def _is_work(one: Definition, before: Definition | None, words: str) -> bool:
    """True if a definition had a body on main, or is new and the issue names it, other than by a word of English."""
    if before is None:
        name = re.escape(one.name)
        as_code = rf"`[^`\n]*(?<!\w){name}(?!\w)[^`\n]*`|(?<!\w){name}\("
        plain = one.name.isalpha() and one.name.islower()
        return re.search(as_code if plain else rf"(?<!\w){name}(?!\w)", words) is not None
    return not is_stub(before) and len(before.body) > 0


def _may_define(path: str) -> bool:
    declares = pattern("unasked", "declared", "files").search(path)
    return is_code(path) and part_of(path) is not Part.TEST and declares is None


def _declared(path: str, old: str, new: str, files: Sequence[Changed], ground: Ground) -> Iterator[str]:
    declares = pattern("unasked", "declared", "files").search
    lines = {*new.split("\n")} - {*old.split("\n")} if declares(path) else ()
    matches = (pattern("unasked", "declared", "lines").search(line[:_LINE_CHARS_MAX]) for line in lines)
    for name in sorted({name for match in matches if match for name in match.groups() if name}):
        word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])".encode())
        defines = [path for path in ground.holding((name,)) if _may_define(path)]
        if not defines and not any(word.search(file.new or b"") for file in files if _may_define(file.path)):
            yield name
