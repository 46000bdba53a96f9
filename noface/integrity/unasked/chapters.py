"""All that may be done beyond what was asked, chapter by chapter."""

from collections.abc import Sequence

from noface.integrity.asked_for import words_of
from noface.integrity.unasked.contents import contents
from noface.integrity.unasked.finding import Changed, Chapter, Ground, Unasked

CHAPTERS: tuple[Chapter, ...] = (contents,)


def find_unasked(files: Sequence[Changed], ground: Ground) -> tuple[Unasked, ...]:
    """Return what the chapters find, but for rows that the issue asks for by its words."""
    words = "\n".join(words_of(ground.issue))
    found = (each for chapter in CHAPTERS for each in chapter(files, ground))
    return tuple(each for each in found if not each.is_asked(words))
