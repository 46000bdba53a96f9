"""Tells what programs have made from what people write, by the names of files and by what programs leave beside them.

A program that fills a folder marks it: pyvenv.cfg lies in a virtual environment whatever it is called, CACHEDIR.TAG in
a folder that backups leave out. What lies below a mark is output, unless main has files of that folder: then people
keep something there.
"""

from collections import Counter
from collections.abc import Collection

from noface.data import pattern, table


def is_generated(path: str) -> bool:
    """Tell whether a path is one that tools write; a change of nothing else is no work."""
    return pattern("integrity", "generated", "paths").search(path) is not None


def generated(paths: Collection[str], on_main: Collection[str] = ()) -> frozenset[str]:
    """Return those of `paths` that tools write, by their names or by a mark in a folder above them."""
    marked = _marked(paths)
    if marked:
        marked -= {folder for path in on_main for folder in _above(path)}
    return frozenset(path for path in paths if is_generated(path) or not marked.isdisjoint(_above(path)))


def new_folders(paths: Collection[str], on_main: Collection[str], beside: Collection[str] = ()) -> dict[str, int]:
    """Return the outermost folders that hold `paths`, but no file of main and none of `beside`; with their numbers.

    The fullest comes first.
    """
    others = {folder for path in (*on_main, *beside) for folder in _above(path)} if paths else set()
    tops = (next((folder for folder in _above(path) if folder not in others), "") for path in paths)
    return dict(Counter(filter(None, tops)).most_common())


def _marked(paths: Collection[str]) -> set[str]:
    """Return the folders with a mark. One at the top of the project marks nothing: people work there."""
    marks = tuple(table("integrity")["generated"]["marks"])
    return {
        folder for path in paths for mark in marks if path.endswith(f"/{mark}") and (folder := path[: -len(mark) - 1])
    }


def _above(path: str) -> list[str]:
    """Return the folders above a path, the outermost first."""
    return [path[:at] for at, sign in enumerate(path) if sign == "/"]
