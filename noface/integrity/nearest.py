"""Which tests a change concerns most: those that name what it changes, rare names first. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Iterable

from noface.integrity.strength import Body
from noface.integrity.uses import word_of
from noface.model.patch import patch_files

_NAME = re.compile(r"[A-Za-z_]\w*+")
_LINE_CHARS_MAX = 2_000


def changed_names(patch: str, paths: Collection[str]) -> frozenset[str]:
    """Return the names in a patch of these files: its lines and those around them, the functions, the files.

    `paths` are as `patch.decoded` has them.
    """
    files = [file for file in patch_files(patch) if {file.old, file.new} & set(paths)]
    lines = [row.text[:_LINE_CHARS_MAX] for file in files for row in file.rows]
    lines += [path for file in files for path in (file.old, file.new)]
    return frozenset({*map(word_of, paths), *(name for line in lines for name in _NAME.findall(line))})


def nearest(tests: Iterable[Body], names: frozenset[str], most: int) -> tuple[Body, ...]:
    """Return the tests that name most of what is changed, at most so many; a name that many tests hold says little."""
    words = {id(body): (body, names & body.words.keys()) for body in tests}
    spread = Counter(word for _, held in words.values() for word in held)
    scores = ((sum(1 / spread[word] for word in held), body) for body, held in words.values() if held)
    return tuple(body for _, body in sorted(scores, key=lambda each: -each[0])[:most])
