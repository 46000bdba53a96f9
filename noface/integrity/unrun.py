"""Test files of main whose tests no gate ran: whoever thinks that a gate runs all tests learns that it does not. Pure.

Only files that are named as those that ran count (`test_a.py` where a gate ran `test_b.py`, `x.spec.ts` where it ran
`y.spec.ts`): a folder of tests holds much else. What the ids of tests say nothing of (a runner that names no files)
is not told.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping

_MARK = re.compile(r"^(?P<before>test_)|(?P<after>_test|[.-](?:test|spec))$", re.IGNORECASE)


def unrun(ran: Mapping[str, Iterable[str]], on_main: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return for each gate the files of main, named as those it ran, of which no gate ran a test.

    `ran` are the ids of each gate's tests, which begin with a file's path where the runner tells it.
    """
    paths = frozenset(on_main)
    files = {gate: {test.partition("::")[0] for test in tests} & paths for gate, tests in ran.items()}
    left = paths.difference(*files.values())
    result: dict[str, tuple[str, ...]] = {}
    for gate, own in files.items():
        shapes = {shape for path in own if (shape := _shape(path))}
        result[gate] = tuple(sorted(path for path in left if _shape(path) in shapes))
        left = left.difference(result[gate])
    return result


def _shape(path: str) -> tuple[str, str] | None:
    """Return what in a file's name says that it holds tests, and its suffix; None if nothing does."""
    stem, suffix = posixpath.splitext(posixpath.basename(path))
    mark = _MARK.search(stem)
    return (mark[0].lower(), suffix) if mark is not None else None
