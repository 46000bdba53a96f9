"""What noface answers on a pull request once a round is done: in each thread, and who is asked for a review. Pure.

What was done is told by the commit and the files that it changes; what the worker says of it stands below as its words.
A worker labels them: a line of its summary that begins with `r1:` is about the point with that label.
"""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from noface.model.markdown import code, plain, quote
from noface.recovery.pull_rounds import Followed, PullSeen, is_answered

_LABELLED = re.compile(r"\s{0,20}[-*]?\s{0,20}\[?(r\d{1,3})\]?\s{0,20}:\s{0,20}(\S.*)")
_SHOWN_CHARS_MAX = 4_000


Reply = tuple[int, str, str]
"""What is said to one reviewer: in the thread of which comment (0: on the pull request), its marker, and the text."""


def replies_of(
    followed: Followed, summary: str, changed: Collection[str], *, pushed: bool, clean: Callable[[str], str]
) -> tuple[tuple[Reply, ...], tuple[str, ...]]:
    """Return what is said once the newest round is answered, nothing twice, and who is asked for a review again."""
    seen = followed.seen
    if not seen.points or not is_answered(followed):
        return refusals_of(followed), ()
    answers, rest = _words(clean(summary))
    threads = [label for label, thread, _, _ in seen.points if thread]
    replies = list(_in_threads(followed, answers, rest if len(threads) == 1 else "", changed, pushed=pushed))
    asked = dict.fromkeys(author for _, thread, _, author in seen.points if not thread)
    if asked and not pushed:
        names = " ".join(f"@{name}" for name in asked)
        words = quote(rest or summary) or "Its worker has found nothing to change, and says no more."
        marker = _marker("answer", followed)
        replies.append((0, marker, f"{names} Nothing was changed by attempt {followed.attempt}.\n\n{words}"))
    reviewers = dict.fromkeys(author for *_, author in seen.points)
    return (*refusals_of(followed), *replies), tuple(reviewers)


def is_quiet(followed: Followed) -> bool:
    """True if a round needs no comment of its own: each who asked saw eyes, and is answered in a thread."""
    seen = followed.seen
    return not seen.said and bool(seen.points) and all(thread for _, thread, _, _ in seen.points)


def after_replies(followed: Followed, note: str, refused: Collection[tuple[str, str]], *, answered: bool) -> PullSeen:
    seen = replace(followed.seen, said=note or followed.seen.said)
    seen = replace(seen, refused=tuple(each for each in seen.refused if each not in refused))
    if not answered:
        return seen
    quiet = is_quiet(followed) and not note
    return replace(seen, points=(), answering="" if quiet else seen.answering)


def refusals_of(followed: Followed) -> tuple[Reply, ...]:
    return tuple((0, f"<!-- noface:reply to {key} -->", text) for key, text in followed.seen.refused)


def _in_threads(
    followed: Followed, answers: dict[str, str], rest: str, changed: Collection[str], *, pushed: bool
) -> Iterator[Reply]:
    for label, thread, path, _ in followed.seen.points:
        if not thread:
            continue
        if not pushed:
            done = f"Nothing was changed by attempt {followed.attempt}."
        elif path in changed:
            done = f"Answered with {followed.head[:12]}, which changes {code(path)}."
        else:
            done = f"Answered with {followed.head[:12]}, which leaves {code(path)} as it was."
        words = quote(answers.get(label) or rest)
        yield thread, _marker(label, followed), f"{done}\n\n{words}" if words else done


def _words(summary: str) -> tuple[dict[str, str], str]:
    result: dict[str, str] = {}
    rest = []
    for line in summary[:_SHOWN_CHARS_MAX].splitlines():
        match = _LABELLED.match(line)
        if match:
            result[match[1]] = " ".join(filter(None, (result.get(match[1], ""), match[2].strip())))
        else:
            rest.append(line)
    return result, "\n".join(rest).strip()


def _marker(what: str, followed: Followed) -> str:
    return f"<!-- noface:reply {plain(what)} {followed.attempt} -->"
