"""Whether what came to main since a failure may be what the failed work lacked. Pure.

Main has changed a file that the work changes too, or has a name by now that the failure speaks of.
"""

import re

from noface.data import table
from noface.model.failure import Failure
from noface.model.patch import changed_lines, patch_files

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")


def may_supply(failure: Failure, changed: tuple[str, ...], patch: str) -> bool:
    """True if a patch of main's may be what work on the files `changed` lacked when it failed."""
    names, paths = named_in(failure), _paths(patch)
    return not paths.isdisjoint(changed) or not names.isdisjoint(new_names(patch))


def named_in(failure: Failure) -> frozenset[str]:
    texts = (failure.message, failure.location or "", failure.excerpt, *failure.evidence, *failure.failing_tests)
    return _words("\n".join(texts))


def new_names(patch: str) -> frozenset[str]:
    lines = tuple(changed_lines(patch))
    added, removed = (_words("\n".join(line.text for line in lines if line.removed is gone)) for gone in (False, True))
    return (added - removed) | _words("\n".join(_paths(patch)))


def _paths(patch: str) -> frozenset[str]:
    return frozenset(path for file in patch_files(patch) for path in (file.old, file.new) if path)


def _words(text: str) -> frozenset[str]:
    known = table("stop_words")
    common = frozenset(f"{known['words']} {known['of_code']}".split())
    return frozenset(word for word in _WORD.findall(text) if word.lower() not in common)
