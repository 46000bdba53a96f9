"""Chooses the files of the project that may help a worker who was unsure (K3, P7: associative matching).

First files that are named; else those that hold the words of the title and of what the worker asked. A score is the
share of the words in path or text, each weighing the more the fewer files have it.
"""

import math
import re
from collections.abc import Callable, Iterable

from noface.data import table
from noface.model.failure import Failure
from noface.model.issue import Issue

Search = Callable[[str], frozenset[str]]
"""Returns the files in whose text a word stands, in any case."""

_PATH = re.compile(r"[\w./@+-]{2,200}")
_WORD = re.compile(r"[A-Za-z][a-z]{2,40}|[A-Z]{3,40}")
_TEXT_MAX = 50_000
_WORDS_MAX = 8
_STEM_MIN = 3
_LEAST_SCORE = 0.2
_NEAR_THE_BEST = 0.5
_COMMON = 0.5
"""A word that stands in more than this share of the files tells nothing."""


ContextFile = tuple[str, tuple[str, ...]]
"""A file that may help: its path, and the words that it was found by; none if it was named."""


def context_files(
    issue: Issue, failure: Failure | None, named: tuple[str, ...], tracked: tuple[str, ...], most: int, search: Search
) -> tuple[ContextFile, ...]:
    """Return up to `most` of the `tracked` paths, best first. `named` are those that advice names."""
    failed = "\n".join((failure.location or "", failure.message, *failure.evidence)) if failure is not None else ""
    if meant := named_exactly(("\n".join(named), failed, issue.title, issue.body), tracked):
        return tuple((path, ()) for path in meant)[:most]
    asked = "\n".join(failure.questions) if failure is not None else ""
    return _by_words(stems(f"{issue.title}\n{asked}"), tracked, search)[:most]


def named_exactly(texts: Iterable[str], tracked: tuple[str, ...]) -> tuple[str, ...]:
    """Return the `tracked` paths that texts name: in full, or by a file's name if no other file has it."""
    known, by_name = set(tracked), dict[str, list[str]]()
    for path in tracked:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    named: list[str] = []
    for word in (word.strip("./") for text in texts for word in _PATH.findall(text[:_TEXT_MAX])):
        if word in known:
            named.append(word)
        elif "." in word and len(alike := by_name.get(word.rpartition("/")[2], [])) == 1:
            named.append(alike[0])
    return tuple(dict.fromkeys(named))


def stems(text: str) -> tuple[str, ...]:
    common = frozenset(table("stop_words")["words"].split())
    words = (word.lower() for word in _WORD.findall(text[:_TEXT_MAX]))
    return tuple(dict.fromkeys(_stem(word) for word in words if word not in common))[:_WORDS_MAX]


def _stem(word: str) -> str:
    endings: list[str] = table("stop_words")["endings"]
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_MIN + (ending != "s"):
            return word.removesuffix(ending)
    return word


def _by_words(words: tuple[str, ...], tracked: tuple[str, ...], search: Search) -> tuple[ContextFile, ...]:
    known = frozenset(tracked)
    by_word = {word: search(word) & known | {path for path in tracked if word in path.lower()} for word in words}
    # Of two or three files a word may be in most, and tell something all the same.
    telling = {word: paths for word, paths in by_word.items() if len(paths) <= max(2, _COMMON * len(tracked))}
    weights = {word: math.log(1 + len(tracked) / max(1, len(paths))) for word, paths in telling.items()}
    total = sum(weights.values())
    if not total:
        return ()
    found = {p: tuple(word for word, paths in telling.items() if p in paths) for p in set().union(*telling.values())}
    scores = {path: sum(weights[word] for word in own) / total for path, own in found.items()}
    enough = max(_LEAST_SCORE, _NEAR_THE_BEST * max(scores.values(), default=0))
    best = sorted(scores, key=lambda path: (-scores[path], len(path), path))
    return tuple((path, found[path]) for path in best if scores[path] >= enough)
