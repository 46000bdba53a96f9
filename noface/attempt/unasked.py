"""Holds a change against main for what nobody asked for: what can be put right is, the rest is told or asked."""

import getpass
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from noface.attempt.attempt import Judging
from noface.git.landings import brought_since
from noface.git.plumbing import entries_before, store_text
from noface.git.stored import LINK_MODE, Entry
from noface.integrity.asked_for import meanings, speak, words_of
from noface.integrity.judges import Part, part_of
from noface.integrity.tampering import is_code
from noface.integrity.unasked.chapters import find_unasked, together
from noface.integrity.unasked.definitions import definitions
from noface.integrity.unasked.finding import LEFT_OUT, Brought, Changed, Ground, Held, Right, Unasked
from noface.model.attempt import ABSENT, UNASKED, UNTESTED
from noface.model.issue import Issue
from noface.model.patch import decoded
from noface.model.quoting import one_line, some

_FILE_BYTES_MAX = 2_000_000
_TOTAL_BYTES_MAX = 64_000_000
_SHOWN_MAX = 5
_LINE_CHARS_MAX = 200
_NIGHT_S = 24 * 3600.0


def unasked_in(attempt: Judging) -> tuple[Unasked, ...]:
    """Return what the change does beyond what its issue asks for."""
    plumbing, main, left = attempt.plumbing, attempt.order.main, _TOTAL_BYTES_MAX
    with plumbing.blobs() as blobs:

        def held(mode: str, oid: str) -> bytes | None:
            nonlocal left
            if mode in (ABSENT, LINK_MODE):
                return oid.encode() if mode == LINK_MODE else None
            data = blobs.read(oid, min(_FILE_BYTES_MAX, left))
            left -= len(data or b"")
            return data

        def content(path: str) -> Held | None:
            entry = plumbing.entries(main, (path,)).get(path)
            data = held(*entry) if entry is not None else None
            return (entry[0], data) if entry is not None and data is not None else None

        files = [
            Changed(c.path, held(c.old_mode, c.old_oid), held(c.new_mode, c.new_oid), c.old_mode, c.new_mode)
            for c in attempt.change.files
        ]
        names, on_main = tuple(_machine_names(str(attempt.env.slots_dir))), plumbing.whole(main).paths
        tonight = brought_since(plumbing, main, attempt.env.clock.now() - _NIGHT_S)

        def brought(path: str) -> list[Brought]:
            others = [each for each in tonight.get(path, ()) if not _of_one_whole(each[0], attempt.issue)]
            blobs = [(held("", old) or b"", held("", new) or b"") for _, _, old, new in others]
            texts = [[data.decode("utf-8", "replace") for data in pair] for pair in blobs]
            named = [f"issue {issue}, {title}" if issue else title for issue, title, _, _ in others]
            return [Brought(by, *pair) for by, pair in zip(named, texts, strict=True)]

        with_main = partial(plumbing.files_with, main)
        ground = Ground(attempt.issue, on_main, with_main, content, names, brought)
        return find_unasked(files, ground)


def _of_one_whole(landed: str, issue: Issue) -> bool:
    """True if what landed is of the same issue, or of another part of the issue that this one is a part of."""
    whole = issue.parent or issue.id
    return landed in (issue.id, whole) or landed.startswith(f"{whole}.")


def names_gone(attempt: Judging) -> tuple[str, ...]:
    """Return what product code of main defines and the change defines nowhere, if its issue speaks of no such thing."""
    words = words_of(attempt.issue)
    known = "\n".join(words).casefold()
    lost = _only_in(attempt, attempt.order.main, attempt.snapshot.candidate_tree) if not speak(words, "goes") else ()
    return tuple(name for name in lost if name.casefold() not in known)


def new_untested(attempt: Judging) -> tuple[str, ...]:
    """Return the note on what a change defines that no `accept` of its issue and no test of its own looks at."""
    if attempt.issue.accept or any(part_of(change.path) is Part.TEST for change in attempt.change.files):
        return ()
    names = _only_in(attempt, attempt.snapshot.candidate_tree, attempt.order.main)
    return (f"{UNTESTED}: {some(names, _SHOWN_MAX)}",) if names else ()


def _only_in(attempt: Judging, side: str, other: str) -> tuple[str, ...]:
    paths = tuple(change.path for change in attempt.change.files if is_code(change.path))
    here, there = (attempt.plumbing.texts(each, paths, _FILE_BYTES_MAX) for each in (side, other))
    known = {name for path, text in there.items() for name in definitions(path, text) or ()}
    product = {path: text for path, text in here.items() if part_of(path) is Part.PRODUCT}
    names = dict.fromkeys(name for path, text in product.items() for name in definitions(path, text) or ())
    return tuple(name for name in names if name not in known)


def _machine_names(slots: str) -> Iterator[str]:
    """Yield what tells this machine: the folder of its workspaces as named and as reached, the home, user and host."""
    yield from (slots, os.path.realpath(slots))
    home = str(Path.home())
    if home.count("/") > 1:  # `/root` may be any container's
        yield home
    with suppress(OSError, KeyError):
        yield f"{getpass.getuser()}@{socket.gethostname()}"


def put_right(attempt: Judging) -> tuple[tuple[Unasked, ...], Mapping[str, Entry | None]]:
    """Return what can be put right now, and how: what has a mend of its own, and what is left out if it is done again.

    Nothing, if nothing of the work were left: then it is what the worker meant.
    """
    by_path = {change.path: change for change in attempt.change.files}
    again = attempt.reminded is not None
    done = tuple(one for one in attempt.unasked if (one.right if one.then != LEFT_OUT else again))
    if not done:
        return (), {}
    plumbing, tree = attempt.plumbing, attempt.snapshot.candidate_tree
    right = together(done)
    now = plumbing.entries(tree, tuple(right))
    entries = {path: _entry(attempt, to_be, now.get(path)) for path, to_be in right.items()}
    entries |= entries_before(by_path[one.path] for one in done if not one.right and one.path in by_path)
    return (done, entries) if plumbing.tree_with(tree, entries) != plumbing.tree(attempt.order.main) else ((), {})


def _entry(attempt: Judging, right: Right | None, now: Entry | None) -> Entry | None:
    if right is None:
        return None
    mode, data = right
    mode = mode or (now[0] if now is not None else "")
    if data is None:
        return (mode, now[1]) if now is not None else None
    return mode, data.decode() if mode == LINK_MODE else store_text(attempt.plumbing, data)


def doubts_of(attempt: Judging, *, accepted: bool = False) -> tuple[str, ...]:
    """Return what a person has to say yes to before the work lands; or what is `accepted` once its worker was told."""
    # What its worker speaks of besides what the issue does.
    report, agent = attempt.work.report, attempt.work.agent
    words = report.summary if report is not None else agent.answer or agent.last_words
    said = meanings((words,)) - meanings(words_of(attempt.issue))
    asked = tuple(told(one) for one in attempt.unasked if _is_accepted(one, said) is accepted)
    return (f"{UNASKED}: {some(asked, _SHOWN_MAX, _LINE_CHARS_MAX)}",) if asked else ()


def _is_accepted(one: Unasked, said: frozenset[str]) -> bool:
    return one.then == "tell" or (one.then == "say" and bool(meanings(one.lines) & said))


def told(one: Unasked) -> str:
    lines = some(tuple(one_line(line, _LINE_CHARS_MAX) for line in one.lines), _SHOWN_MAX)
    return f"{decoded(one.path)}: {one.what}{f' ({lines})' if lines else ''}"
