"""What became of a file's kind and mode by the way: tools that write it anew lose its link and its executable bit."""

from collections.abc import Iterator, Mapping, Sequence
from posixpath import dirname, join, normpath

from noface.integrity.asked_for import names_file
from noface.integrity.unasked.finding import Changed, Ground, Right, Unasked
from noface.model.attempt import ABSENT, REGULAR
from noface.model.patterns import matches_any
from noface.model.protection import asked_paths

_LINK, _SUBMODULE = "120000", "160000"
_PLAIN, _PROGRAM = "100644", "100755"


def kinds(files: Sequence[Changed], ground: Ground) -> Iterator[Unasked]:
    """Yield the files that are of another kind than on main, or have another mode."""
    by_path = {file.path: file for file in files}
    asked = asked_paths(ground.issue)
    for file in (each for each in files if not matches_any(each.path, asked)):
        was, now = file.old_mode, file.new_mode
        below = [each for each in files if each.path.startswith(f"{file.path}/") and each.new_mode != ABSENT]
        if was in REGULAR and now in REGULAR and was != now:
            yield from _mode(file)
        elif was == _LINK and now in REGULAR:
            yield Unasked("link", file.path, (_target(file),), _back_to_link(file, by_path, ground))
        elif was == _LINK and below:
            yield Unasked("link", file.path, (_target(file),), _back_to_folder(file, below, by_path))
        elif was in REGULAR and now == _LINK:
            yield Unasked("became-link", file.path, ((file.new or b"").decode("utf-8", "replace"),))
        elif was == _SUBMODULE and not names_file(ground.issue, file.path):
            old, new = (data[:12].decode("utf-8", "replace") for data in (file.old or b"", file.new or b""))
            lines = (f"{old} -> {new}",)
            moved = now == _SUBMODULE and file.old is not None
            yield Unasked("submodule", file.path, lines, {file.path: (_SUBMODULE, file.old)} if moved else {})
        elif was in REGULAR and below and not names_file(ground.issue, file.path):
            yield Unasked("became-folder", file.path, tuple(each.path for each in below[:3]))


def _mode(file: Changed) -> Iterator[Unasked]:
    """Yield a script or binary that is no program any more, and what became a program and is neither."""
    runs = any(data is None or data.startswith(b"#!") or b"\0" in data for data in (file.old, file.new))
    if runs == (file.new_mode == _PLAIN):
        yield Unasked("mode", file.path, (f"{file.old_mode} -> {file.new_mode}",), {file.path: (file.old_mode, None)})


def _target(file: Changed) -> str:
    return (file.old or b"").decode("utf-8", "surrogateescape")


def _place(file: Changed) -> str:
    return normpath(join(dirname(file.path), _target(file)))


def _back_to_link(file: Changed, by_path: Mapping[str, Changed], ground: Ground) -> Mapping[str, Right | None]:
    link: dict[str, Right | None] = {file.path: (_LINK, file.old)}
    place, content = _place(file), ground.content(_place(file))
    other = by_path.get(place)
    if file.new is None or file.old is None:
        return {}
    if file.new == file.old or (content is not None and file.new == content[1]):
        return link
    if other is not None:
        return link if other.new == file.new else {}
    return {**link, place: ("", file.new)} if content is not None and content[0] in REGULAR else {}


def _back_to_folder(file: Changed, below: Sequence[Changed], by_path: Mapping[str, Changed]) -> dict[str, Right | None]:
    place, right = _place(file), dict[str, Right | None]()
    for each in below:
        moved = f"{place}{each.path.removeprefix(file.path)}"
        if each.new is None or place.startswith((".", "/")) or moved in by_path:
            return {}
        right |= {each.path: None, moved: (each.new_mode, each.new)}
    return {**right, file.path: (_LINK, file.old)}
