"""All that may be done beyond what was asked, chapter by chapter."""

from collections.abc import Iterable, Sequence

from noface.data import table
from noface.integrity.asked_for import names_file
from noface.integrity.unasked.checks import checks
from noface.integrity.unasked.contents import contents
from noface.integrity.unasked.finding import Changed, Chapter, Ground, Right, Unasked
from noface.integrity.unasked.gone import gone
from noface.integrity.unasked.in_place_of import in_place_of
from noface.integrity.unasked.kinds import kinds
from noface.integrity.unasked.machine import machine
from noface.integrity.unasked.measures import measures
from noface.integrity.unasked.undone import undone

CHAPTERS: tuple[Chapter, ...] = (contents, kinds, machine, gone, checks, in_place_of, measures, undone)


def find_unasked(files: Sequence[Changed], ground: Ground) -> tuple[Unasked, ...]:
    """Return what the chapters find, but for rows that the issue asks for, by its words or by the file's name alone."""
    found = [each for chapter in CHAPTERS for each in chapter(files, ground) if not ground.asks_for(each.row)]
    right, by_path = together(found), {file.path: file for file in files}

    def is_the_work(one: Unasked) -> bool:
        mode, data = right.get(one.path) or ("", None)
        file = by_path.get(one.path)
        if file is None or not table("unasked")["rows"][one.row].get("named", False):
            return False
        as_on_main = (mode or file.new_mode, file.new if data is None else data) == (file.old_mode, file.old)
        return as_on_main and names_file(ground.issue, one.path)

    return tuple(each for each in found if not is_the_work(each))


def together(found: Iterable[Unasked]) -> dict[str, Right | None]:
    result: dict[str, Right | None] = {}
    for path, right in (item for one in found for item in one.right.items()):
        mode, data = result.get(path) or ("", None)
        result[path] = right and (right[0] or mode, data if right[1] is None else right[1])
    return result
