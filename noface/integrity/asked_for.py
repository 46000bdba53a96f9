"""Whether an issue asks for what a change makes of main's tests: what noface itself holds of a model's answer. Pure.

A model says yes to much. So a yes counts only with a sentence of the issue, and noface looks whether that stands there,
word for word, in what a person wrote, and whether it speaks of what the tests are about: it has to share a word that
means something with the lines that the change alters in them, or with the names of those that fail.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from noface.data import table

WORDS_MIN = 3
"""A shorter quote stands in any text; a title may be as short as it is."""
_WORD = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\d)(?=\D)|(?<=\D)(?=\d)")
_LETTERS_MIN = 3


@dataclass(frozen=True, slots=True)
class Grounds:
    """What an answer on changed tests has to stand on.

    `texts` are what a person wrote of the issue: title, text, notes. `lines` are the changed lines of the tests and the
    names of those that fail, `tests` the latter alone.
    """

    texts: tuple[str, ...]
    lines: tuple[str, ...]
    tests: tuple[str, ...]


def unfounded(sentence: str, grounds: Grounds) -> str:
    """Say why a sentence does not show that the issue asks for changed tests; "" if it does."""
    texts, said = [_words(text) for text in grounds.texts], _words(sentence)
    if len(said) < WORDS_MIN and not (said and said in texts):
        return f"a sentence of at least {WORDS_MIN} words is needed, copied from the issue"
    if not any(_holds(text, said) for text in texts):
        return "this sentence does not stand in the issue word for word"
    if not meanings((sentence,)) & meanings(grounds.lines):
        return "this sentence speaks of nothing that the tests' changed lines or names speak of"
    return ""


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _holds(text: list[str], said: list[str]) -> bool:
    return any(text[at : at + len(said)] == said for at in range(len(text) - len(said) + 1))


def meanings(texts: Iterable[str]) -> frozenset[str]:
    """Return the words of texts that mean something: parts of names, without an s at the end; no words of any text."""
    common = frozenset(
        map(_stem, f"{table('stop_words')['words']} {table('integrity')['asked_for']['common']}".split())
    )
    parts = (part for text in texts for word in _WORD.findall(text) for part in _PARTS.split(word))
    stems = {_stem(part.casefold()) for part in parts}
    return frozenset(stem for stem in stems if len(stem) >= _LETTERS_MIN or stem.isdigit()) - common


def _stem(word: str) -> str:
    return word.removesuffix("s") if len(word) > _LETTERS_MIN else word
