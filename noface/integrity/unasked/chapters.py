"""All that may be done beyond what was asked, chapter by chapter."""

from collections.abc import Iterable, Sequence

from noface.integrity.unasked.checks import checks
from noface.integrity.unasked.contents import contents
from noface.integrity.unasked.finding import Changed, Chapter, Ground, Right, Unasked
from noface.integrity.unasked.gone import gone
from noface.integrity.unasked.in_place_of import in_place_of
from noface.integrity.unasked.kinds import kinds
from noface.integrity.unasked.machine import machine
from noface.integrity.unasked.measures import measures

CHAPTERS: tuple[Chapter, ...] = (contents, kinds, machine, gone, checks, in_place_of, measures)


def find_unasked(files: Sequence[Changed], ground: Ground) -> tuple[Unasked, ...]:
    """Return what the chapters find, but for rows that the issue asks for by its words."""
    found = (each for chapter in CHAPTERS for each in chapter(files, ground))
    return tuple(each for each in found if not ground.asks_for(each.row))


def together(found: Iterable[Unasked]) -> dict[str, Right | None]:
    """Return how all of it is put right, by paths; None removes a file."""
    result: dict[str, Right | None] = {}
    for path, right in (item for one in found for item in one.right.items()):
        mode, data = result.get(path) or ("", None)
        result[path] = right and (right[0] or mode, data if right[1] is None else right[1])
    return result
