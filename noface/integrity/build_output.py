"""Tells what programs have made from what people write, by the names of files and by what programs leave beside them.

A program that fills a folder marks it: pyvenv.cfg lies in a virtual environment whatever it is called, CACHEDIR.TAG in
a folder that backups leave out. What lies below a mark is output, unless main has files of that folder: then people
keep something there.
"""

from collections import Counter
from collections.abc import Collection

from noface.data import pattern
from noface.integrity.rubbish import above, kind_of, marked_folders


def is_generated(path: str) -> bool:
    return bool(pattern("integrity", "generated", "paths").search(path) or kind_of(path))


def generated(paths: Collection[str], on_main: Collection[str] = ()) -> frozenset[str]:
    marked = marked_folders(paths, on_main)
    return frozenset(path for path in paths if is_generated(path) or not marked.isdisjoint(above(path)))


def new_folders(paths: Collection[str], on_main: Collection[str], beside: Collection[str] = ()) -> dict[str, int]:
    """Return the outermost folders that hold `paths`, but no file of main and none of `beside`; with their numbers.

    The fullest comes first.
    """
    others = {folder for path in (*on_main, *beside) for folder in above(path)} if paths else set()
    tops = (next((folder for folder in above(path) if folder not in others), "") for path in paths)
    return dict(Counter(filter(None, tops)).most_common())
