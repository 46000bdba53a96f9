"""Chooses the files of the project that may help a worker who was unsure (K3, P7: associative matching).

First the files that are named as they are: by whoever was asked, in the failure, in the issue. Where that finds
nothing, once more by name alone and by words of the issue's title, with the share of its words as a score.
"""

import re

from noface.model.failure import Failure
from noface.model.issue import Issue

_PATH = re.compile(r"[\w./@+-]{2,200}")
_WORD = re.compile(r"[a-z]{4,40}")
_TEXT_MAX = 50_000
_LEAST_SCORE = 0.34


def context_files(
    issue: Issue, failure: Failure | None, named: tuple[str, ...], tracked: tuple[str, ...], most: int
) -> tuple[str, ...]:
    """Return up to `most` of the `tracked` paths, best first. `named` are those that advice names."""
    failed = "\n".join((failure.location or "", failure.message, *failure.evidence)) if failure is not None else ""
    texts = ("\n".join(named), failed, issue.title, issue.body)
    words = [word.strip("./") for text in texts for word in _PATH.findall(text[:_TEXT_MAX])]
    known = set(tracked)
    exact = tuple(dict.fromkeys(word for word in words if word in known))
    if exact:
        return exact[:most]
    by_name: dict[str, list[str]] = {}
    for path in tracked:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    close = tuple(dict.fromkeys(path for word in words for path in by_name.get(word.rpartition("/")[2], ())[:2]))
    return close[:most] or _by_words(issue, tracked)[:most]


def _by_words(issue: Issue, tracked: tuple[str, ...]) -> tuple[str, ...]:
    wanted = set(_WORD.findall(issue.title.lower()))
    if not wanted:
        return ()
    matches = ((len(wanted & set(_WORD.findall(path.lower()))) / len(wanted), path) for path in tracked)
    good = [(score, path) for score, path in matches if score >= _LEAST_SCORE]
    return tuple(path for _, path in sorted(good, key=lambda match: (-match[0], len(match[1]), match[1])))
