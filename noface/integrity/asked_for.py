"""Whether an issue asks for what a change makes of main's tests, of a file's form, or of prose. Pure.

Of tests a model is asked, which says yes to much: its yes counts with a sentence of the issue that speaks of them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from noface.data import pattern, table
from noface.model.issue import Issue
from noface.model.patterns import matches_any
from noface.model.protection import named_exactly

WORDS_MIN = 3
"""A shorter quote stands in any text; a title may be as short as it is."""
NOT_THERE = "this sentence does not stand in the issue word for word"
_WORD = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\d)(?=\D)|(?<=\D)(?=\d)")
_LETTERS_MIN = 3
_NAMED_MAX = 12
_LITERAL = re.compile(r"""(['"`])([^'"`\n]{1,80})\1|(?<![\w.])(\d[\d_,]*(?:\.\d+)?)(?!\w)""")


@dataclass(frozen=True, slots=True)
class Grounds:
    """What an answer on changed tests has to stand on: a person's texts, changed lines, the tests that fail.

    `taken`: tests are gone or ask for less, which the sentence has to speak of.
    """

    texts: tuple[str, ...]
    lines: tuple[str, ...]
    tests: tuple[str, ...]
    taken: bool = False


def unfounded(sentence: str, grounds: Grounds) -> str:
    """Say why a sentence does not show that the issue asks for changed tests; "" if it does."""
    stated = _words(sentence)
    if len(stated) < WORDS_MIN and not (stated and stated in map(_words, grounds.texts)):
        return f"a sentence of at least {WORDS_MIN} words is needed, copied from the issue"
    if not any(stands_in(sentence, text) for text in grounds.texts):
        return NOT_THERE
    theirs = meanings(grounds.lines)
    shared = meanings((sentence,)) & theirs - (meanings(_lists("tests", "goes")) if grounds.taken else frozenset())
    if not (shared or literals((sentence,)) & literals(grounds.lines)):
        of = ", ".join(sorted(theirs)[:_NAMED_MAX])
        return f"this sentence speaks of nothing that the tests' changed lines or names speak of: {of}"
    if grounds.taken and not speak((sentence,), "tests", "goes"):
        return "tests of main are gone or ask for less, and this sentence does not speak of that"
    return ""


def stands_in(quote: str, text: str) -> bool:
    quoted, words = _words(quote), _words(text)
    return bool(quoted) and any(words[at : at + len(quoted)] == quoted for at in range(len(words) - len(quoted) + 1))


def speak(texts: Iterable[str], *lists: str) -> bool:
    """True if texts speak of what takes tests away: of `tests`, or of a part of the product that `goes`."""
    words = frozenset(word for text in _lists(*lists) for word in text.split())
    return any(word in words for text in texts for word in _words(text))


def _lists(*names: str) -> tuple[str, ...]:
    return tuple(str(table("integrity")["asked_for"][name]) for name in names)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def meanings(texts: Iterable[str]) -> frozenset[str]:
    """Return the words of texts that mean something: parts of names, without an s at the end; no words of any text."""
    common = frozenset(
        map(_stem, f"{table('stop_words')['words']} {table('integrity')['asked_for']['common']}".split())
    )
    parts = (part for text in texts for word in _WORD.findall(text) for part in _PARTS.split(word))
    stems = {_stem(part.casefold()) for part in parts}
    return frozenset(stem for stem in stems if len(stem) >= _LETTERS_MIN or stem.isdigit()) - common


def literals(texts: Iterable[str]) -> frozenset[str]:
    """Return what stands in quotes or backquotes in texts, and their numbers, `1,000` as 1000."""
    found = (match for text in texts for match in _LITERAL.finditer(text))
    return frozenset(match[2] or re.sub("[,_]", "", match[3]).rstrip(".") for match in found)


def _stem(word: str) -> str:
    return word.removesuffix("s") if len(word) > _LETTERS_MIN else word


def words_of(issue: Issue) -> tuple[str, ...]:
    return (issue.title, issue.body)


def asks_for(what: str, texts: Iterable[str]) -> bool:
    """True if a text speaks of `what`, a section of integrity.toml: of the form of files, or of prose."""
    wanted = pattern("integrity", what, "asked", re.IGNORECASE)
    return any(wanted.search(text) for text in texts)


def names_file(issue: Issue, path: str) -> bool:
    """True if an issue names a file: its path, its name, or its name without what follows the first dot."""
    if matches_any(path, (*named_exactly(issue), *issue.may_change)):
        return True
    name = path.rpartition("/")[2]
    stem = name.partition(".")[0]
    names = re.escape(name) + (f"|{re.escape(stem)}" if len(stem) >= _LETTERS_MIN else "")
    named = re.compile(rf"(?<!\w)(?:{names})(?!\w)", re.IGNORECASE)
    return any(named.search(text) for text in words_of(issue))
