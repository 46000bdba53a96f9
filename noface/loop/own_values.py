"""Finds the values of secrets that a project holds itself: a change that repeats one tells nothing new (I12).

A variable such as SONAR_PROJECT_KEY may have the name of a folder as its value.
"""

from noface.core.attempt import Snapshot
from noface.core.masked_records import named_anew
from noface.git.plumbing import occurring
from noface.loop.workshop import Workshop


def own_values(shop: Workshop, main: str, snapshot: Snapshot, patch: bytes = b"") -> frozenset[str]:
    """Return which of the values that a change seems to add stand on `main`: in the name of a file, or in a file.

    What the patch against main removes stands there. Git is asked only for others.
    """
    added, removed = shop.masker.added(patch, named_anew(snapshot)), shop.masker.removed(patch)
    return (added & removed) | occurring(shop.plumbing, main, added - removed)
