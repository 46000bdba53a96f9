"""Chooses the files of the project that may help a worker who was unsure (K3, P7: associative matching).

First the files that are named as they are: by whoever was asked, in the failure, in the issue. Where that finds
nothing, once more by name alone and by words of the issue's title, with the share of its words as a score.
"""

import re
from dataclasses import dataclass

from noface.core.failure import Failure
from noface.core.issue import Issue

_PATH = re.compile(r"[\w./@+-]{2,200}")
_WORD = re.compile(r"[a-z]{4,40}")
_TEXT_MAX = 50_000
_LEAST_SCORE = 0.34


@dataclass(frozen=True, slots=True)
class Matched:
    """The files found, best first. `retried`: nothing was named; `score` (0 to 1) says how well the best one fits."""

    paths: tuple[str, ...]
    retried: bool = False
    score: float = 1.0


def context_files(
    issue: Issue, failure: Failure | None, named: tuple[str, ...], tracked: tuple[str, ...], most: int
) -> Matched:
    """Return up to `most` of the `tracked` paths. `named` are those that a clarification or the like named."""
    told = "\n".join((failure.location or "", failure.message, *failure.evidence)) if failure is not None else ""
    texts = ("\n".join(named), told, issue.title, issue.body)
    words = [word.strip("./") for text in texts for word in _PATH.findall(text[:_TEXT_MAX])]
    known = set(tracked)
    exact = tuple(dict.fromkeys(word for word in words if word in known))
    if exact:
        return Matched(exact[:most])
    by_name: dict[str, list[str]] = {}
    for path in tracked:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    close = tuple(dict.fromkeys(path for word in words for path in by_name.get(word.rpartition("/")[2], ())[:2]))
    if close:
        return Matched(close[:most], retried=True, score=0.5)
    return _by_words(issue, tracked, most)


def _by_words(issue: Issue, tracked: tuple[str, ...], most: int) -> Matched:
    wanted = set(_WORD.findall(issue.title.lower()))
    scored = []
    for path in tracked:
        found = wanted & set(_WORD.findall(path.lower()))
        if found:
            scored.append((len(found) / len(wanted), path))
    scored.sort(key=lambda pair: (-pair[0], len(pair[1]), pair[1]))
    good = [(score, path) for score, path in scored if score >= _LEAST_SCORE]
    if not good:
        return Matched((), retried=True, score=0.0)
    return Matched(tuple(path for _, path in good[:most]), retried=True, score=round(good[0][0], 2))
