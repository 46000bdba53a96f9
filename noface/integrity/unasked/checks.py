"""Checks that a change drops by the way: of rights, and of what a function is given. Pure.

As many as before in other words, or elsewhere, are as many checks: only what is fewer is told.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from noface.data import pattern
from noface.integrity.asked_for import meanings, words_of
from noface.integrity.tampering import is_code
from noface.integrity.unasked.definitions import Text, definitions, language_of, texts_of
from noface.integrity.unasked.finding import Changed, Ground, Unasked

Sides = tuple[list[str], list[str], list[str]]
_CHANGED_MAX = 8
"""A body that loses more lines is another one."""
_NAME = re.compile(r"(?<!\w)(?:[A-Z][a-z]+[A-Z]\w*|[A-Z]{2,}(?:_[A-Z\d]+)*|[a-z]+_\w+)(?!\w)")
_LIST = re.compile(r"\bonly\b|%[iw]\[|\b(?:methods|roles|scopes)\b\W{0,4}\[")
_MARK = re.compile(r"@\w|\[\w|#\[")
_SAYS = re.compile(
    r"^(?:#(?!\[)|//|/?\*|--|skip_|@\w*exempt|\W*(?:AllowAnonymous|PermitAll)|import\b|from\b|use\b"
    r"|(?:async )?def\b|(?:export )?function\b|func\b|(?:pub )?fn\b|assert)"
)


def checks(files: Sequence[Changed], ground: Ground) -> Iterator[Unasked]:
    """Yield the checks that a change drops."""
    texts = [each for each in texts_of(files) if each.product and is_code(each.path)]
    words = words_of(ground.issue)
    for row, sides in (("rights", _lines), *([] if ground.removes else [("input", _of_definitions)])):
        both = {each.path: [[line for line in side if _is(row, line)] for side in sides(each)] for each in texts}
        fewer = sum(len(lost) for lost, *_ in both.values()) > sum(len(gained) for _, gained, _ in both.values())
        now = (line for each in texts for line in each.new.split("\n"))
        left = _named("\n".join(line for line in now if _is(row, line.strip())))
        for text in texts:
            (lost, gained, few), there = both[text.path], {line.strip() for line in text.new.split("\n")}
            by_name = [line for line in lost if _named(line) - left or _narrowed(line, gained, there)]
            stays = there if row == "input" else ()  # one rule of rights is written above each function
            told = [line for line in few if line not in stays] if fewer and few else by_name
            if lines := [line for line in told if not _speak_of(row, words, line)]:
                yield Unasked(row, text.path, tuple(dict.fromkeys(lines)))


def _named(text: str) -> frozenset[str]:
    """Return the names that tell what a check is about: of an error, of a limit; no words of its message."""
    return frozenset(_NAME.findall(text))


def _narrowed(lost: str, gained: Sequence[str], there: Collection[str]) -> bool:
    """True if a check stays for a shorter list, and what it is not for any more is still there."""
    words = re.findall(r"\w+", lost)
    others = (re.findall(r"\w+", line) for line in gained if _LIST.search(line) and _LIST.search(lost))
    missing = {word for other in others if other[:2] == words[:2] for word in words if word not in other}
    return any(missing & set(re.findall(r"\w+", line)) for line in there)


def _speak_of(row: str, words: Sequence[str], lost: str) -> bool:
    """True if an issue speaks of what a check that is gone is about."""
    if row == "input":
        return bool(meanings([lost]) & meanings(words))
    loosens = pattern("unasked", "checks", "loosens", re.IGNORECASE)  # "only its owner may" does not
    said = filter(loosens.search, re.split(r"[.!?\n]", "\n".join(words)))
    return bool(meanings(pattern("unasked", "checks", "words", re.IGNORECASE).findall(lost)) & meanings(said))


def _is(row: str, line: str) -> bool:
    return not _SAYS.match(line) and pattern("unasked", "checks", row, re.IGNORECASE).search(line[:400]) is not None


def _lines(text: Text) -> Sides:
    before, after = definitions(text.path, text.old) or {}, definitions(text.path, text.new) or {}
    gone = [before[name] for name in before.keys() - after.keys()]
    whole = Counter(line for each in gone for line in (each.head, *each.body))
    whole += Counter(_marks(text.old, {each.head for each in gone}))
    lost = [*(text.lost - whole).elements()] if text.both else []
    return lost, [*text.gained.elements()], lost


def _marks(text: str, heads: Collection[str]) -> Iterator[str]:
    """Yield the decorators and annotations of definitions."""
    marks = list[str]()
    for line in map(str.strip, text.split("\n")):
        if line in heads:
            yield from marks
        marks = [*marks, line] if _MARK.match(line) else []


def _of_definitions(text: Text) -> Sides:
    """Return what definitions that stay lose, what they and new ones gain, and what those lose that lose little."""
    if language_of(text.path) == "shell":  # a script checks before it works, outside of any function
        return _lines(text)
    before, after = definitions(text.path, text.old) or {}, definitions(text.path, text.new) or {}
    lost, few = list[str](), list[str]()
    gained = [line for name in after.keys() - before.keys() for line in after[name].body]
    for name in before.keys() & after.keys() if text.both else ():
        was, now = Counter(before[name].body), Counter(after[name].body)
        gained += (now - was).elements()
        lost += (was - now).elements()
        few += (was - now).elements() if (was - now).total() <= _CHANGED_MAX else ()
    return lost, gained, few
